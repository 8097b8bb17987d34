import CloudSyncCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension RecordFormat {
  /// Reads a whole record of the cloud's.
  ///
  /// - Returns: Nil if the record is none of a row's, because it has no clock.
  /// - Throws: An error if the clock or a value cannot be read, as may be of a newer engine.
  func version(of record: Record) throws(CodedError) -> RecordVersion? {
    var fields = TakenFields(record)
    guard let coded = fields.take(Self.clockField) else { return nil }
    guard case .data(let bytes) = coded else {
      throw CodedError(place: Self.clockField, reason: "the clock is not in bytes")
    }
    let clock = try clock(from: bytes)
    var found: [VersionedColumn] = []
    found.reserveCapacity(clock.columns.count)
    for column in clock.columns {
      guard let own = self.fields(of: column.name) else {
        throw CodedError(place: Self.clockField, reason: "the name of a column is too long")
      }
      let value = try fields.value(of: own)
      found.append(VersionedColumn(column, value: value))
    }
    for name in clock.columnNames where clock.columns.place(of: name) == nil {
      if let own = self.fields(of: name) { fields.skip(own) }
    }
    if RecordName.isDigest(record.recordID.name) {
      for column in key where clock.time(of: columns[column.place].column) == nil {
        fields.skip(columns[column.place])
      }
    }
    var version = RecordVersion(clock: clock, columns: found)
    version.foreignFields = fields.rest
    return version
  }

  /// Which lives of a row go on as other records; none if its record cannot be read, as whoever takes it is told.
  func moves(of record: Record) -> [RowMove] {
    guard case .data(let bytes) = record[Self.clockField], ClockCoding.tellsOfMoves(bytes) else {
      return []
    }
    return (try? clock(from: bytes))?.moves ?? []
  }

  /// Reads a clock, whose moves are told by the names that the table's records have here.
  ///
  /// Two devices that call one record by two names would correct each other for ever.
  private func clock(from bytes: Data) throws(CodedError) -> RecordClock {
    var clock = try ClockCoding().clock(from: Array(bytes))
    clock.renameMoves { RecordName.name(ofKey: RecordName.key(of: $0), recordType: recordType) }
    return clock
  }
}

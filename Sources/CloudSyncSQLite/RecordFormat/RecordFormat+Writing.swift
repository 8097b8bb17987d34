import CloudSyncCore
import CloudSyncSQLiteSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension RecordFormat {
  /// Returns the whole record of a row, or of a tombstone, that the cloud does not have.
  func record(_ version: RecordVersion, key: RecordKey, zoneID: ZoneID) -> Record {
    var fields = EditedFields()
    for name in version.columnNames {
      guard let column = self.fields(of: name) else { continue }
      if let field = field(of: column, in: version) { fields.set(field) }
    }
    for (_, field) in keptKey(of: version, as: key) { fields.set(field) }
    fields.set(clockField(of: version))
    for field in foreignFields(of: version) { fields.set(field) }
    return encrypted(
      Record(
        recordType: recordType,
        recordID: RecordID(name: key.name, zoneID: zoneID),
        sortedFields: fields.sorted
      )
    )
  }

  /// Returns the save that makes a row's version of what the cloud has.
  ///
  /// It sets the clock and the columns that differ, and clears what the cloud has and the version does not: fields
  /// of columns that are NULL or not known any more, places that a value has left, foreign fields.
  ///
  /// - Parameters:
  ///   - version: The row as it is to be; its foreign fields are all that the record is to keep.
  ///   - known: What the cloud has, with its fields beside the columns' own: see ``asideFields(of:)``.
  ///   - key: The row's key.
  ///   - zoneID: The record's zone.
  /// - Returns: The edit, with the tag of what it was made from.
  func edit(
    _ version: RecordVersion,
    over known: CloudRecord,
    key: RecordKey,
    zoneID: ZoneID
  ) -> Record {
    var fields = EditedFields()
    fields.set(clockField(of: version))
    let kept = keptKey(of: version, as: key)
    for (column, field) in kept {
      fields.set(field)
      for name in column.all { fields.clear(name) }
    }
    for name in version.columnNames {
      // What nobody has edited stays where it lies, and what it is: a table may have no more of it than its type can hold.
      guard let column = self.fields(of: name), version.differs(from: known, in: name) else {
        continue
      }
      set(column, to: field(of: column, in: version), over: known, of: key, in: &fields)
    }
    for name in known.clock.columnNames where !version.knows(name) {
      let isKept = kept.contains { UTF8Bytes.equal($0.column.column, name) }
      guard !isKept, let column = self.fields(of: name) else { continue }
      set(column, to: nil, over: known, of: key, in: &fields)
    }
    setForeignFields(of: version, over: known, in: &fields)
    return encrypted(
      Record(
        recordType: recordType,
        recordID: RecordID(name: key.name, zoneID: zoneID),
        sortedFields: fields.sorted,
        changeTag: known.tag
      )
    )
  }

  /// The names of the fields that a version's record has beside its columns' own.
  ///
  /// They are those of values that lie aside, of assets, and foreign ones; an edit over it has to know them. A save leaves
  /// where they lie what it does not edit.
  ///
  /// - Parameters:
  ///   - version: The version.
  ///   - known: What the cloud had before, if the version was saved over that; nil if the cloud has told of it.
  /// - Returns: The names.
  func asideFields(
    of version: RecordVersion,
    savedOver known: CloudRecord? = nil
  ) -> [String] {
    var names: [String] = []
    for name in version.columnNames {
      guard let column = fields(of: name) else { continue }
      if let known, !version.differs(from: known, in: name) {
        names += column.all.filter { known.hasAside($0) }
        continue
      }
      guard let field = field(of: column, in: version) else { continue }
      if !UTF8Bytes.equal(field.name, column.own) { names.append(field.name) }
    }
    return names + version.foreignFields.map(\.name)
  }

  private func clockField(of version: RecordVersion) -> RecordField {
    RecordField(
      name: Self.clockField,
      value: .data(Data(ClockCoding().bytes(of: version.clock)))
    )
  }

  /// The fields of the key's columns that a record keeps though its version does not know them: nothing
  /// else would tell whose tombstone it is.
  private func keptKey(
    of version: RecordVersion,
    as key: RecordKey
  ) -> [(column: ColumnFields, field: RecordField)] {
    guard RecordName.isDigest(key.name) else { return [] }
    return zip(self.key, key.values)
      .compactMap { keyColumn, value in
        let column = columns[keyColumn.place]
        guard !version.knows(column.column),
          // A key is never an asset.
          case .field(let encoded) = ValueCodec.encode(value, assetThreshold: .max)
        else { return nil }
        return column.field(for: encoded).map { (column, $0) }
      }
  }

  /// Sets a column to a field, or to nothing, and clears where its value may lie in the cloud otherwise.
  private func set(
    _ column: ColumnFields,
    to field: RecordField?,
    over known: CloudRecord,
    of key: RecordKey,
    in fields: inout EditedFields
  ) {
    if let field { fields.set(field) }
    let wasKnown = known.clock.knows(column.column)
    let wasAside = column.besides.contains { known.hasAside($0) }
    // Nothing is known of where the value lies of a column that the table does not have; of a tombstone's key
    // neither.
    let mayBeAnywhere =
      column.kind == nil && wasKnown || RecordName.isDigest(key.name) && isInKey(column)
    for name in column.besides where mayBeAnywhere || known.hasAside(name) {
      fields.clear(name)
    }
    let staysAside = wasAside && field != nil
    if known.hasAside(column.own) || mayBeAnywhere || wasKnown && !staysAside {
      fields.clear(column.own)
    }
  }

  private func isInKey(_ column: ColumnFields) -> Bool {
    key.contains { UTF8Bytes.equal(columns[$0.place].column, column.column) }
  }

  private func setForeignFields(
    of version: RecordVersion,
    over known: CloudRecord,
    in fields: inout EditedFields
  ) {
    let foreign = foreignFields(of: version)
    for field in foreign where !known.hasAside(field.name) { fields.set(field) }
    guard !known.aside.isEmpty else { return }
    let kept = fieldNames(of: version) + foreign.map(\.name)
    for name in known.aside where !kept.contains(where: { UTF8Bytes.equal($0, name) }) {
      fields.clear(name)
    }
  }

  /// The foreign fields, but for those that belong to columns since.
  private func foreignFields(of version: RecordVersion) -> [RecordField] {
    if version.foreignFields.isEmpty { return [] }
    let names = fieldNames(of: version)
    return version.foreignFields.filter { field in
      !names.contains { UTF8Bytes.equal($0, field.name) }
    }
  }

  /// All names of fields in which a version's columns may lie.
  private func fieldNames(of version: RecordVersion) -> [String] {
    version.columnNames.flatMap { fields(of: $0)?.all ?? [] }
  }
}

extension CloudRecord {
  /// Whether the record has a field beside its columns' own.
  fileprivate func hasAside(_ field: String) -> Bool {
    aside.contains { UTF8Bytes.equal($0, field) }
  }
}

extension RecordClock {
  /// Whether the side knows a column, or has shares of a counter.
  fileprivate func knows(_ column: String) -> Bool {
    columns.place(of: column) != nil || shares.contains { UTF8Bytes.equal($0.column, column) }
  }
}

extension RecordVersion {
  fileprivate func knows(_ column: String) -> Bool { clock.knows(column) }

  /// Whether a column may have another value here than in the cloud.
  func differs(from known: CloudRecord, in column: String) -> Bool {
    if known.differing.contains(where: { UTF8Bytes.equal($0, column) }) { return true }
    let (mine, base) = (clock.time(of: column), known.clock.time(of: column))
    if mine != base { return true }
    return mine == nil && clock.shares(of: column) != known.clock.shares(of: column)
  }
}

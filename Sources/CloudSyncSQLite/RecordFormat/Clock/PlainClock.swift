import CloudSyncCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The clocks of rows that have all columns of their table, no counters, and were never deleted: without building
/// a ``RecordClock``, for the rows that come and go by the hundred thousand.
struct PlainClock: Sendable {
  /// How names are coded that are all columns of the table.
  private struct Names: Sendable {
    let flags: ClockFlags
    let bytes: [UInt8]

    init(_ names: [String], numbers: ColumnNumbers?) {
      var writer = ClockWriter()
      flags = ClockColumns.write(names, numbers: numbers, to: &writer)
      bytes = writer.bytes
    }
  }

  /// A clock as it is stored, out of one of a record.
  struct Stored: Sendable, Hashable {
    let bytes: [UInt8]
    /// The latest of all times.
    let latest: HybridTime
    /// The places of the table's columns that the clock does not know.
    let missing: [Int]
  }

  private let places: [(place: Int, name: String)]
  private let numbers: ColumnNumbers
  private let allNames: [String]
  private let inRecord: Names
  private let stored: Names

  /// Creates the clocks of a table.
  ///
  /// - Parameters:
  ///   - places: The columns with their places, in the order of their names' bytes.
  ///   - numbers: The numbers by which stored clocks call columns.
  init(places: [(place: Int, name: String)], numbers: ColumnNumbers) {
    self.places = places
    self.numbers = numbers
    allNames = places.map(\.name)
    inRecord = Names(allNames, numbers: nil)
    stored = Names(allNames, numbers: numbers)
  }

  /// The clock of a row all of whose columns are of one time, as its record has it.
  func inRecord(at time: HybridTime, created: HybridTime) -> Data {
    Data(bytes(inRecord, at: time, created: created))
  }

  /// The clock of a row all of whose columns are of one time, as it is stored.
  func stored(at time: HybridTime, created: HybridTime) -> [UInt8] {
    bytes(stored, at: time, created: created)
  }

  private func bytes(_ names: Names, at time: HybridTime, created: HybridTime) -> [UInt8] {
    var writer = ClockWriter(reserving: names.bytes.count + 24)
    writer.write(byte: ClockCoding.version)
    writer.write(byte: names.flags.union(time == created ? [] : .sharedTime).rawValue)
    writer.write(bytes: names.bytes)
    writer.write(time: created, from: .zero)
    if time != created { writer.write(time: time, from: created) }
    return writer.bytes
  }

  /// A record's clock as it is stored; nil if it has anything out of the ordinary, or cannot be read.
  func stored(of clock: Data) -> Stored? {
    clock.withUnsafeBytes { buffer in
      var reader = ClockReader(buffer)
      return try? stored(of: &reader)
    }
  }

  /// Whether a stored clock knows all columns of the table, each by a time of its own or one that they share.
  func hasAllColumns(in clock: [UInt8]) -> Bool {
    clock.withUnsafeBytes { buffer in
      let own = stored.flags
      guard buffer.count > 2, Self.isPlain(buffer[0]),
        ClockFlags(rawValue: buffer[1]).intersection([.names, .someNumbers]) == own
      else { return false }
      var reader = ClockReader(UnsafeRawBufferPointer(rebasing: buffer[2...]))
      return reader.skip(stored.bytes)
    }
  }

  /// Whether a clock of a version has neither moves nor anything that is not known.
  private static func isPlain(_ version: UInt8) -> Bool {
    version == ClockCoding.version || version == ClockCoding.version + ClockCoding.references
  }

  private func stored(of reader: inout ClockReader) throws(CodedError) -> Stored? {
    let version = try reader.byte()
    guard Self.isPlain(version) else { return nil }
    let flags = ClockFlags(rawValue: try reader.byte())
    guard flags.isSubset(of: [.names, .sharedTime, .ownTimes]) else { return nil }
    var (names, missing, known) = (stored, [Int](), allNames)
    if flags.contains(.names), reader.skip(inRecord.bytes) {
      // All columns are there, as in most records.
    } else {
      guard flags.contains(.names), try reader.unsigned() == 0,
        let found = try missingPlaces(from: &reader)
      else { return nil }
      missing = found
      known = places.filter { !found.contains($0.place) }.map(\.name)
      names = Names(known, numbers: numbers)
    }
    let times = reader.rest
    let start = reader.offset
    guard let (created, latest) = try readTimes(from: &reader, flags: flags, count: known.count)
    else { return nil }
    var writer = ClockWriter(reserving: names.bytes.count + times.count + 2)
    writer.write(byte: version)
    writer.write(byte: flags.subtracting(.names).union(names.flags).rawValue)
    writer.write(bytes: names.bytes)
    writer.write(bytes: times[..<(reader.offset - start)])
    if version != ClockCoding.version {
      // Columns are called by their places there, and by their numbers here.
      var columns = known.map { ColumnTime(name: $0, time: .zero) }
      var parts = ClockParts(numbers: nil, columns: columns, created: created)
      try parts.readLives(into: &columns, from: &reader)
      parts = ClockParts(numbers: numbers, columns: columns, created: created)
      parts.writeLives(to: &writer)
    }
    try reader.end()
    return Stored(bytes: writer.bytes, latest: latest, missing: missing)
  }

  /// Reads the names of some of the table's columns; nil if there is one that the table does not have.
  private func missingPlaces(from reader: inout ClockReader) throws(CodedError) -> [Int]? {
    var missing: [Int] = []
    var next = 0
    for _ in 0..<(try reader.count()) {
      let name = try reader.name()
      while next < places.count,
        !UTF8Bytes.with(places[next].name, { UTF8Bytes.equal($0, name) })
      {
        missing.append(places[next].place)
        next += 1
      }
      if next == places.count { return nil }
      next += 1
    }
    return missing + places[next...].map(\.place)
  }

  /// Reads all times, so that nothing is stored that cannot be read; nil if nobody has ever inserted the row.
  private func readTimes(
    from reader: inout ClockReader,
    flags: ClockFlags,
    count: Int
  ) throws(CodedError) -> (created: HybridTime, latest: HybridTime)? {
    let created = try reader.time(from: .zero)
    if created <= .zero { return nil }
    var latest = created
    if flags.contains(.sharedTime) { latest = max(latest, try reader.time(from: created)) }
    if flags.contains(.ownTimes) {
      let bits = try reader.bitmap(of: count)
      for place in 0..<count where bits.hasBit(place) {
        latest = max(latest, try reader.time(from: created))
      }
    }
    return (created, latest)
  }
}

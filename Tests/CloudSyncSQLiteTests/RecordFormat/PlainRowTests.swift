import CloudSyncCore
import CloudSyncSQLiteSupport
import CloudSyncTestSupport
import Foundation
import Testing

@testable import CloudSyncSQLite

@Suite("The quick ways of rows that come and go by the hundred thousand")
struct PlainRowTests {
  private static let values: [SQLiteValue] = [
    .null, .integer(7), .integer(.min), .real(0.5), .real(-0.0), .text(""), .text("a"),
    .text("eight by"), .text("a longer text"), .text("a\u{0}"), .text("nul far behind\u{0}"),
    .malformedText([0xff]), .blob([]), .blob([1, 2]), .blob(Array(repeating: 1, count: 9)),
  ]
  /// Values of the kinds of the bench's columns.
  private static let own: [SQLiteValue] = [
    .text("Row-1"), .text("Tea"), .integer(7), .real(1.5), .blob([1]), .text("today"), .text("p"),
    .integer(-1), .real(0),
  ]

  private func version(
    _ values: [SQLiteValue],
    at time: HybridTime,
    created: HybridTime
  ) -> RecordVersion? {
    var columns: [VersionedColumn] = []
    for (column, value) in zip(FormatBench.columns, values) {
      guard case .field(let field) = ValueCodec.encode(value, assetThreshold: 8) else { return nil }
      columns.append(VersionedColumn(name: column.name, value: field, time: time))
    }
    var clock = RecordClock()
    clock.created = created
    return RecordVersion(clock: clock, columns: columns)
  }

  @Test("A new row's record is the same, and nil where a value lies aside")
  func newRecords() throws {
    var bench = try FormatBench(seed: 5)
    var count = 0
    for _ in 0..<3000 {
      var values = Self.own
      for place in values.indices where bench.random.chance(15) {
        let isNull = bench.random.chance(60)
        values[place] = isNull ? .null : Self.values[bench.random.below(Self.values.count)]
      }
      let (time, created) = (bench.random.time(), bench.random.time())
      let quick = bench.format.newRecord(
        values: values,
        clock: bench.format.newClock(at: time, created: bench.random.chance(50) ? time : created),
        recordID: RecordID(name: bench.key.name, zoneID: bench.zoneID)
      )
      let again = quick.flatMap { try? bench.format.version(of: $0) }
      guard let slow = version(values, at: time, created: again?.created ?? created) else {
        #expect(quick == nil)
        continue
      }
      if let quick {
        count += 1
        let record = bench.format.record(slow, key: bench.key, zoneID: bench.zoneID)
        #expect(quick.fields == record.fields && quick.recordType == record.recordType)
        #expect(
          bench.format.plainClock.stored(at: time, created: slow.created)
            == ClockCoding(numbers: FormatBench.numbers).bytes(of: slow.clock)
        )
      } else {
        #expect(!bench.format.asideFields(of: slow).isEmpty)
      }
    }
    #expect(count > 500)
  }

  @Test("A record out of nothing unusual gives the same row and clock the quick way")
  func plainRows() throws {
    var bench = try FormatBench(seed: 6)
    var count = 0
    for _ in 0..<SuiteSize.count(1_500, long: 4_000) {
      guard var row = version(Self.own, at: bench.random.time(), created: bench.random.time())
      else {
        return #expect(Bool(false))
      }
      for (name, value) in zip(FormatBench.columns.map(\.name), Self.own) {
        guard bench.random.chance(30),
          case .field(let field) = ValueCodec.encode(value, assetThreshold: .max)
        else { continue }
        row.set(
          VersionedColumn(
            name: name,
            value: bench.random.chance(20) && name != "id" ? .null : field,
            time: bench.random.time(),
            life: bench.random.chance(20) ? bench.random.life() : nil
          )
        )
      }
      if bench.random.chance(20) { row = bench.version(after: row) }
      if bench.random.chance(20) {
        // As a schema before the last one has written it.
        row = RecordVersion(
          clock: row.clock,
          columns: row.columns.filter { $0.name != "title" && $0.name != "r" }
        )
        if bench.random.chance(30) {
          row.foreignFields = [RecordField(name: "title", value: "foreign")]
        }
      }
      let record = bench.format.record(row, key: bench.key, zoneID: bench.zoneID)
      guard let quick = bench.format.plainRow(of: record) else {
        let isUnusual =
          !bench.format.asideFields(of: row).isEmpty || row.created <= .zero
          || row.deleted != .zero || !row.clock.shares.isEmpty || row["id"] == nil
          || FormatBench.unknown.contains { row[$0] != nil }
        #expect(isUnusual)
        continue
      }
      count += 1
      #expect(quick.clock.bytes == ClockCoding(numbers: FormatBench.numbers).bytes(of: row.clock))
      #expect(quick.clock.latest == row.clock.latest)
      #expect(quick.key == bench.key && row.foreignFields.isEmpty)
      for (place, column) in FormatBench.columns.enumerated() {
        #expect(quick.clock.missing.contains(place) == (row[column.name] == nil))
        let value = row[column.name]?.value ?? .null
        #expect(ValueCodec.decode(value) == .value(quick.values[place]))
      }
    }
    #expect(count > SuiteSize.count(300, long: 1_000))
  }

  @Test("A damaged record is nothing for the quick way, or is read as the slow one reads it")
  func mutations() throws {
    var bench = try FormatBench(seed: 7)
    let time = HybridTime(rawValue: 0x0191_0000_0000_0003)
    let clock = bench.format.newClock(at: time, created: time)
    let id = RecordID(name: bench.key.name, zoneID: bench.zoneID)
    let whole = try #require(
      bench.format.newRecord(values: Self.own, clock: clock, recordID: id)
    )
    for _ in 0..<10_000 {
      var record = whole
      var bytes = Array(try #require(clock.dataValue))
      let place = bench.random.below(bytes.count)
      switch bench.random.below(3) {
      case 0: bytes[place] ^= 1 << UInt8(bench.random.below(8))
      case 1: bytes.remove(at: place)
      default: bytes.insert(UInt8(bench.random.below(256)), at: place)
      }
      record["cloudsync_clock"] = .data(Data(bytes))
      guard let quick = bench.format.plainRow(of: record) else { continue }
      let slow = try #require(try bench.format.version(of: record))
      #expect(slow.foreignFields.isEmpty && slow.clock.latest == quick.clock.latest)
    }
  }

  @Test("What is out of the ordinary goes the slow way")
  func unusual() throws {
    let bench = try FormatBench(seed: 8)
    let time = HybridTime(rawValue: 9)
    let whole = try #require(
      bench.format.newRecord(
        values: Self.own,
        clock: bench.format.newClock(at: time, created: time),
        recordID: RecordID(name: bench.key.name, zoneID: bench.zoneID)
      )
    )
    #expect(bench.format.plainRow(of: whole) != nil)
    for (name, value) in [
      ("cloudsync_clock", nil), ("cloudsync_clock", "x"), ("mood", 1), ("title", 1),
      ("id", "Row-2"),
      ("id", nil), ("cloudsync_value_count", .data(Data([1]))), ("cloudsync_other", 1),
    ] as [(String, FieldValue?)] {
      var record = whole
      record[name] = value
      #expect(bench.format.plainRow(of: record) == nil, "\(name)")
    }
  }
}

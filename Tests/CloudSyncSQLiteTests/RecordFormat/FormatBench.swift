import CloudSyncCore
import CloudSyncSQLiteSupport
import Foundation

@testable import CloudSyncSQLite

/// A table with columns of every kind, and random versions of its rows.
struct FormatBench {
  let format: RecordFormat
  let zoneID = ZoneID(name: "Data")
  let key: RecordKey
  let spelled: SQLiteValue
  var random: RandomClocks

  static let columns: [(name: String, declaredType: String)] = [
    ("id", "TEXT"), ("title", "TEXT"), ("count", "INTEGER"), ("price", "NUMERIC"),
    ("photo", "BLOB"), ("due date", "TEXT"), ("parent", "TEXT"), ("n", "INTEGER"), ("r", "REAL"),
  ]
  static let numbers = ColumnNumbers(["dropped"] + columns.map(\.name).reversed())
  /// Columns that only a newer schema has.
  static let unknown = ["extra", "zü"]

  init(seed: UInt64, id: String = "Row-1") throws(RecordFormatError) {
    format = try RecordFormat(
      table: "notes",
      columns: Self.columns,
      key: [("id", "NOCASE")],
      numbers: Self.numbers,
      assetThreshold: 8
    )
    spelled = .text(id)
    key = format.key(spelled: [.text(id)])
    random = RandomClocks(seed: seed)
  }

  static let values: [FieldValue] = [
    .null, .int64(0), .int64(.min), .double(-0.0), .double(.infinity), .double(1.5), .string(""),
    .string("a"), .string("e\u{301}"), .data(Data()), .data(Data([0, 0xff])),
    .list([.data(Data([0x61, 0]))]), .list([.data(Data([0xff]))]), .list([.data(Data())]),
    .asset(Asset(sha256: Data(repeating: 7, count: 32), byteCount: 9, location: "file")),
  ]

  private mutating func value() -> FieldValue { Self.values[random.below(Self.values.count)] }

  /// A version of a row that lives, after another one or on its own.
  mutating func version(after base: RecordVersion?) -> RecordVersion {
    var clock = base?.clock ?? RecordClock()
    clock.columns = []
    if base == nil || random.chance(20) { clock.created = random.time() }
    if random.chance(20) { clock.deleted = random.time() }
    var columns: [VersionedColumn] = []
    for name in Self.columns.map(\.name) + Self.unknown where name != "id" {
      if let former = base?[name], random.chance(60) {
        columns.append(former)
      } else if random.chance(80) {
        columns.append(VersionedColumn(name: name, value: value(), time: random.time()))
      }
    }
    if random.chance(90) {
      let spelling = random.chance(50) ? spelled : key.values[0]
      guard case .field(let id) = ValueCodec.encode(spelling, assetThreshold: .max) else {
        return RecordVersion()
      }
      columns.append(VersionedColumn(name: "id", value: id, time: random.time()))
    }
    if random.chance(30) { clock.shares = [] }
    var version = RecordVersion(clock: clock, columns: columns)
    for name in ["n", "r", "other"] where random.chance(30) {
      let share = CounterShare(
        column: name,
        writer: Int64(random.below(3)),
        time: random.time(),
        sum: random.chance(50) ? .whole(random.number()) : .real(2.5)
      )
      version.set(share)
    }
    let known = version.columnNames
    version.foreignFields = ["cloudsync_other", "mood", "price", "title"]
      .filter { name in !known.contains(name) && random.chance(30) }
      .map { RecordField(name: $0, value: .string("foreign")) }
    return version
  }

  /// What is kept of a record that the cloud has.
  func known(_ version: RecordVersion, under row: RecordVersion) -> CloudRecord {
    var rules = RowRules(writer: 1, policy: TableMergePolicy())
    rules.asideFields = { format.asideFields(of: $0, savedOver: $1) }
    var state = RecordState()
    _ = state.reduce(.has(tag: "7", version), rules: rules)
    var known = CloudRecord(tag: "7", clock: version.clock)
    if case .present(let record) = state.cloud { known = record }
    known.differing = row.columns
      .filter { column in
        version[column.name].map { $0.time == column.time && $0.value != column.value } ?? false
      }
      .map(\.name)
    return known
  }
}

import CloudSyncCore
import CloudSyncSQLiteSupport
import CloudSyncTestSupport
import Testing

@testable import CloudSyncSQLite

@Suite("States of rows, kept beside their table")
struct RecordStoreTests {
  private let connection: SQLiteConnection
  private let store: RecordStore

  init() throws {
    connection = try SQLiteConnection(path: ":memory:")
    for table in [KnownRows.table, PendingRows.table] { try connection.execute(table) }
    try connection.execute("CREATE TABLE notes(id TEXT PRIMARY KEY, c, n)")
    let policy = TableMergePolicy(columns: ["c": .setUnion, "n": .counter])
    store = RecordStore(
      connection: connection,
      table: 1,
      places: ColumnNumbers(["id", "c", "n"]),
      numbers: ColumnNumbers(["id", "c", "n"]),
      rules: RowRules(writer: 1, policy: policy),
      digest: { RowDigest.digest(of: $0) },
      fieldValue: { _, value in
        if case .field(let field) = ValueCodec.encode(value, assetThreshold: .max) {
          field
        } else {
          .null
        }
      }
    )
  }

  private func values() throws -> [SQLiteValue]? {
    let query = try connection.prepare("SELECT id, c, n FROM notes")
    return try query.step() ? (0..<3).map { query.value($0) } : nil
  }

  /// Writes the table's row as the state says.
  private func write(_ state: RecordState) throws {
    try connection.execute("DELETE FROM notes")
    guard let row = state.row, !row.clock.isDeleted else { return }
    let statement = try connection.prepare("INSERT INTO notes VALUES(?1, ?2, ?3)")
    for (place, name) in store.places.names.enumerated() {
      guard let value = row.value(of: name), case .value(let stored)? = ValueCodec.decode(value)
      else { continue }
      statement.bind(stored, at: Int32(place + 1))
    }
    try statement.run()
  }

  /// What may happen, drawn from a seed.
  private func event(
    _ generator: inout Model.Generator,
    _ state: RecordState,
    _ time: HybridTime
  ) -> RecordEvent {
    let number = FieldValue.int64(Int64(generator.below(50)))
    let list = FieldValue.string("[\(generator.below(9))]")
    let columns = [
      ColumnEdit(name: "id", value: .string("k")), ColumnEdit(name: "c", value: list),
      ColumnEdit(name: "n", value: number, former: state.row?.value(of: "n")),
    ]
    switch generator.below(12) {
    case 0...1: return .edited(.inserted(columns, at: time))
    case 2...4: return .edited(.updated([columns[1 + generator.below(2)]], at: time))
    case 5: return .edited(.deleted([], at: time))
    case 6: return .missing(tag: state.known?.tag, now: 0)
    case 7: return .fetchEnded
    case 8: return .refused(.zoneBusy, reason: "busy", isPassing: true, wait: nil, now: 0)
    case 9 where state.row != nil:
      let version = state.row ?? RecordVersion()
      return .saved(tag: "s\(time.rawValue)", over: state.known?.tag, version)
    default:
      var clock = RecordClock()
      clock.created = HybridTime(rawValue: 1 + Int64(generator.below(Int(time.rawValue))))
      clock.shares = [CounterShare(column: "n", writer: 2, time: time, sum: .whole(3))]
      var version = RecordVersion(
        clock: clock,
        columns: ["id", "c", "unknown"]
          .map {
            VersionedColumn(name: $0, value: $0 == "id" ? .string("k") : list, time: clock.created)
          }
      )
      version.foreignFields = [RecordField(name: "x", value: number)]
      return .has(tag: "h\(time.rawValue)", version)
    }
  }

  @Test("After every event a state is put together again as it was")
  func roundTrips() throws {
    let key = SQLiteValue.text("k")
    var sources: Set<RecordStore.Source> = []
    for seed in UInt64(1)...UInt64(SuiteSize.count(20, long: 60)) {
      try connection.execute(
        "DELETE FROM notes; DELETE FROM cloudsync_known; DELETE FROM cloudsync_pending"
      )
      var generator = Model.Generator(seed: seed)
      for step in Int64(1)...30 {
        let before = try store.state(of: key, values: try values())
        var state = before.state
        let event = event(&generator, state, HybridTime(rawValue: step * 3))
        _ = state.reduce(event, rules: store.rules)
        try write(state)
        try store.save(
          state,
          of: key,
          named: "k:notes",
          values: try values(),
          source: before.source
        )
        let after = try store.state(of: key, values: try values())
        #expect(after.state == state, "seed \(seed), after \(event)")
        sources.insert(after.source)
        let entries = try connection.integer(
          "SELECT (SELECT count(*) FROM cloudsync_known) + (SELECT count(*) FROM cloudsync_pending)"
        )
        #expect(entries == (state.row == nil ? 0 : 1))
      }
    }
    #expect(sources.count == 3)
  }

  @Test("A clean row costs few bytes, and what was changed in it unseen has another digest")
  func cleanRows() throws {
    var clock = RecordClock()
    clock.created = HybridTime(rawValue: 1_700_000_000_000 << 16)
    let version = RecordVersion(
      clock: clock,
      columns: [
        VersionedColumn(name: "id", value: .string("k"), time: clock.created),
        VersionedColumn(name: "c", value: .string("[1]"), time: clock.created),
      ]
    )
    var state = RecordState()
    _ = state.reduce(.has(tag: "1a2b", version), rules: store.rules)
    try write(state)
    try store.save(
      state,
      of: .text("k"),
      named: "k:notes",
      values: try values(),
      source: .unknown
    )
    let row = try #require(
      try KnownRows(connection: connection).row(RowKey(table: 1, key: .text("k")))
    )
    #expect(row.clock.count <= 14)
    #expect(row.rest == nil)
    #expect(row.digest == RowDigest.digest(of: try values() ?? []))
    try connection.execute("UPDATE notes SET c = '[2]'")
    #expect(row.digest != RowDigest.digest(of: try values() ?? []))
  }

  @Test("What the cloud has of a column is told by what an edit has found there")
  func formerValues() throws {
    var clock = RecordClock()
    clock.created = HybridTime(rawValue: 1)
    let version = { (tags: String, time: Int64) in
      RecordVersion(
        clock: clock,
        columns: [
          VersionedColumn(name: "id", value: .string("k"), time: clock.created),
          VersionedColumn(name: "c", value: .string(tags), time: HybridTime(rawValue: time)),
        ]
      )
    }
    var state = RecordState()
    _ = state.reduce(.has(tag: "1", version("[1,2]", 1)), rules: store.rules)
    try write(state)
    try store.save(
      state,
      of: .text("k"),
      named: "k:notes",
      values: try values(),
      source: .unknown
    )
    // The app has removed an element before anybody hears of it.
    try connection.execute("UPDATE notes SET c = '[2]'")
    var edited = try store.state(of: .text("k"), values: try values()).state
    let edit = ColumnEdit(name: "c", value: .string("[2]"), former: .string("[1,2]"))
    _ = edited.reduce(.edited(.updated([edit], at: HybridTime(rawValue: 5))), rules: store.rules)
    _ = edited.reduce(.has(tag: "2", version("[1,2,3]", 4)), rules: store.rules)
    #expect(edited.row?.value(of: "c") == .string("[2,3]"))
  }

  @Test("A clock that is damaged is an error that names the row")
  func damage() throws {
    try KnownRows(connection: connection)
      .save(KnownRow(tag: "1", clock: [9], digest: 0), of: RowKey(table: 1, key: .text("k")))
    #expect {
      try store.state(of: .text("k"), values: nil)
    } throws: { error in
      "\(error)".contains("row 'k' in cloudsync_known is damaged")
    }
  }
}

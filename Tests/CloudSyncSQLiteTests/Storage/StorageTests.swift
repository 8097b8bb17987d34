import CloudSyncCore
import CloudSyncSQLiteSupport
import Testing

@testable import CloudSyncSQLite

@Suite("The engine's tables, second design")
struct StorageTests {
  private let connection: SQLiteConnection
  private let rules = RowRules(writer: 1, policy: TableMergePolicy(columns: ["c": .server]))
  private let key = RowKey(table: 3, key: .text("a"))

  init() throws {
    connection = try SQLiteConnection(path: ":memory:")
    for table in [KnownRows.table, PendingRows.table, Facts.table, ForeignRecords.table] {
      try connection.execute(table)
    }
  }

  private var pending: PendingRows { PendingRows(connection: connection) }

  private func time(_ number: Int64) -> HybridTime { HybridTime(rawValue: number) }

  private func version(_ value: FieldValue, at number: Int64, deleted: Int64 = 0) -> RecordVersion {
    var clock = RecordClock()
    clock.created = time(1)
    clock.deleted = time(deleted)
    let column = { VersionedColumn(name: $0, value: value, time: time(number)) }
    return RecordVersion(clock: clock, columns: [column("c"), column("d")])
  }

  /// A row that was edited after the cloud had it.
  private func edited() -> RecordState {
    var state = RecordState()
    _ = state.reduce(.has(tag: "t", version(.int64(1), at: 2)), rules: rules)
    let edit = ColumnEdit(name: "c", value: .int64(5))
    _ = state.reduce(.edited(.updated([edit], at: time(4))), rules: rules)
    return state
  }

  private func store(_ state: RecordState, of key: RowKey? = nil) throws {
    let stored = try #require(
      StoredState(state) { ["c", "d"].contains($0) }
    )
    try pending.save(stored, of: key ?? self.key, named: "k:notes")
  }

  private func load(_ values: [String: FieldValue]) throws -> RecordState? {
    try pending.state(of: key)?.state(deletes: rules.deletes) { values[$0] }
  }

  @Test(
    "Of a row that has lost its key the newer value stays when a column is renamed, also if there is no older one",
    arguments: [(2, 5), (5, 2), (nil, 5), (2, nil)] as [(Int64?, Int64?)]
  )
  func renamesKeptRows(old: Int64?, new: Int64?) throws {
    var state = edited()
    let columns = [("c", old), ("e", new)]
      .compactMap { name, time in
        time.map { VersionedColumn(name: name, value: .int64($0), time: self.time($0)) }
      }
    state.endedLives = [RecordVersion(clock: RecordClock(), columns: columns)]
    let stored = try #require(StoredState(state) { _ in false })
    let life =
      stored
      .renamed(["c": "e"], deletes: rules.deletes, isChanged: false, writer: 1, filled: [])
      .state(deletes: rules.deletes) { _ in nil }
      .endedLives.first
    #expect(life?["c"] == nil)
    let latest = max(old ?? 0, new ?? 0)
    #expect(life?["e"] == VersionedColumn(name: "e", value: .int64(latest), time: time(latest)))
  }

  @Test("A state is put together again from what is kept and what the table has")
  func roundTrips() throws {
    var states: [RecordState] = []
    var state = edited()
    states.append(state)
    for placement in [
      Placement.awaitsParent("p:lists"), .violates(code: 2_067, reason: "taken"),
      .heldBy("a:lists", reason: "taken"), .inTable,
    ] {
      _ = state.reduce(.placed(placement), rules: rules)
      states.append(state)
    }
    _ = state.reduce(.missing(tag: state.known?.tag, now: 0), rules: rules)
    states.append(state)
    _ = state.reduce(.fetchEnded, rules: rules)
    state = edited()
    _ = state.reduce(
      .refused(.zoneBusy, reason: "busy", isPassing: true, wait: nil, now: 7),
      rules: rules
    )
    states.append(state)
    _ = state.reduce(.edited(.deleted([], at: time(9))), rules: rules)
    states.append(state)
    for state in states {
      try store(state)
      var values: [String: FieldValue] = [:]
      for column in state.row?.columns ?? [] where state.placement == .inTable {
        values[column.name] = column.value
      }
      #expect(try load(values) == state)
    }
  }

  @Test("What the table has is not kept twice, and what it cannot hold is")
  func keptValues() throws {
    var state = edited()
    state.row?.set(VersionedColumn(name: "unknown", value: .string("kept"), time: time(3)))
    try store(state)
    let again = try #require(try load(["c": .int64(8), "d": .int64(1)]))
    #expect(again.row?.value(of: "c") == .int64(8))
    #expect(again.row?.value(of: "unknown") == .string("kept"))
  }

  @Test("A column that was dropped from the table is no edit")
  func droppedColumns() throws {
    try store(edited())
    let again = try #require(try load(["c": .int64(5)]))
    #expect(again.row?.clock.time(of: "d") == nil)
    #expect(again.known?.clock.time(of: "d") == nil)
    #expect(again.isDirty)
    try store(edited())
    let other = try #require(try load(["d": .int64(1)]))
    #expect(!other.isDirty)
  }

  @Test("What is to be sent, what waits and what was refused is found")
  func queues() throws {
    let keys = (0..<6).map { RowKey(table: 3, key: .integer(Int64($0))) }
    var states = keys.map { _ in edited() }
    _ = states[1].reduce(.placed(.awaitsParent("p:lists")), rules: rules)
    _ = states[2].reduce(.missing(tag: states[2].known?.tag, now: 0), rules: rules)
    _ = states[3]
      .reduce(
        .refused(.zoneBusy, reason: "busy", isPassing: true, wait: nil, now: 0),
        rules: rules
      )
    _ = states[4].reduce(.placed(.violates(code: 2_067, reason: "taken")), rules: rules)
    _ = states[5].reduce(.edited(.deleted([], at: time(9))), rules: rules)
    _ = states[5].reduce(.placed(.deletionDeferred), rules: rules)
    for (key, state) in zip(keys, states) { try store(state, of: key) }
    #expect(try pending.dirtyCount() == 6)
    // A row that is not in its table is sent all the same.
    let sendable = try pending.sendable(in: 3, tombstones: false, limit: 9)
    #expect(sendable == [keys[0], keys[1], keys[4]])
    let next = try pending.sendable(in: 3, after: .integer(1), tombstones: false, limit: 1)
    #expect(next == [keys[4]])
    #expect(try pending.sendable(in: 3, tombstones: true, limit: 9) == [keys[5]])
    #expect(try pending.sendable(in: 4, tombstones: false, limit: 9).isEmpty)
    #expect(try pending.dirtyCount(upTo: 2) == 2)
    #expect(try pending.waiting(for: "p:lists") == [keys[1]])
    #expect(try pending.awaitingFetch() == [keys[2]])
    #expect(try pending.deferredDeletions() == [keys[5]])
    #expect(try pending.nextDue(in: [3], after: 0) == RecordState.firstWait)
    #expect(try pending.due(in: [3], at: RecordState.firstWait - 1, limit: 9).isEmpty)
    #expect(try pending.due(in: [3], at: RecordState.firstWait, limit: 9) == [keys[3]])
    try pending.remove(keys[0])
    #expect(try pending.state(of: keys[0]) == nil)
  }

  @Test("A state that is damaged is an error that names the row")
  func damage() throws {
    try store(edited())
    try connection.execute("UPDATE cloudsync_pending SET state = substr(state, 1, 9)")
    #expect {
      try pending.state(of: key)
    } throws: { error in
      "\(error)".contains("row 'a' in cloudsync_pending is damaged")
    }
  }

  @Test("Clean rows are found by key and in the order of the keys")
  func knownRows() throws {
    let known = KnownRows(connection: connection)
    let row = KnownRow(tag: "t1", clock: [1, 2], digest: -7)
    for key in ["b", "a", "c"] { try known.save(row, of: RowKey(table: 1, key: .text(key))) }
    try known.save(
      KnownRow(tag: "t2", clock: [], digest: 0),
      of: RowKey(table: 1, key: .text("b"))
    )
    #expect(try known.row(RowKey(table: 1, key: .text("a"))) == row)
    #expect(try known.row(RowKey(table: 1, key: .text("b")))?.tag == "t2")
    #expect(try known.row(RowKey(table: 2, key: .text("a"))) == nil)
    let first = try known.rows(of: 1, after: nil, limit: 2).map(\.key)
    #expect(first == [.text("a"), .text("b")])
    #expect(try known.rows(of: 1, after: .text("b"), limit: 2).map(\.key) == [.text("c")])
    try known.remove(RowKey(table: 1, key: .text("a")))
    #expect(try known.row(RowKey(table: 1, key: .text("a"))) == nil)
  }

  @Test("Records that no table can hold are kept until one can, or are uploaded again")
  func foreignRecords() throws {
    let foreign = ForeignRecords(connection: connection)
    let record = { (name: String, type: String) in
      Record(
        recordType: type,
        recordID: RecordID(name: name, zoneID: ZoneID(name: "Z")),
        sortedFields: [RecordField(name: "x", value: .int64(1))]
      )
    }
    try foreign.keep(record("2:tags", "tags"), because: .unknownTable)
    try foreign.keep(record("1:tags", "tags"), because: .unknownTable)
    try foreign.keep(record("bad", "tags"), because: .invalid, error: "it has no clock")
    #expect(try foreign.unsent(limit: 9, at: 0, but: []).isEmpty)
    try foreign.markUnsent()
    #expect(
      try foreign.unsent(limit: 9, at: 0, but: []).map(\.recordID.name) == ["1:tags", "2:tags"]
    )
    // What could not be read is read once more.
    let taken = try foreign.take(ofType: "tags")
    #expect(taken.map(\.record.recordID.name) == ["1:tags", "2:tags", "bad"])
    #expect(taken.map(\.isLost) == [true, true, false])
    #expect(try foreign.record(named: "1:tags") == nil)
    try foreign.keep(record("bad", "tags"), because: .invalid, error: "it has no clock")
    #expect(try foreign.remove(named: "bad"))
    #expect(try !foreign.remove(named: "bad"))
  }

  @Test("Facts are kept, replaced and forgotten")
  func facts() throws {
    let facts = Facts(connection: connection)
    #expect(try facts.value(.token) == nil)
    try facts.set(.token, to: .blob([1]))
    try facts.set(.token, to: .blob([2]))
    #expect(try facts.value(.token) == .blob([2]))
    try facts.set(.token, to: nil)
    #expect(try facts.value(.token) == nil)
  }
}

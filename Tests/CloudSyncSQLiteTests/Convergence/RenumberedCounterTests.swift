import CloudSyncCore
import CloudSyncSimulator
import Testing

@testable import CloudSyncSQLite

@Suite("Counters of a database that takes another number")
struct RenumberedCounterTests {
  /// A row that the database gave another key to has its number in a record of which it has pending edits: as far as it
  /// knows another file has written that.
  @Test(
    "What was added is counted once when its response is lost, and the database takes another number"
  )
  func lostResponse() throws {
    var options = SyncEngineOptions()
    options.defaultTable.merging.columns["n"] = .counter
    let schema = "CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, title TEXT, n INTEGER DEFAULT 0)"
    let bench = SyncHarness()
    let losses = Losses()
    bench.handler = { LosingHandler(base: $0, losses: losses) }
    let mac = try bench.device("mac", schema, tables: ["t"], options: options)
    bench.handler = { $0 }
    let phone = try bench.device("phone", schema, tables: ["t"], options: options)
    try mac.execute("INSERT INTO t(id, title) VALUES('a', 'A')", at: 1_000)
    try mac.execute("INSERT INTO t(id, title) VALUES('b', 'B'), ('c', 'C')", at: 1_100)
    try bench.sync(mac, phone)
    losses.isLosing.withLock { $0 = true }
    try mac.execute("UPDATE t SET n = n + 5 WHERE id = 'b'", at: 2_000)
    mac.engine.sendChanges()
    bench.world.advance(by: .milliseconds(500))
    #expect(losses.count.withLock { $0 } > 0)
    mac.engine.stop()
    losses.isLosing.withLock { $0 = false }
    try mac.execute("UPDATE t SET title = 'A2' WHERE id = 'a'", at: 2_100)
    try phone.execute("UPDATE t SET title = 'B2' WHERE id = 'b'", at: 2_900)
    try phone.execute("DELETE FROM t WHERE id = 'a'", at: 3_000)
    try phone.execute("UPDATE t SET id = 'a' WHERE id = 'c'", at: 3_100)
    try bench.sync(phone)
    let number = try mac.lines("SELECT value FROM cloudsync_facts WHERE key = 'writer'")
    bench.handler = { LosingHandler(base: $0, losses: losses) }
    try bench.restart(mac, ["t"], options)
    try bench.sync(mac, phone)
    try bench.sync(mac, phone)

    // Else nothing is tested here.
    #expect(try mac.lines("SELECT value FROM cloudsync_facts WHERE key = 'writer'") != number)
    for device in [mac, phone] {
      #expect(try device.lines("SELECT * FROM t ORDER BY id") == ["'a'|'C'|0", "'b'|'B2'|5"])
      #expect(try bench.unclean(device) == [])
    }
  }

  // MARK: The machine

  private func rules(writer: Int64) -> RowRules {
    var policy = TableMergePolicy()
    policy.columns["n"] = .counter
    return RowRules(writer: writer, policy: policy)
  }

  private func time(_ number: Int64) -> HybridTime { HybridTime(rawValue: number) }

  private func share(_ sum: Int64, at number: Int64, by writer: Int64) -> CounterShare {
    CounterShare(column: "n", writer: writer, time: time(number), sum: .whole(sum))
  }

  private func version(_ shares: CounterShare...) -> RecordVersion {
    var version = RecordVersion()
    version.created = time(1)
    for share in shares { version.set(share) }
    return version
  }

  private func add(_ amount: Int64, to sum: Int64, at number: Int64) -> RecordEvent {
    let edit = ColumnEdit(name: "n", value: .int64(sum + amount), former: .int64(sum))
    return .edited(.updated([edit], at: time(number)))
  }

  /// Where edits win the tombstone says which shares the deleter had seen, by their numbers.
  @Test("A row that was deleted stays so when its database takes another number")
  func deleted() {
    var policy = TableMergePolicy(deletes: .editWins)
    policy.columns["n"] = .counter
    var state = RecordState()
    let rules = RowRules(writer: 1, policy: policy)
    _ = state.reduce(.has(tag: "1", version(share(10, at: 1, by: 3))), rules: rules)
    _ = state.reduce(add(5, to: 10, at: 20), rules: rules)
    let values = [ColumnEdit(name: "n", value: .int64(15), former: nil)]
    _ = state.reduce(.edited(.deleted(values, at: time(30))), rules: rules)
    #expect(state.isDeleted)

    let renumbered = RowRules(writer: 2, policy: policy)
    _ = state.reduce(.renumbered(from: 1, to: 2), rules: renumbered)
    #expect(state.isDeleted)
    // What was sent under the former number turns out to be there, and so does what another file has added under it.
    let server = version(share(10, at: 1, by: 3), share(5, at: 20, by: 1))
    var told = state
    _ = told.reduce(.conflict(tag: "2", over: "1", server, now: 0), rules: renumbered)
    #expect(told.isDeleted)
    let other = version(share(10, at: 1, by: 3), share(4, at: 15, by: 1))
    _ = state.reduce(.conflict(tag: "2", over: "1", other, now: 0), rules: renumbered)
    #expect(!state.isDeleted, "the deleter had not seen it")
  }

  /// A row to which 5 and then 2 was added under the number 1, which are sent under 2.
  private func renumbered() -> RecordState {
    var state = RecordState()
    _ = state.reduce(.has(tag: "1", version(share(10, at: 1, by: 1))), rules: rules(writer: 1))
    _ = state.reduce(add(5, to: 10, at: 20), rules: rules(writer: 1))
    _ = state.reduce(add(2, to: 15, at: 30), rules: rules(writer: 1))
    _ = state.reduce(.renumbered(from: 1, to: 2), rules: rules(writer: 2))
    return state
  }

  @Test(
    "A response that comes after the number has changed tells that no more is to be sent than came after it"
  )
  func lateAnswer() {
    let rules = rules(writer: 2)
    var state = renumbered()
    #expect(state.row?.value(of: "n") == .int64(17))
    _ = state.reduce(
      .saved(tag: "2", over: "1", version(share(15, at: 20, by: 1))),
      rules: rules
    )
    #expect(state.row?.value(of: "n") == .int64(17))
    #expect(state.isDirty)
    var whole = renumbered()
    _ = whole.reduce(
      .saved(tag: "2", over: "1", version(share(17, at: 30, by: 1))),
      rules: rules
    )
    #expect(whole.row?.value(of: "n") == .int64(17))
    #expect(whole.isDirty == false)
  }

  @Test("What was sent under both numbers, each with a lost response, is counted once")
  func bothNumbers() {
    let rules = rules(writer: 2)
    var state = renumbered()
    let both = version(share(15, at: 20, by: 1), share(7, at: 30, by: 2))
    _ = state.reduce(.has(tag: "3", both), rules: rules)
    #expect(state.row?.value(of: "n") == .int64(17))
    #expect(state.isDirty)
    // Another device has the later sum of that number, and takes it.
    let joined = rules.join.join(both, with: state.row ?? both)
    #expect(joined.value(of: "n") == .int64(17))
  }

  @Test("That of another file under the former number is none of one's own")
  func otherFile() {
    let rules = rules(writer: 2)
    var state = renumbered()
    _ = state.reduce(.has(tag: "3", version(share(13, at: 25, by: 1))), rules: rules)
    #expect(state.row?.value(of: "n") == .int64(20))
  }

  @Test("Nor is what was added to a row that has been deleted since, and made anew")
  func formerLife() {
    let rules = rules(writer: 2)
    var state = renumbered()
    _ = state.reduce(.edited(.deleted([], at: time(40))), rules: rules)
    let made = ColumnEdit(name: "n", value: .int64(3))
    _ = state.reduce(.edited(.inserted([made], at: time(50))), rules: rules)
    _ = state.reduce(.has(tag: "2", version(share(17, at: 30, by: 1))), rules: rules)
    #expect(state.row?.value(of: "n") == .int64(3))
  }

  @Test("The new number is one's own, should its first response be lost")
  func newNumber() {
    let rules = rules(writer: 2)
    var state = renumbered()
    let sent = version(share(10, at: 1, by: 1), share(7, at: 30, by: 2))
    let actions = state.reduce(.has(tag: "2", sent), rules: rules)
    #expect(actions.contains(.renumber) == false)
    #expect(state.row?.value(of: "n") == .int64(17))
    #expect(state.isDirty == false)
  }
}

private final class Losses: Sendable {
  let isLosing = Locked(false)
  let count = Locked(0)
}

/// Loses the responses to saves of rows.
private struct LosingHandler: WorkHandler {
  let base: any OperationHandler
  let losses: Losses

  func handle(_ work: SyncWork, context: RequestContext, completion: @escaping Completion) {
    let isLost = losses.isLosing.withLock { $0 }
    base.perform(work, context: context) { [losses] result in
      guard isLost, case .modify = work else { return completion(result) }
      losses.count.withLock { $0 += 1 }
      completion(.failure(SyncError(.serverResponseLost)))
    }
  }
}

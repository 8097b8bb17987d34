import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSimulator
import CloudSyncTestSupport
import Testing

/// A cloud that is put back after a save was answered, and before a page has told of it: the token is good.
@Suite("Saves that were answered, and that a cloud has lost")
struct AnsweredSaveTests {
  private static let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT)"
  private static let titles = "SELECT id, title FROM notes ORDER BY id"

  @Test(
    "1. A cloud that was put back has lost saves of which no page had told: they are made again",
    arguments: SuiteSize.pairs(2, ["INSERT", "UPDATE", "DELETE"], [true, false])
  )
  func lost(kind: String, restarts: Bool) throws {
    let store = MemoryStore()
    let bench = SyncHarness(store: store)
    let mac = try bench.device("mac", Self.schema, tables: ["notes"])
    let phone = try bench.device("phone", Self.schema, tables: ["notes"])
    try mac.execute("INSERT INTO notes VALUES('a', 'A'), ('b', 'B')")
    try bench.sync(mac, phone)
    let backup = store.backup()
    switch kind {
    case "INSERT": try mac.execute("INSERT INTO notes VALUES('x', '1'), ('y', '2'), ('z', '3')")
    case "UPDATE": try mac.execute("UPDATE notes SET title = title || '2'")
    default: try mac.execute("DELETE FROM notes WHERE id = 'a'")
    }
    let expected = try mac.lines(Self.titles)
    mac.engine.sendChanges()
    bench.world.advance(by: .seconds(30))
    #expect(try bench.unclean(mac) == [])
    if restarts {
      try bench.restart(mac, ["notes"])
    }

    store.restore(backup, isClosed: true)
    for number in 1...4 {
      try phone.execute("INSERT INTO notes VALUES('p\(number)', 'P')")
      try bench.sync(phone)
    }
    try bench.sync(mac, phone, mac)

    let all = (expected + (1...4).map { "'p\($0)'|'P'" }).sorted()
    for device in [mac, phone] {
      #expect(try device.lines(Self.titles) == all)
      #expect(try bench.unclean(device) == [])
    }
    #expect(try bench.cloudNames().count == all.count)
  }

  @Test("Who has edited the same record in the cloud that was put back loses neither edit")
  func sameRecord() throws {
    let store = MemoryStore()
    let bench = SyncHarness(store: store)
    let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT, body TEXT)"
    let mac = try bench.device("mac", schema, tables: ["notes"])
    let phone = try bench.device("phone", schema, tables: ["notes"])
    try mac.execute("INSERT INTO notes VALUES('a', 'A', 'B'), ('b', 'A', 'B')")
    try bench.sync(mac, phone)
    let backup = store.backup()
    try mac.execute("UPDATE notes SET title = 'A2'")
    mac.engine.sendChanges()
    bench.world.advance(by: .seconds(30))
    store.restore(backup, isClosed: true)
    try phone.execute("UPDATE notes SET body = 'B2'")
    try bench.sync(phone, mac, phone)

    for device in [mac, phone] {
      #expect(try device.lines("SELECT * FROM notes") == ["'a'|'A2'|'B2'", "'b'|'A2'|'B2'"])
    }
  }

  @Test(
    "What was saved beside a row that somebody else has met and saved again is missed all the same",
    arguments: ["0", "z"]
  )
  func besideAMetRow(id: String) throws {
    let store = MemoryStore()
    let bench = SyncHarness(store: store)
    let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT, body TEXT)"
    let mac = try bench.device("mac", schema, tables: ["notes"])
    let phone = try bench.device("phone", schema, tables: ["notes"])
    try mac.execute("INSERT INTO notes VALUES('a', 'A', 'B')")
    try bench.sync(mac, phone)
    let backup = store.backup()
    try mac.execute(
      "INSERT INTO notes VALUES('\(id)', 'X', 'Y'); UPDATE notes SET title = 'A2' WHERE id = 'a'"
    )
    mac.engine.sendChanges()
    bench.world.advance(by: .seconds(30))
    // The phone has met what the mac has saved of the one row, and nothing of the other.
    try phone.execute("UPDATE notes SET body = 'B2'")
    phone.engine.sendChanges()
    bench.world.advance(by: .seconds(30))
    store.restore(backup, isClosed: true)
    try bench.sync(phone, mac, phone)

    let all = ["'a'|'A2'|'B2'", "'\(id)'|'X'|'Y'"].sorted()
    for device in [mac, phone] {
      #expect(try device.lines("SELECT * FROM notes ORDER BY id") == all)
      #expect(try bench.unclean(device) == [])
    }
  }

  @Test("What one engine was answered the other one on the same database misses too")
  func twoEngines() throws {
    let store = MemoryStore()
    let bench = SyncHarness(store: store)
    let app = try bench.device("app", Self.schema, tables: ["notes"])
    let phone = try bench.device("phone", Self.schema, tables: ["notes"])
    let widget = try bench.engine("widget", app.database, ["notes"])
    try app.execute("INSERT INTO notes VALUES('a', 'A')")
    try bench.sync(app, phone)
    try widget.start()
    bench.world.advance(by: .seconds(30))
    let backup = store.backup()
    try app.execute("INSERT INTO notes VALUES('x', 'X')")
    app.engine.sendChanges()
    bench.world.advance(by: .seconds(30))
    app.engine.stop()
    store.restore(backup, isClosed: true)
    try phone.execute("INSERT INTO notes VALUES('p', 'P')")
    try bench.sync(phone)
    // Its own session was told of nothing that is lost.
    widget.fetchChanges()
    bench.world.advance(by: .seconds(60))
    widget.stop()
    try bench.restart(app, ["notes"])
    try bench.sync(app, phone)

    let all = ["'a'|'A'", "'p'|'P'", "'x'|'X'"]
    for device in [app, phone] {
      #expect(try device.lines(Self.titles) == all)
      #expect(try bench.unclean(device) == [])
    }
    #expect(try bench.cloudNames().count == all.count)
  }

  @Test("A cloud that has lost nothing is never asked for everything again")
  func usual() throws {
    let bench = SyncHarness()
    let fetches = Locked(0)
    bench.handler = { FetchCounter(base: $0, fetches: fetches) }
    let mac = try bench.device("mac", Self.schema, tables: ["notes"])
    try bench.sync(mac)
    let first = fetches.withLock { $0 }
    for number in 1...5 {
      try mac.execute("INSERT INTO notes VALUES('\(number)', 'x')")
      try bench.sync(mac)
      if number == 3 { try bench.restart(mac, ["notes"]) }
    }
    #expect(fetches.withLock { $0 } == first)
  }
}

/// Counts the fetches of everything.
private final class FetchCounter: WorkHandler {
  private let base: any OperationHandler
  private let fetches: Locked<Int>

  init(base: any OperationHandler, fetches: Locked<Int>) {
    self.base = base
    self.fetches = fetches
  }

  var limits: RequestLimits { base.limits }
  var timestampUnit: Duration { base.timestampUnit }

  func handle(_ work: SyncWork, context: RequestContext, completion: @escaping Completion) {
    if case .fetch(let operation) = work, operation.recordIDs.isEmpty,
      operation.changeToken == nil
    {
      fetches.withLock { $0 += 1 }
    }
    base.perform(work, context: context, completion: completion)
  }
}

import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSimulator
import Testing

/// A cloud that is put back after a save was answered, and before a page has told of it: the token is good.
@Suite("Own saves that the feed does not tell of")
struct SaveEchoTests {
  private static let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT)"
  private static let titles = "SELECT id, title FROM notes ORDER BY id"

  @Test(
    "1. A cloud that was put back has lost saves of which no page had told: they are made again",
    arguments: ["INSERT", "UPDATE", "DELETE"],
    [true, false]
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

  @Test("Saves that a page tells of cause no fetch of everything")
  func usual() throws {
    let bench = SyncHarness()
    let fetches = Locked(0)
    bench.handler = { Forgetful(base: $0, forgets: false, fetches: fetches) }
    let mac = try bench.device("mac", Self.schema, tables: ["notes"])
    try bench.sync(mac)
    let first = fetches.withLock { $0 }
    for number in 1...5 {
      try mac.execute("INSERT INTO notes VALUES('\(number)', 'x')")
      try bench.sync(mac)
    }
    #expect(fetches.withLock { $0 } == first)
  }

  @Test("A feed without a device's own saves is believed after some fetches of everything")
  func feedWithoutOwnSaves() throws {
    let bench = SyncHarness()
    let fetches = Locked(0)
    bench.handler = { Forgetful(base: $0, forgets: true, fetches: fetches) }
    let mac = try bench.device("mac", Self.schema, tables: ["notes"])
    try bench.sync(mac)
    let first = fetches.withLock { $0 }
    for number in 1...8 {
      try mac.execute("INSERT INTO notes VALUES('\(number)', 'x')")
      try bench.sync(mac)
    }
    #expect(fetches.withLock { $0 } == first + 3)
    #expect(try mac.lines("SELECT count(*) FROM notes") == ["8"])
  }
}

/// Counts the fetches of everything, and may keep a device's own saves out of all other pages.
private final class Forgetful: WorkHandler {
  private let base: any OperationHandler
  private let forgets: Bool
  private let fetches: Locked<Int>
  private let own = Locked<Set<String>>([])

  init(base: any OperationHandler, forgets: Bool, fetches: Locked<Int>) {
    self.base = base
    self.forgets = forgets
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
    base.perform(work, context: context) { [own, forgets] result in
      switch (work, result) {
      case (.modify, .success(.modify(let response))):
        own.withLock { $0.formUnion(response.savedRecords.compactMap(\.changeTag)) }
      case (.fetch(let operation), .success(.fetch(var response)))
      where forgets && operation.changeToken != nil:
        let tags = own.withLock { $0 }
        response.changedRecords.removeAll { tags.contains($0.changeTag ?? "") }
        return completion(.success(.fetch(response)))
      default: break
      }
      completion(result)
    }
  }
}

import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSimulator
import Testing

/// What one engine is told late undoes nothing of what another one on the same database was told since.
@Suite("Two engines on one database, of which one is told late")
struct LateNewsTests {
  private static let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT)"
  private static let notes = "SELECT id, title FROM notes ORDER BY id"

  private let bench = SyncHarness()
  private let way = Way()
  private let phone: SyncHarness.Device
  /// The app, whose way to the cloud is long.
  private let app: SyncHarness.Device
  private let widget: SyncEngine

  init() throws {
    phone = try bench.device("phone", Self.schema, tables: ["notes"])
    let way = way
    bench.handler = { LongWayHandler(way: way, handler: $0) }
    app = try bench.device("app", Self.schema, tables: ["notes"])
    bench.handler = { $0 }
    widget = try bench.engine("widget", app.database, ["notes"])
    try app.execute("INSERT INTO notes VALUES('a', 'A'), ('b', 'B')", at: 1_700_000_000_000)
    try bench.sync(app, phone)
    try widget.start()
    bench.world.advance(by: .seconds(30))
  }

  private func fetch(_ engine: SyncEngine) {
    engine.fetchChanges()
    bench.world.advance(by: .milliseconds(100))
  }

  private func execute(_ sql: String, on device: SyncHarness.Device) throws {
    try device.execute(sql, at: bench.world.now.nanoseconds / 1_000_000)
    device.engine.sendChanges()
    bench.world.advance(by: .milliseconds(100))
  }

  /// Has the app look up the record of the row that it edits, once, and learn late what the cloud has.
  private func lookUp(isGone: Bool) throws {
    way.state.withLock { $0.hidesDeletions = true }
    if isGone {
      try bench.remove("a:notes")
      fetch(phone.engine)
    } else {
      way.state.withLock { $0.denials = 1 }
    }
    way.state.withLock { $0.holdsLookups = true }
    try execute("UPDATE notes SET title = 'A2' WHERE id = 'a'", on: app)
    let way = way
    bench.world.run(while: { way.state.withLock { $0.held.isEmpty } }, limit: .seconds(5))
    #expect(way.state.withLock { $0.held.count } == 1)
  }

  /// Lets what was held arrive, and the app be launched again; all have to have the same then.
  private func settle(isPage: Bool = false) throws -> [String] {
    way.release()
    bench.world.advance(by: .milliseconds(isPage ? 5_000 : 0))
    widget.stop()
    try bench.restart(app, ["notes"])
    try bench.sync(app, phone)
    #expect(try bench.unclean(app) == [] && bench.unclean(phone) == [])
    #expect(try app.lines(Self.notes) == phone.lines(Self.notes))
    // Names of short keys tell these.
    let names = try app.lines("SELECT id || ':notes' FROM notes WHERE length(id) < 30 ORDER BY 1")
    let rows = try app.lines("SELECT count(*) FROM notes")
    let inCloud = try bench.cloudNames()
    #expect(["\(inCloud.count)"] == rows)
    #expect(
      inCloud.map { "'\($0)'" }.filter { $0.hasSuffix(":notes'") && !$0.hasPrefix("'~") } == names
    )
    return try app.lines(Self.notes)
  }

  @Test("A look-up has found no record, which was made anew since")
  func lookedUpBeforeItWasMadeAnew() throws {
    try lookUp(isGone: true)
    try execute("INSERT INTO notes VALUES('a', 'new')", on: phone)
    fetch(widget)

    #expect(try settle() == ["'a'|'new'", "'b'|'B'"])
  }

  @Test("A look-up has found a record that has gone since")
  func lookedUpBeforeItWent() throws {
    try lookUp(isGone: false)
    try bench.remove("a:notes")
    fetch(widget)
    fetch(phone.engine)

    #expect(try settle() == ["'b'|'B'"])
  }

  @Test("A look-up has found an older version")
  func lookedUpBeforeItWasEdited() throws {
    try lookUp(isGone: false)
    try execute("UPDATE notes SET title = 'A3' WHERE id = 'a'", on: phone)
    fetch(widget)

    #expect(try settle() == ["'a'|'A3'", "'b'|'B'"])
  }

  @Test("A page has a record that has gone since, or an older version of it")
  func fetchedBeforeItWent() throws {
    try execute("UPDATE notes SET title = 'A2' WHERE id = 'a'", on: phone)
    try execute("UPDATE notes SET title = 'B2' WHERE id = 'b'", on: phone)
    way.state.withLock { $0.holdsPages = true }
    fetch(app.engine)
    try bench.remove("a:notes")
    fetch(phone.engine)
    try execute("UPDATE notes SET title = 'B3' WHERE id = 'b'", on: phone)
    fetch(widget)

    #expect(try settle(isPage: true) == ["'b'|'B3'"])
  }

  /// Without a word of it in the pages the row would be taken out, and come again with the next fetch.
  @Test(
    "A fetch of everything ends with a page that is older than a row which was saved since",
    arguments: ["c", String(repeating: "鍵", count: 30)]
  )
  func fetchedBeforeItWasSaved(key: String) throws {
    try app.execute(
      """
      CREATE TABLE gone(id TEXT);
      CREATE TRIGGER goes AFTER DELETE ON notes BEGIN INSERT INTO gone VALUES(old.id); END
      """
    )
    try bench.cloud.expireTokens(bench.zoneID, account: AccountIdentity("owner"))
    way.state.withLock { $0.holdsFullPages = true }
    fetch(app.engine)
    bench.world.advance(by: .seconds(5))
    #expect(way.state.withLock { $0.held.count } == 1)
    try app.database.execute("INSERT INTO notes VALUES('\(key)', 'C')")
    widget.sendChanges()
    bench.world.advance(by: .milliseconds(100))
    #expect(try bench.cloudNames().count == 3)

    #expect(try settle(isPage: true) == ["'a'|'A'", "'b'|'B'", "'\(key)'|'C'"])
    #expect(try app.lines("SELECT id FROM gone") == [])
  }

  @Test("A page tells that a record has gone, which was made anew since")
  func fetchedBeforeItWasMadeAnew() throws {
    try bench.remove("a:notes")
    way.state.withLock { $0.holdsPages = true }
    fetch(app.engine)
    fetch(phone.engine)
    try execute("INSERT INTO notes VALUES('a', 'new')", on: phone)
    fetch(widget)

    #expect(try settle(isPage: true) == ["'a'|'new'", "'b'|'B'"])
  }
}

/// What a handler keeps from its device, and for how long.
private final class Way: Sendable {
  struct State {
    /// How many requests more are told that the cloud lacks the records which they change.
    var denials = 0
    var hidesDeletions = false
    var holdsLookups = false
    var holdsPages = false
    /// Whether pages are held that begin a fetch of everything.
    var holdsFullPages = false
    /// The responses that have not arrived.
    var held: [@Sendable () -> Void] = []
  }
  let state = Locked(State())

  func release() {
    let held = state.withLock { state in
      defer { state = State() }
      return state.held
    }
    for answer in held { answer() }
  }
}

private struct LongWayHandler: WorkHandler {
  let way: Way
  let handler: any OperationHandler

  func handle(_ work: SyncWork, context: RequestContext, completion: @escaping Completion) {
    switch work {
    case .modify(let operation) where isDenied(operation):
      let failures = operation.records.map { record in
        ItemFailure(record.recordID, SyncError(.unknownItem))
      }
      completion(.failure(SyncError(.partialFailure, itemErrors: failures)))
    case .fetch(let operation):
      let isLookup = !operation.recordIDs.isEmpty
      handler.perform(work, context: context) { [way] result in
        let isHeld = way.state.withLock { state in
          let holdsPage = state.holdsPages || state.holdsFullPages && operation.changeToken == nil
          let isHeld = isLookup ? state.holdsLookups : holdsPage
          if isHeld { state.held.append { completion(result) } }
          return isHeld
        }
        if !isHeld { completion(isLookup ? result : shown(result)) }
      }
    default: handler.perform(work, context: context, completion: completion)
    }
  }

  private func isDenied(_ operation: ModifyOperation) -> Bool {
    guard operation.records.contains(where: { $0.changeTag != nil }) else { return false }
    return way.state.withLock { state in
      defer { state.denials = max(0, state.denials - 1) }
      return state.denials > 0
    }
  }

  private func shown(
    _ result: Result<SyncWork.Result, SyncError>
  ) -> Result<
    SyncWork.Result, SyncError
  > {
    guard way.state.withLock({ $0.hidesDeletions }), case .success(.fetch(var page)) = result else {
      return result
    }
    page.deletedRecords = []
    return .success(.fetch(page))
  }
}

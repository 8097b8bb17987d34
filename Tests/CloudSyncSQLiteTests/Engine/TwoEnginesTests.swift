import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import CloudSyncSimulator
import CloudSyncTestSupport
import Testing

@Suite("Two engines on one database")
struct TwoEnginesTests {
  private static let schema =
    "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT, n INTEGER)"
  private static let rows = "SELECT id, title, n FROM notes ORDER BY id"

  @Test("A fetch of everything goes on where its own pages end, whatever another engine fetches")
  func fetchOfEverything() throws {
    let bench = SyncHarness()
    let phone = try bench.device("phone", Self.schema, tables: ["notes"])
    var holding: HeldFetches?
    bench.handler = { connection in
      let handler = HeldFetches(connection)
      holding = handler
      return handler
    }
    let app = try bench.device("app", Self.schema, tables: ["notes"])
    let held = try #require(holding)
    bench.handler = { $0 }
    let widget = try bench.engine("widget", app.database, ["notes"])
    bench.cloud.options.pageSize = 1
    try phone.execute("INSERT INTO notes VALUES('a', 'A', 0)")
    try bench.sync(phone, app)
    // The feed has told of the zone's own record before it comes to these.
    try phone.execute("INSERT INTO notes VALUES('b', 'B', 0), ('c', 'C', 0)")
    try bench.sync(phone, app)
    try widget.start()
    bench.world.advance(by: .seconds(60))

    // The app fetches everything anew, and is held after its first pages.
    held.hold(after: 2)
    try app.engine.rebuild()
    bench.world.advance(by: .seconds(10))
    try phone.execute("UPDATE notes SET title = 'A2' WHERE id = 'a'")
    try bench.sync(phone)
    widget.fetchChanges()
    bench.world.advance(by: .seconds(60))
    widget.stop()
    // It is killed, and the next one goes on with its fetch.
    held.release()
    try bench.restart(app, ["notes"])
    try bench.sync(app, phone)

    #expect(try app.lines(Self.rows) == ["'a'|'A2'|0", "'b'|'B'|0", "'c'|'C'|0"])
    #expect(try phone.lines(Self.rows) == app.lines(Self.rows))
    #expect(try bench.unclean(app) == [])
  }

  @Test(
    "A fetch of everything that was for fewer tables says nothing of one that is taken up meanwhile",
    arguments: 1...6
  )
  func fewerTables(pages: Int) throws {
    let schema = Self.schema + "; CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL, title TEXT);"
    let bench = SyncHarness()
    var holding: HeldFetches?
    bench.handler = { connection in
      let handler = HeldFetches(connection)
      holding = handler
      return handler
    }
    bench.cloud.options.pageSize = 1
    let app = try bench.device("app", schema, tables: ["lists", "notes"])
    try app.execute("INSERT INTO notes VALUES('a', 'A', 0)")
    try bench.sync(app)
    try app.execute("INSERT INTO lists VALUES('l', 'L'), ('m', 'M')")
    try bench.sync(app)
    app.engine.stop()
    try app.execute("UPDATE notes SET title = 'mine'")
    // Its rows are compared with all that the cloud has, by an engine that leaves out the notes.
    try bench.restart(
      app,
      ["lists"],
      after: """
        CREATE TABLE fresh(id TEXT PRIMARY KEY NOT NULL, title TEXT);
        INSERT INTO fresh SELECT * FROM lists;
        DROP TABLE lists;
        ALTER TABLE fresh RENAME TO lists;
        """
    )
    let held = try #require(holding)
    held.hold(after: pages)
    try app.engine.start()
    bench.world.advance(by: .seconds(10))
    // It is killed in the middle of it.
    try bench.restart(app, ["lists", "notes"])
    held.release()
    try bench.sync(app)
    #expect(try app.lines(Self.rows) == ["'a'|'mine'|0"])
    #expect(try app.lines("SELECT * FROM lists") == ["'l'|'L'", "'m'|'M'"])
    #expect(try bench.unclean(app) == [])
  }

  @Test("Of two that do not agree which columns stay on the device the former one stops")
  func otherColumns() throws {
    let bench = SyncHarness()
    let app = try bench.device("app", Self.schema, tables: ["notes"])
    try app.execute("INSERT INTO notes VALUES('a', 'A', 0)")
    try bench.sync(app)
    var options = SyncEngineOptions()
    options.defaultTable.localColumns = ["n"]
    let widget = try bench.engine("widget", app.database, ["notes"], options)
    let failures = Locked<[String]>([])
    app.engine.errors.sink { error in failures.withLock { $0.append("\(error)") } }
    try widget.start()
    bench.world.advance(by: .seconds(60))
    // It captures its own columns again a few times, as the other may have ended.
    for _ in 0..<5 {
      app.engine.sendChanges()
      bench.world.advance(by: .seconds(60))
      widget.sendChanges()
      bench.world.advance(by: .seconds(60))
    }
    #expect(failures.withLock { $0.contains { $0.contains("other columns of table \"notes\"") } })
    #expect(!app.engine.isRunning && widget.isRunning)
    try app.execute("UPDATE notes SET title = 'B', n = 2")
    widget.sendChanges()
    bench.world.advance(by: .seconds(60))
    #expect(try bench.unclean(app) == [])
    widget.stop()
    // It is told the same now.
    let next = try bench.engine("app", app.database, ["notes"], options)
    try next.start()
    bench.world.advance(by: .seconds(60))
    #expect(next.isRunning)
    #expect(try app.lines(Self.rows) == ["'a'|'B'|2"])
  }

  @Test("What another engine has fetched meanwhile is fetched once more, and not for ever")
  func fetchedBeside() throws {
    let bench = SyncHarness()
    let phone = try bench.device("phone", Self.schema, tables: ["notes"])
    var slow: SlowFetches?
    let environment = bench.world.environment
    bench.handler = { connection in
      let handler = SlowFetches(connection, environment)
      slow = handler
      return handler
    }
    let app = try bench.device("app", Self.schema, tables: ["notes"])
    let fetches = try #require(slow)
    bench.handler = { $0 }
    let widget = try bench.engine("widget", app.database, ["notes"])
    try bench.sync(phone, app)
    try phone.execute("INSERT INTO notes VALUES('a', 'A', 0)")
    try bench.sync(phone)
    try widget.start()
    bench.world.advance(by: .seconds(10))
    widget.stop()
    // Where the widget's pages end, nothing of the app's ends.
    try phone.execute("UPDATE notes SET title = 'A2'")
    try bench.sync(phone)
    // Two of the app's at once: the second one waits for the first.
    app.engine.fetchChanges()
    bench.world.advance(by: .milliseconds(100))
    app.engine.fetchChanges()
    bench.world.advance(by: .seconds(60))
    let count = fetches.count
    bench.world.advance(by: .seconds(600))
    #expect(fetches.count == count)

    // The token that is stored is the app's again.
    try phone.execute("INSERT INTO notes VALUES('b', 'B', 0)")
    try bench.sync(phone, app)
    #expect(try app.lines(Self.rows) == ["'a'|'A2'|0", "'b'|'B'|0"])
  }

  @Test("An engine for fewer tables that looks first leaves edits of others to the one that runs")
  func fewerTables() throws {
    let schema = Self.schema + "; CREATE TABLE tags(id TEXT PRIMARY KEY NOT NULL, a)"
    let (bench, app, phone) = try SyncHarness.pair(schema, tables: ["notes", "tags"])
    try bench.sync(app, phone)
    let widget = try bench.engine("widget", app.database, ["notes"])
    try app.execute("INSERT INTO tags VALUES('a', 1)")
    try widget.start()
    bench.world.advance(by: .seconds(30))
    try bench.sync(app, phone)
    #expect(try phone.lines("SELECT * FROM tags") == ["'a'|1"])
    // So does one that is made while the other one has the edits of all.
    try app.execute("UPDATE tags SET a = 2; INSERT INTO notes VALUES('n', 'N', 0)")
    widget.sendChanges()
    bench.world.advance(by: .seconds(30))
    try bench.restart(app, ["notes", "tags"])
    try bench.sync(app, phone)
    #expect(try phone.lines("SELECT * FROM tags") == ["'a'|2"])
    #expect(try bench.unclean(app) == [])
  }

  @Test(
    "Whatever they do at once, all databases end equal",
    arguments: 0..<SuiteSize.count(2, long: 300)
  )
  func random(seed: Int) throws {
    var script = try TwoEnginesScript(seed: UInt64(seed))
    try script.run()
  }
}

/// Passes work on; fetches take a while.
private final class SlowFetches: WorkHandler {
  private let base: any OperationHandler
  private let environment: SyncEnvironment
  private let state = Locked<(count: Int, timers: [any SyncTimer])>((0, []))

  init(_ base: any OperationHandler, _ environment: SyncEnvironment) {
    (self.base, self.environment) = (base, environment)
  }

  var count: Int { state.withLock { $0.count } }

  func handle(_ work: SyncWork, context: RequestContext, completion: @escaping Completion) {
    let call: @Sendable () -> Void = { [base] in
      base.perform(work, context: context, completion: completion)
    }
    guard case .fetch = work else { return call() }
    let timer = environment.makeTimer(environment.makeExecutor(), call)
    state.withLock { state in
      state.count += 1
      state.timers.append(timer)
    }
    timer.schedule(after: 500_000_000)
  }
}

/// Passes work on, and holds fetches back.
private final class HeldFetches: WorkHandler {
  private struct State {
    /// How many fetches pass before they are held; nil if all do.
    var passing: Int?
    var held: [@Sendable () -> Void] = []
  }
  private let base: any OperationHandler
  private let state = Locked(State())

  init(_ base: any OperationHandler) { self.base = base }

  func hold(after count: Int) { state.withLock { $0.passing = count } }

  func release() {
    let held = state.withLock { state in
      defer { state = State() }
      return state.held
    }
    for fetch in held { fetch() }
  }

  func handle(_ work: SyncWork, context: RequestContext, completion: @escaping Completion) {
    let call: @Sendable () -> Void = { [base] in
      base.perform(work, context: context, completion: completion)
    }
    guard case .fetch = work else { return call() }
    let isHeld = state.withLock { state in
      guard let count = state.passing else { return false }
      state.passing = max(0, count - 1)
      if count == 0 { state.held.append(call) }
      return count == 0
    }
    if !isHeld { call() }
  }
}

/// An app and its widget, each with an engine on one database, and a phone with another one.
private struct TwoEnginesScript {
  private var random: SeededRandom
  private let bench = SyncHarness()
  private let app: SyncHarness.Device
  private let phone: SyncHarness.Device
  private var widget: SyncEngine
  private var edits = 0

  private static let schema = """
    CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT, n INTEGER);
    CREATE TABLE tags(id TEXT PRIMARY KEY NOT NULL, a);
    """
  private static let tables = ["notes", "tags"]

  init(seed: UInt64) throws {
    random = SeededRandom(seed: seed)
    let (world, faults) = (bench.world, random.fork(1))
    var number: UInt64 = 0
    bench.handler = { connection in
      var faults = faults.fork(number)
      number += 1
      return FaultyOperationHandler(connection, in: world, seed: faults.next(), plan: .ofRequests)
    }
    bench.cloud.options.pageSize = random.pick([1, 2, 200])
    app = try bench.device("app", Self.schema, tables: Self.tables, options: Self.options)
    let some = random.pick([Self.tables, ["notes"]])
    widget = try bench.engine("widget", app.database, some, Self.options)
    phone = try bench.device("phone", Self.schema, tables: Self.tables, options: Self.options)
  }

  private static var options: SyncEngineOptions {
    var options = SyncEngineOptions()
    options.defaultTable.merging.columns["n"] = .counter
    return options
  }

  mutating func run() throws {
    for _ in 0..<60 { try step() }
    bench.handler = { $0 }
    widget.stop()
    try bench.restart(app, Self.tables, Self.options)
    try bench.restart(phone, Self.tables, Self.options)
    try bench.sync(app, phone, app, phone)
    let fresh = try bench.device("fresh", Self.schema, tables: Self.tables, options: Self.options)
    try bench.sync(fresh)
    let rows = try app.lines("SELECT * FROM notes ORDER BY id")
    #expect(try phone.lines("SELECT * FROM notes ORDER BY id") == rows)
    #expect(try fresh.lines("SELECT * FROM notes ORDER BY id") == rows)
    for device in [app, phone, fresh] { #expect(try bench.unclean(device) == []) }
    // Every edit has a row of its own beside those that all edit.
    #expect(rows.count { $0.hasPrefix("'own") } == edits)
    let counted = try app.lines("SELECT n FROM notes WHERE id = 'sum'").first ?? "0"
    #expect(counted == "\(sum)")
    for device in [app, phone, fresh] {
      #expect(try device.lines("SELECT * FROM tags WHERE id <> 'x' ORDER BY id") == tags)
    }
    let shared = try app.lines("SELECT * FROM tags WHERE id = 'x'")
    for device in [phone, fresh] {
      #expect(try device.lines("SELECT * FROM tags WHERE id = 'x'") == shared)
    }
  }

  private var sum = 0
  /// The tags that nobody else has.
  private var tags: [String] = []

  private mutating func step() throws {
    let engine = random.pick([app.engine, widget, phone.engine])
    switch random.below(20) {
    case 0...7: try edit(random.pick([app, phone]))
    case 8...10: engine.sendChanges()
    case 11...13: engine.fetchChanges()
    case 14...15: try engine.start()
    case 16: engine.stop()
    case 17: try engine.rebuild()
    case 18: try engine.uploadEverything()
    default: bench.world.advance(by: .seconds(random.within(1...120)))
    }
    bench.world.advance(by: .milliseconds(random.below(400)))
  }

  private mutating func edit(_ device: SyncHarness.Device) throws {
    let time = bench.world.now.nanoseconds / 1_000_000
    let id = random.pick(["x", "y", "z"])
    switch random.below(6) {
    case 4:
      let tag = String(100 + tags.count)
      tags.append("'\(tag)'|0")
      try device.execute("INSERT INTO tags VALUES('\(tag)', 0)", at: time)
    case 5:
      try device.execute("INSERT OR REPLACE INTO tags VALUES('x', \(time))", at: time)
    case 0:
      edits += 1
      try device.execute("INSERT INTO notes VALUES('own\(edits)', 'mine', 0)", at: time)
    case 1:
      // Only the app's database makes the row, so that nothing of it is older than all edits.
      sum += 1
      try app.execute(
        "INSERT INTO notes VALUES('sum', '', 1) ON CONFLICT DO UPDATE SET n = n + 1",
        at: time
      )
    case 2:
      try device.execute(
        "INSERT INTO notes VALUES('\(id)', 'new', 0) ON CONFLICT DO UPDATE SET title = 'at \(time)'",
        at: time
      )
    default: try device.execute("DELETE FROM notes WHERE id = '\(id)'", at: time)
    }
  }
}

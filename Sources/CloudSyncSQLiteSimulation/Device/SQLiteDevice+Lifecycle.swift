import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport
package import CloudSyncSimulator

extension SQLiteDevice {
  /// Starts the app, which another process may have been ahead of.
  package func launch(_ process: DeviceProcess) {
    app.withLock { $0 = App(process: process) }
    let (isFirst, postponed, isUpdated) = history.withLock { history in
      history.launches += 1
      defer { (history.postponed, history.imminent) = ([], []) }
      let isUpdated = !history.version.hasAdditions && history.random.chance(1, in: 2)
      return (history.launches == 1, history.imminent + history.postponed, isUpdated)
    }
    if isFirst { return open() }
    if isReady, !postponed.isEmpty { write(postponed, elsewhere: true) }
    if isUpdated { update() }
    migrateIfDue(process)
    open()
  }

  /// Releases the engine, so that the next one is made anew.
  func close() {
    let old = app.withLock { app in
      defer { (app.engine, app.database, app.isPartial, app.otherEngine) = (nil, nil, false, nil) }
      return (app.engine, app.database, app.otherEngine)
    }
    old.0?.stop()
    withExtendedLifetime(old) {}  // Released outside the lock.
  }

  /// Forgets the engine, and leaves the database as a crash does.
  package func quit() {
    let old = app.withLock { app in
      defer { app = App() }
      return (app.engine, app.database, app.pause, app.otherEngine)
    }
    old.1?.end()
    // It writes nothing any more; but what it has put off would hold it for ever.
    old.0?.stop()
    withExtendedLifetime(old) {}  // Released outside the lock.
    attempt { () throws in _ = try disk.crash() }
  }

  /// Makes the engine, if there is none, and starts it, if it does not run, unless the app waits.
  func open() {
    let (current, isPaused) = app.withLock { ($0.process, $0.pause != nil) }
    guard let process = current, process.isAlive, !isPaused else { return }
    do {
      if let engine {
        if !engine.isRunning { try engine.start() }
        return
      }
      try makeTriggersIfDue(process)
      let database = try makeDatabase(process: process)
      app.withLock { $0.database = database }
      drawFilter(process)
      let tables = drawTables(process)
      let engine = try SyncEngine(
        database: database,
        tables: tables,
        zoneID: setup.zoneID,
        operationHandler: guarded(process.handler, tables: tables),
        options: options(process: process),
        environment: process.environment
      )
      engine.errors.sink { [weak self] error in self?.note(error) }
      app.withLock { $0.engine = engine }
      history.withLock { $0.isUnopened = false }
      try engine.start()
    } catch {
      note(error)
    }
  }

  /// The tables of an engine: now and then some of them only.
  private func drawTables(_ process: DeviceProcess) -> [String] {
    let tables = schema.tables(version: version)
    let parents = tables.flatMap { ($0.key + $0.columns).compactMap(\.parent) }
    let leaves = tables.map(\.name).filter { !parents.contains($0) }
    guard tables.count > 1, !leaves.isEmpty, draw(.fewerTables, for: process) else {
      return tables.map(\.name)
    }
    let left = history.withLock { $0.random.pick(leaves) }
    app.withLock { $0.isPartial = true }
    history.withLock { $0.hasReadInParts = true }
    process.fail(at: .fewerTables)
    return tables.map(\.name).filter { $0 != left }
  }

  /// Whether something happens now.
  func draw(_ point: FaultPoint, for process: DeviceProcess) -> Bool {
    let ratio = process.ratio(of: point)
    guard ratio.hits > 0 else { return false }
    return history.withLock { $0.random.chance(ratio.hits, in: ratio.cases) }
  }

  /// Takes an error of the engine's: it is none of its own where a write was made to fail.
  func note(_ error: any Error) {
    guard let process = app.withLock({ $0.process }), process.isAlive else { return }
    let wasMade = app.withLock { app in app.database?.takeStrike() ?? false }
    if !wasMade { note("an engine stopped: \(error)") }
    pause()
  }

  /// Lets the engine be stopped for a while: for longer than a request is on its way.
  func pause() {
    guard let process = app.withLock({ $0.process }), process.isAlive else { return }
    let environment = process.environment
    let timer = environment.makeTimer(environment.makeExecutor()) { [weak self] in
      guard let self, process.isAlive else { return }
      let timer = app.withLock { app in
        defer { app.pause = nil }
        return app.pause
      }
      withExtendedLifetime(timer) {}  // Released outside the lock.
      open()
    }
    let seconds = history.withLock { $0.random.within(1...60) }
    let old = app.withLock { app in
      defer { app.pause = timer }
      return app.pause
    }
    withExtendedLifetime(old) {}
    timer.schedule(after: Int64(seconds) * 1_000_000_000)
  }

  // MARK: The database

  private func makeDatabase(process: DeviceProcess) throws -> FaultyDatabase {
    FaultyDatabase(
      try disk.file(),
      willWrite: { [weak self] database, connection in
        guard let self, process.isAlive else { throw FaultyDatabase.ProcessHasEnded() }
        try writeImminent(to: connection, for: process)
        try setClock(connection: connection, process: process)
        disk.willWrite()
        draw(database: database, process: process)
      },
      didStrike: { process.fail(at: $0.point) }
    )
  }

  /// Draws what goes wrong with the writes to come.
  private func draw(database: FaultyDatabase, process: DeviceProcess) {
    database.arm(for: process) { ratio in
      history.withLock { history in
        history.random.chance(ratio.hits, in: ratio.cases) ? history.random.within(1...60) : nil
      }
    }
  }

  /// Lets the database's clock show what the device's does, whose time is the simulation's.
  func setClock(connection: SQLiteConnection, process: DeviceProcess) throws(SQLiteError) {
    let milliseconds = process.now.nanoseconds / 1_000_000
    do throws(SQLiteError) {
      try connection.execute("UPDATE cloudsync_clock SET fixed = \(milliseconds)")
    } catch {
      // Before the engine has made its tables there is no clock.
      if !error.message.hasPrefix("no such table") { throw error }
    }
  }

  /// Whether the engine has its tables, so that edits are captured.
  var isReady: Bool {
    let tables = "SELECT count(*) FROM sqlite_schema WHERE name = 'cloudsync_clock'"
    return attempt { () throws in try disk.file().rows(sql: tables) } == [[.integer(1)]]
  }
}

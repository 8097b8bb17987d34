import CloudSyncChangesets
import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport
package import CloudSyncSimulator

extension ChangesetDevice {
  /// Starts the app, which another process may have been ahead of.
  package func launch(_ process: DeviceProcess) {
    app.withLock { $0 = App(process: process, tasks: SimulatedTasks(on: process.executor)) }
    let newest = schema.newest
    let (postponed, isUpdated) = history.withLock { history in
      history.launches += 1
      defer { (history.postponed, history.imminent) = ([], []) }
      let isUpdated =
        history.launches > 1 && history.version != newest && history.random.chance(1, in: 2)
      return (history.imminent + history.postponed, isUpdated)
    }
    // In memory the connection outlives the process, and with it what that had switched off.
    if schema.isEnforced {
      attempt { () throws in try disk.file().execute("PRAGMA foreign_keys = ON") }
    }
    if !postponed.isEmpty { write(edits: postponed, elsewhere: true) }
    open()
    if isUpdated { update(process: process, inSteps: true) }
  }

  /// Forgets the app, and leaves the database as a crash does.
  package func quit() {
    let old = app.withLock { app in
      defer { app = App() }
      return app
    }
    old.database?.end()
    old.remote?.stop()
    old.tasks?.drain()
    withExtendedLifetime(old) {}  // Released outside the lock.
    attempt { () throws in _ = try disk.crash() }
  }

  /// Opens the history, and connects it with the cloud.
  func open() {
    guard let process = app.withLock({ $0.process }), process.isAlive, remote == nil else { return }
    let database: FaultyDatabase
    do { database = try makeDatabase(process: process) } catch { return note("\(error)") }
    app.withLock { $0.database = database }
    do throws(ChangesetError) {
      let options = ChangesetOptions(
        tables: rules.tables(schema: schema),
        handler: handler,
        environment: process.environment
      )
      if hasChangedTables { try takeUp(database) }
      let repository = try ChangesetRepository(
        database,
        tables: triggers.tables(version: version),
        options: options
      )
      let remote = try ChangesetRemote(
        repository,
        operationHandler: process.handler,
        zoneID: setup.zoneID,
        environment: process.environment
      )
      app.withLock { app in
        app.repository = repository
        app.remote = remote
      }
      process.adopt(remote.session)
      sync()
    } catch { note(error: error) }
  }

  /// Whether the process has ended before the history has taken up what was changed of its tables.
  private var hasChangedTables: Bool {
    let query = "SELECT name FROM sqlite_schema WHERE name = 'changesets_heads'"
    // Whoever looks at a history that is not there begins one.
    guard version.hasRenamed,
      attempt({ () throws in try disk.file().lines(sql: query) })?.isEmpty == false
    else { return false }
    do throws(ChangesetError) { _ = try inspected() } catch { return error.code == .needsMigration }
    return false
  }

  /// Takes an error of the history's: it is none of its own where a write was made to fail, or the cloud did not work.
  func note(error: any Error) {
    guard let process = app.withLock({ $0.process }), process.isAlive else { return }
    if app.withLock({ $0.database?.takeStrike() ?? false }) { return }
    guard let error = error as? ChangesetError else { return note("\(error)") }
    if [.cloud, .accountChanged].contains(error.code) { return }
    // Whoever puts a response off has two heads until then.
    if error.code == .unmerged, putsAnswersOff { return }
    // What was removed here comes from the others.
    if lacksOldChanges(error) { return }
    // An old app waits for its update, with what is beyond it; a call may end after that.
    if error.code == .needsUpgrade, history.withLock({ $0.wasOld }) { return }
    // So does whoever has got another's commits under names that columns had before.
    if error.code == .needsUpgrade, !schema.renames.isEmpty { return }
    note("the history stopped: \(error.code.rawValue): \(error)")
  }

  private func makeDatabase(process: DeviceProcess) throws -> FaultyDatabase {
    FaultyDatabase(
      try disk.file(),
      willWrite: { [weak self] database, connection in
        guard let self, process.isAlive else { throw FaultyDatabase.ProcessHasEnded() }
        try writeImminent(to: connection, for: process)
        disk.willWrite()
        draw(database: database, process: process)
      },
      didStrike: { process.fail(at: $0.point) }
    )
  }

  /// Draws what goes wrong with the statements to come.
  private func draw(database: FaultyDatabase, process: DeviceProcess) {
    database.arm(for: process) { ratio in
      history.withLock { history in
        history.random.chance(ratio.hits, in: ratio.cases) ? history.random.within(1...120) : nil
      }
    }
  }
}

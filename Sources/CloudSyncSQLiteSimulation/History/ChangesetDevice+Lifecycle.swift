import CloudSyncChangesets
import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport
package import CloudSyncSimulator

extension ChangesetDevice {
  /// Starts the app, which another process may have been ahead of.
  package func launch(_ process: DeviceProcess) {
    app.withLock { $0 = App(process: process, tasks: SimulatedTasks(on: process.executor)) }
    let (postponed, isUpdated) = history.withLock { history in
      history.launches += 1
      defer { (history.postponed, history.imminent) = ([], []) }
      let isUpdated =
        history.launches > 1 && !history.version.hasAdditions && history.random.chance(1, in: 2)
      return (history.imminent + history.postponed, isUpdated)
    }
    // In memory the connection outlives the process, and with it what that had switched off.
    if schema.isEnforced {
      attempt { () throws in try disk.file().execute("PRAGMA foreign_keys = ON") }
    }
    if !postponed.isEmpty { write(edits: postponed, elsewhere: true) }
    open()
    if isUpdated { update(process: process) }
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
      let repository = try ChangesetRepository(database, options: options)
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

  /// Takes an error of the history's: it is none of its own where a write was made to fail, or the cloud did not work.
  func note(error: any Error) {
    guard let process = app.withLock({ $0.process }), process.isAlive else { return }
    if app.withLock({ $0.database?.takeStrike() ?? false }) { return }
    guard let error = error as? ChangesetError else { return note("\(error)") }
    if [.cloud, .accountChanged].contains(error.code) { return }
    // Whoever puts an answer off has two heads until then.
    if error.code == .unmerged, putsAnswersOff { return }
    // What was removed here comes from the others.
    if lacksOldChanges(error) { return }
    // An old app waits for its update, with what is beyond it; a call may end after that.
    if error.code == .needsUpgrade, history.withLock({ $0.wasOld }) { return }
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

  // MARK: Versions

  /// Brings the tables to the newest version, and fills some of what is new, in each database otherwise.
  func update(process: DeviceProcess) {
    guard let repository, let database = app.withLock({ $0.database }) else { return }
    let (old, all) = (schema.tables(version: version), schema.tables(version: .init()))
    var sql: [String] = []
    for table in all {
      guard let former = old.first(where: { $0.name == table.name }) else {
        sql.append(schema.sql(table: table))
        continue
      }
      for column in table.columns where former.column(column.name) == nil {
        let initial = column.initial == "NULL" ? "" : " DEFAULT \(column.initial)"
        sql.append("ALTER TABLE \(table.name) ADD COLUMN \(column.name) \(column.type)\(initial)")
        guard column.type == "REAL", history.withLock({ $0.random.chance(1, in: 2) }) else {
          continue
        }
        let value = Double(Int64(setup.number + 1) * 10_000_000) + 0.25
        sql.append("UPDATE \(table.name) SET \(column.name) = \(SQLiteValue.real(value).literal)")
      }
    }
    do {
      // Whoever looks at an old commit comes back first, or waits with the update.
      if try repository.head().isDetached {
        do throws(ChangesetError) { try comeBack(repository: repository) } catch {
          // The branch is beyond this version by now: it can be gone to after the update.
          guard error.code == .needsUpgrade else { throw error }
        }
      }
      try repository.commit()
      let statements = sql
      try ChangesetRepository.migrate(database) { handle in
        let connection = SQLiteConnection(borrowing: handle)
        for statement in statements { try connection.execute(statement) }
      }
      history.withLock { $0.version.hasAdditions = true }
      process.fail(at: .migrated)
      if try repository.head().isDetached { try comeBack(repository: repository) }
    } catch let error as ChangesetError
      where [.unmerged, .uncommittedChanges, .behindHorizon].contains(error.code)
    {
      return
    } catch { note(error: error) }
  }
}

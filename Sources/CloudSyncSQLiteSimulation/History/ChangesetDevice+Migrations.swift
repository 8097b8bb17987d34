import CloudSyncChangesets
import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import CloudSyncSimulator

extension ChangesetDevice {
  /// Whether the app lacks what the newest version has.
  var isOld: Bool { version != schema.newest }

  /// Brings the tables to the newest version, or to one on the way there, and fills some of what is new, in each database
  /// otherwise.
  func update(process: DeviceProcess, inSteps: Bool) {
    guard let repository, let database = app.withLock({ $0.database }) else { return }
    let former = version
    let choice = inSteps ? history.withLock { $0.random.below(3) } : 2
    let next = schema.version(after: former, choice: choice)
    var sql = schema.migration(from: former, to: next)
    if next.hasAdditions, !former.hasAdditions {
      let draw = { [history] in history.withLock { $0.random.chance(1, in: 2) } }
      sql += schema.fills(of: next, device: setup.number, draw: draw)
      // Whoever renames a column besides does not say what became of its values.
      if schema.renames.isEmpty {
        sql += schema.recomputations(of: next, device: setup.number, draw: draw)
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
      // Triggers of the history hold on to a column that is to get another type.
      if next.hasRenamed, !former.hasRenamed, next.hasRetyped == former.hasRetyped,
        try repository.head().isDetached == false,
        history.withLock({ $0.chores.chance(1, in: 3) })
      {
        return try changeTables(sql, to: next, database)
      }
      let statements = sql
      try ChangesetRepository.migrate(database) { handle in
        let connection = SQLiteConnection(borrowing: handle)
        for statement in statements { try connection.execute(statement) }
      }
      history.withLock { $0.version = next }
      process.fail(at: .migrated)
      if try repository.head().isDetached { try comeBack(repository: repository) }
    } catch let error as ChangesetError
      where [.unmerged, .uncommittedChanges, .behindHorizon].contains(error.code)
    {
      return
    } catch let error as ChangesetError where error.code == .detached && !schema.renames.isEmpty {
      // The branch is neither what this version has nor the next one: others' migrations come first.
      return
    } catch { note(error: error) }
  }

  /// Changes the tables as an app does that knows nothing of the history, and has that take them up.
  private func changeTables(
    _ statements: [String],
    to version: SimulatedSchema.Version,
    _ database: FaultyDatabase
  ) throws {
    try disk.file()
      .write { handle in
        let connection = SQLiteConnection(borrowing: handle)
        try connection.transaction { () throws(SQLiteError) in
          for statement in statements { try connection.execute(statement) }
        }
      }
    history.withLock { $0.version = version }
    // A statement may fail once; an app whose history cannot be read does it once more.
    if (try? takeUp(database)) == nil { try takeUp(database) }
  }

  /// Has the history take up the tables as they are.
  func takeUp(_ database: FaultyDatabase) throws(ChangesetError) {
    try ChangesetRepository.rescan(
      database,
      tables: schema.tables(version: version).map(\.name),
      options: ChangesetOptions(environment: app.withLock { $0.process }?.environment ?? .live)
    )
  }
}

extension SimulatedSchema {
  /// The newest version, or one on the way there.
  fileprivate func version(after version: Version, choice: Int) -> Version {
    guard newest.hasRenamed, !version.hasRenamed, !version.hasAdditions else { return newest }
    var next = version
    switch choice {
    case 0: next.hasAdditions = true
    case 1: next.hasRenamed = true
    default: next = newest
    }
    return next
  }

  /// Statements that fill some of what is new, on each device otherwise.
  fileprivate func fills(of version: Version, device: Int, draw: () -> Bool) -> [String] {
    tables(version: version)
      .compactMap { table in
        guard ["INTEGER", "REAL"].contains(table.column("c")?.type), draw() else { return nil }
        let value = Double(Int64(device + 1) * 10_000_000) + 0.25
        return "UPDATE \(table.name) SET c = \(SQLiteValue.real(value).literal)"
      }
  }

  /// Statements that make something else of what rows hold, on each device otherwise.
  fileprivate func recomputations(of version: Version, device: Int, draw: () -> Bool) -> [String] {
    tables(version: version)
      .compactMap { table in
        guard table.column("b") != nil, draw() else { return nil }
        let b = table.sql("b")
        return "UPDATE \(table.name) SET \(b) = 'm\(device)' WHERE \(b) > 'm'"
      }
  }
}

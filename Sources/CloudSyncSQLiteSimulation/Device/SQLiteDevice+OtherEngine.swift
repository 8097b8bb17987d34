import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import CloudSyncSimulator

extension SQLiteDevice {
  /// Has another process look at what was edited, with an engine of its own that it makes now and then.
  func lookElsewhere(_ process: DeviceProcess) {
    guard process.isAlive, isReady else { return }
    if let other = app.withLock({ $0.otherEngine }) {
      guard history.withLock({ $0.others.chance(1, in: 2) }) else { return }
      attempt { () throws in _ = try other.retryParked() }
    }
    let ratio = process.ratio(of: .otherEngine)
    guard ratio.hits > 0, history.withLock({ $0.others.chance(ratio.hits, in: ratio.cases) })
    else { return }
    attempt { () throws in
      let other = try SyncEngine(
        database: disk.otherFile(),
        tables: drawOtherTables(),
        zoneID: setup.zoneID,
        operationHandler: process.handler,
        options: options(process: process),
        environment: process.environment
      )
      let old = app.withLock { app in
        defer { app.otherEngine = other }
        return app.otherEngine
      }
      withExtendedLifetime(old) {}  // Released outside the lock.
      process.fail(at: .otherEngine)
    }
  }

  /// All tables but those that refer to others, or all.
  private func drawOtherTables() -> [String] {
    let tables = schema.tables(version: version)
    let parents = tables.flatMap { ($0.key + $0.columns).compactMap(\.parent) }
    let leaves = tables.map(\.name).filter { !parents.contains($0) }
    guard leaves.count < tables.count, history.withLock({ $0.others.chance(3, in: 4) }) else {
      return tables.map(\.name)
    }
    history.withLock { $0.hasReadInParts = true }
    return tables.map(\.name).filter { !leaves.contains($0) }
  }
}

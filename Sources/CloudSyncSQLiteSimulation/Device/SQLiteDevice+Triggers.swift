import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import CloudSyncSimulator

extension SQLiteDevice {
  /// Makes the app's triggers, now and then, just before there is an engine: those of an earlier one are older.
  func makeTriggersIfDue(_ process: DeviceProcess) throws {
    guard schema.hasTriggers, isReady else { return }
    let ratio = process.ratio(of: .triggersMade)
    guard ratio.hits > 0,
      history.withLock({ $0.triggers.chance(ratio.hits, in: ratio.cases) })
    else { return }
    // The view that they ask, which a migration may have taken along.
    let view = "SELECT 1 FROM sqlite_schema WHERE name = 'cloudsync_activity'"
    if try disk.file().rows(sql: view).isEmpty { return }
    process.fail(at: .triggersMade)
    dropTriggers()
    try disk.file().execute(AppTriggers(schema: schema, version: version).sql)
  }

  /// Drops the app's triggers, as its migrations do with what names tables and columns that they change.
  func dropTriggers() {
    attempt { () throws in
      let file = try disk.file()
      for name in try file.rows(sql: AppTriggers.names) {
        guard case .text(let text)? = name.first else { continue }
        try file.execute("DROP TRIGGER \(text)")
      }
    }
  }
}

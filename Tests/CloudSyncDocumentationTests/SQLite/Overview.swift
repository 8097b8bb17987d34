import CloudSyncSession
import CloudSyncSQLite

enum SQLiteOverviewSample {
  static func use(_ cloud: any OperationHandler) async throws {
    // SAMPLE: CloudSyncSQLite/CloudSyncSQLite.md
    let database = try DatabaseFile(path: "notes.sqlite")
    let engine = try SyncEngine(
      database: database,
      tables: ["lists", "notes"],
      zoneID: ZoneID(name: "Notes"),
      operationHandler: cloud
    )
    try engine.start()
    try database.execute("UPDATE notes SET title = 'Tea' WHERE id = '7'")
    await engine.syncChanges()
    // SAMPLE: end
  }
}

// SAMPLE: CloudSyncSQLite/GettingStarted.md
public import CloudSyncSQLite
public import CloudSyncSession

/// Opens the app's database, and keeps its notes in sync.
public func openNotes(path: String, cloud: any OperationHandler) throws -> SyncEngine {
  let database = try DatabaseFile(path: path, createsFile: true)
  try database.execute(
    """
    CREATE TABLE IF NOT EXISTS lists(
      id TEXT PRIMARY KEY NOT NULL,
      title TEXT NOT NULL DEFAULT ''
    );
    CREATE TABLE IF NOT EXISTS notes(
      id TEXT PRIMARY KEY NOT NULL,
      list TEXT REFERENCES lists(id) ON DELETE CASCADE,
      text TEXT NOT NULL DEFAULT '',
      stars INTEGER NOT NULL DEFAULT 0
    );
    """
  )
  return try SyncEngine(
    database: database,
    tables: ["lists", "notes"],
    zoneID: ZoneID(name: "Notes"),
    operationHandler: cloud
  )
}
// SAMPLE: end

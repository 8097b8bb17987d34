// README: grdb
import CloudSyncGRDB
import CloudSyncSQLite
import CloudSyncSession
import GRDB

func openShopping(
  _ pool: DatabasePool,
  cloud: any OperationHandler
) throws -> (SyncEngine, AnyDatabaseCancellable) {
  let tables = ["lists", "items"]  // after their migrations
  let engine = try SyncEngine(
    database: GRDBDatabase(writer: pool),
    tables: tables,
    zoneID: ZoneID(name: "Shopping"),
    operationHandler: cloud
  )
  try engine.start()
  let following = engine.follow(tables, in: pool) { error in print(error) }
  return (engine, following)  // what GRDB commits is sent as long as you keep both
}
// README: end

import CloudSyncSQLiteSupport

/// What the engine keeps in its tables, within one transaction.
struct EngineStorage {
  let connection: SQLiteConnection

  var facts: Facts { Facts(connection: connection) }
  var known: KnownRows { KnownRows(connection: connection) }
  var pending: PendingRows { PendingRows(connection: connection) }
  var seen: SeenRows { SeenRows(connection: connection) }
  var tombstones: Tombstones { Tombstones(connection: connection) }
  var foreign: ForeignRecords { ForeignRecords(connection: connection) }
  var unfetched: UnfetchedRecords { UnfetchedRecords(connection: connection) }
}

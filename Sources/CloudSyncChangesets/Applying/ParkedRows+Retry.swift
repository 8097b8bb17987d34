import CloudSyncSQLiteSupport

extension ParkedRows {
  /// Tries to put rows into their tables that have become able to take them.
  func retry(in tables: TrackedTables) throws(ChangesetError) {
    let rows = try all()
    if rows.isEmpty { return }
    try connection.withoutTriggers { () throws(ChangesetError) in
      for parked in rows {
        guard let table = tables.table(parked.table) else { continue }
        let writer = try TableWriter(connection: connection, table: table, refusals: .parks)
        try release(key: parked.row.key, of: parked.table)
        try writer.insert(change: parked.row)
      }
    }
    try tidy()
  }
}

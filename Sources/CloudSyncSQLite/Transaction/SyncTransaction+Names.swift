import CloudSyncCore
import CloudSyncSQLiteSupport

extension SyncTransaction {
  /// The table and the key of a row by its record's name; nil if the name is none of a row's that is known.
  ///
  /// A name that has no more than a key's digest is looked for among the long keys of what is known.
  func place(ofRecord name: String) throws(SQLiteError) -> (place: Int, key: RecordKey)? {
    if let found = tables.place(ofRecord: name) ?? digestKeys[name] { return found }
    guard RecordKey.isDigest(name), let parsed = RecordName.parse(name), parsed.key == .digest,
      let place = tables.place(named: parsed.table)
    else { return nil }
    let table = tables[place]
    // A digest stands for what does not fit into a name, of which each byte of a key takes three at most.
    let room = RecordRules.maximumNameLength - table.format.recordType.utf8.count
    let query =
      try connection.fixedStatement(
        """
        SELECT key FROM (
          SELECT key FROM cloudsync_known WHERE table_id = ?1
          UNION ALL SELECT key FROM cloudsync_pending WHERE table_id = ?1
        ) WHERE length(CAST(key AS BLOB)) >= ?2
        """
      )
      .bind(table.id, at: 1).bind(Int64(room / 4), at: 2)
    defer { query.reset() }
    while try query.step() {
      let key = try table.key(query.value(0))
      if UTF8Bytes.equal(key.name, name) { return (place, key) }
    }
    return nil
  }
}

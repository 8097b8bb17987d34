import CloudSyncSQLiteSupport

/// Counts the rows that the cloud has not got.
struct PendingCount: TransactionPart {
  /// How many rows are counted every time; of more it is only known that they are more.
  static let limit: Int64 = 5_000

  let transaction: SyncTransaction

  /// How many rows wait to be sent, up to the limit; so many also while rows are looked for of which nothing is known.
  func upToLimit() throws(SQLiteError) -> Int {
    try isSearching() ? Int(Self.limit) : Int(try stored.pending.dirtyCount(upTo: Self.limit))
  }

  /// How many there are, those among them of which nothing is known: it looks at every row of tables that are to be
  /// compared, so it is asked for once in a run of work.
  func all() throws(SQLiteError) -> Int {
    var count = try stored.pending.dirtyCount()
    guard try isSearching() else { return Int(clamping: count) }
    let requested = try facts.unreconciledTables()
    for table in tables.inOrder where requested.contains(table.id) {
      let unknown = try unknownRows(of: table)
      count += max(0, unknown)
    }
    return Int(clamping: count)
  }

  /// How many rows of a table nothing is known of.
  private func unknownRows(of table: RecordTable) throws(SQLiteError) -> Int64 {
    if table.filter == nil {
      return try connection.integer(
        """
        SELECT (SELECT count(*) FROM main.\(table.name.quotedName))
          - (SELECT count(*) FROM cloudsync_known WHERE table_id = \(table.id))
          - (SELECT count(*) FROM cloudsync_pending WHERE table_id = \(table.id))
        """
      )
    }
    let captured = table.captured
    return try connection.integer(
      "SELECT count(*) FROM \(captured.sentRows) t WHERE \(captured.isUnknown("t"))"
    )
  }

  /// Whether tables are to be compared, and everything was fetched that is to tell of their rows first.
  private func isSearching() throws(SQLiteError) -> Bool {
    guard try facts.value(.unreconciled) != nil, try facts.value(.token) != nil else {
      return false
    }
    if try facts.value(.fullFetch) != nil { return false }
    return try facts.value(.fetchAll) == nil
  }
}

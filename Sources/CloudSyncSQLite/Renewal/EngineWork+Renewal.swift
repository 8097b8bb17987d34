import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

extension EngineWork {
  // MARK: Everything is to be sent

  /// Notes that no row is known to be in the cloud.
  ///
  /// What is known of the records stays, as the base of merges and for columns that only others
  /// know; but it is sent whole, after a fetch of everything has said what is there already.
  /// Deletions wait for that fetch too: what it does not bring needs none.
  func voidEverything() throws(SQLiteError) {
    try outbox.readAll()
    for table in tables.inOrder {
      try Adoption(table: table, connection: connection, transport: transport).adoptUnknownRows()
    }
    try connection.execute(
      """
      UPDATE cloudsync_rows SET payload = NULL
      WHERE operation IS NOT NULL AND (void IS NULL OR shelf IS NOT NULL OR waits_for IS NULL);
      UPDATE cloudsync_rows SET
        void = CASE WHEN server IS NOT NULL OR payload IS NOT NULL THEN 1 END,
        tag = NULL, operation = NULL, sent_page = NULL, page = NULL,
        dirty = CASE WHEN waits_for IS '*' THEN dirty ELSE coalesce(dirty, 0) END,
        waits_for = CASE
          WHEN payload IS NOT NULL OR shelf IS NOT NULL OR waits_for = '*' THEN waits_for
          WHEN server IS NOT NULL THEN '?'
        END,
        error_code = NULL, error = NULL;
      UPDATE cloudsync_strangers SET void = 1, operation = NULL;
      """
    )
    try store.beginFullFetch()
  }

  // MARK: Everything is to go

  /// Deletes the rows of the synchronized tables, without telling the cloud, and forgets what was
  /// known of them.
  func deleteEverything() throws(SQLiteError) {
    try connection.execute("PRAGMA defer_foreign_keys = ON")
    let triggers = try store.triggers(where: "name LIKE 'cloudsync\\_%' ESCAPE '\\'")
    for trigger in triggers { try connection.execute("DROP TRIGGER \(trigger.name.quotedName)") }
    // Triggers of the app's may make rows while others go.
    for _ in 0..<3 where try hasRows() {
      for table in tables.inOrder.reversed() { try deleteRows(of: table) }
    }
    for trigger in triggers { try connection.execute(trigger.sql) }
    try connection.execute("DELETE FROM cloudsync_outbox; DELETE FROM cloudsync_departed")
    try forgetRows()
  }

  /// Forgets what is known of the rows.
  func forgetRows() throws(SQLiteError) {
    try connection.execute("DELETE FROM cloudsync_rows; DELETE FROM cloudsync_strangers")
    try store.beginFullFetch()
  }

  private func hasRows() throws(SQLiteError) -> Bool {
    for table in tables.inOrder {
      let count = try connection.integer("SELECT EXISTS(SELECT 1 FROM \(table.name.quotedName))")
      if count == 1 { return true }
    }
    return false
  }

  private func deleteRows(of table: SyncTable) throws(SQLiteError) {
    // RESTRICT waits for nothing, so what refers to a row of the same table lets go of it first.
    for key in table.schema.foreignKeys where key.onDelete == .restrict {
      guard tables.enforcesForeignKeys, key.table == table.name else { continue }
      let isOptional = key.columns.allSatisfy { table.schema.column(named: $0)?.isNotNull == false }
      guard isOptional else { continue }
      let changes = key.columns.map { "\($0.quotedName) = NULL" }.joined(separator: ", ")
      try connection.execute("UPDATE \(table.name.quotedName) SET \(changes)")
    }
    try connection.execute("DELETE FROM \(table.name.quotedName)")
  }

  // MARK: A session without a past

  /// Forgets which pages were stored, when the next session counts from 1 again.
  func forgetPages() throws(SQLiteError) {
    guard try store.lastPage() > 0 else { return }
    try store.setFact("page", nil)
    try connection.execute(
      """
      UPDATE cloudsync_rows SET page = NULL, sent_page = NULL
      WHERE page IS NOT NULL OR sent_page IS NOT NULL
      """
    )
  }
}

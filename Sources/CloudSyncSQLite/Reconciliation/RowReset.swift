import CloudSyncCore
import CloudSyncSQLiteSupport

/// How all rows begin anew.
enum Renewal: Sendable {
  /// They are deleted here.
  case deletion
  /// They are deleted here, and everywhere else where the zone was known.
  case erasure
  /// What the cloud does not have is made there again.
  case upload
  /// The same in another cloud; its rows stay also where this device had deleted some of those names, and had told its
  /// former cloud.
  case attachment
  /// The zone is there again, made by another device: its record says what becomes of the rows.
  case rejoining
}

/// The cloud that rows are attached to.
package enum AttachedCloud: Sendable {
  /// One that they were not synced with: deletions that the former one had are not of its rows.
  case other
  /// The one that they were synced with, which has lost changes.
  case restored

  var renewal: Renewal { self == .other ? .attachment : .upload }
}

/// Has all rows begin anew.
struct RowReset: TransactionPart {
  let transaction: SyncTransaction

  private var zone: FetchOfEverything { FetchOfEverything(transaction: transaction) }

  /// Forgets what is known of the cloud.
  func renew(_ renewal: Renewal) throws(SQLiteError) {
    try transaction.finish()
    switch renewal {
    case .deletion, .erasure:
      try zone.noteZoneChange(isErasure: true)
      try deleteEverything(orFail: renewal == .deletion)
    case .upload, .attachment:
      if renewal == .attachment {
        try stored.pending.removeSettledTombstones(of: tables.inOrder.map(\.id))
      }
      try facts.set(.fullFetch, to: .integer(FullFetch.uploads.rawValue))
      transaction.fetchesAll = true
      try stored.seen.removeAll()
      try zone.replaceZone()
      for table in tables.inOrder {
        try facts.requestReconciliation(of: table.id, fetchesAll: true)
      }
    case .rejoining:
      // Which zone the rows are of stays known: only so a record of another one is told from it.
      try facts.set(.token, to: nil)
      try facts.set(.shownZone, to: nil)
      return
    }
    for fact in [Facts.Name.zone, .shownZone, .token, .erases, .history] {
      try facts.set(fact, to: nil)
    }
    if renewal == .erasure { try facts.set(.erases, to: .integer(1)) }
  }

  /// Deletes the rows of the synchronized tables, without telling the cloud, and forgets what was
  /// known of them.
  ///
  /// - Parameter fails: Whether to throw what the database has against it. Otherwise what cannot go stays, as where the cloud
  ///   has deleted it: of an erasure nobody is there to be told that it has failed, and the engine could not go on.
  /// - Throws: SQLite's reason.
  private func deleteEverything(orFail fails: Bool) throws(SQLiteError) {
    let isDone = try deleteAtOnce(orFail: fails)
    let ids = tables.inOrder.map { "\($0.id)" }.joined(separator: ", ")
    for table in ["outbox", "departed", "known", "pending", "seen"] {
      try connection.execute("DELETE FROM cloudsync_\(table) WHERE table_id IN (\(ids))")
    }
    // The outbox counts anew.
    try connection.execute(
      "DELETE FROM cloudsync_foreign_records; UPDATE cloudsync_clock SET left_until = 0"
    )
    for fact in [
      Facts.Name.fullFetch, .fetchAll, .unreconciled, .reconciledTo, .formerColumns, .formerTypes,
      .addedCounters,
    ] {
      try facts.set(fact, to: nil)
    }
    transaction.fetchesAll = false
    if !isDone { try deleteOneByOne() }
  }

  /// Deletes all rows of each table by one statement; where the database does not let it, nothing has happened.
  private func deleteAtOnce(orFail fails: Bool) throws(SQLiteError) -> Bool {
    let changed = transaction.changed
    do throws(SQLiteError) {
      try connection.transaction { () throws(SQLiteError) in
        try noteDeletions()
        try connection.execute("PRAGMA defer_foreign_keys = ON")
        try deleteWithoutCapture()
        // Rows of a table that is not synchronized refer to nothing now: at its end SQLite would refuse the transaction.
        if connection.hasUnresolvedForeignKeys { throw RowWriter.unresolvedReference }
      }
      return true
    } catch {
      guard !fails, error.isRefusal || error.isOfTrigger, connection.isInTransaction else {
        throw error
      }
      transaction.changed = changed
      return false
    }
  }

  /// Deletes the rows as those that the cloud has deleted.
  private func deleteOneByOne() throws(SQLiteError) {
    for place in tables.inOrder.indices {
      let table = tables[place]
      for key in try table.rows(on: connection).allKeys() {
        keep(try transaction.row(spelled: key, in: place).forgotten)
      }
    }
    try transaction.writing.writeRows()
  }

  private func deleteWithoutCapture() throws(SQLiteError) {
    let query = try connection.prepare(
      """
      SELECT name, sql FROM main.sqlite_schema
      WHERE type = 'trigger' AND name LIKE 'cloudsync\\_%' ESCAPE '\\' ORDER BY rowid
      """
    )
    let triggers = try query.mapRows { query in (query.text(0) ?? "", query.text(1) ?? "") }
    for (name, _) in triggers { try connection.execute("DROP TRIGGER main.\(name.quotedName)") }
    try CaptureSuppression(connection: connection).setSynchronizing(true)
    // Triggers of the app's may make rows while others go.
    for _ in 0..<3 where try hasRows() {
      for place in tables.inOrder.indices.reversed() { try deleteRows(of: place) }
    }
    try CaptureSuppression(connection: connection).setSynchronizing(false)
    for (_, sql) in triggers { try connection.execute(sql.ofMainTrigger) }
  }

  /// Notes that all rows are deleted, for those who want to know: no trigger tells of it.
  private func noteDeletions() throws(SQLiteError) {
    if transaction.changed == nil { return }
    for table in tables.inOrder.reversed() {
      let columns = table.columns.map(\.quotedName).joined(separator: ", ")
      let query = try connection.prepare("SELECT \(columns) FROM main.\(table.name.quotedName)")
      try query.forEachRow {
        let values = table.columns.indices.map { query.value(Int32($0)) }
        let key = table.rowKey(of: table.key(ofRow: values))
        transaction.noteChange(.deleted, of: key, values: values, in: table)
      }
    }
  }

  private func hasRows() throws(SQLiteError) -> Bool {
    for table in tables.inOrder {
      let count = try connection.integer(
        "SELECT EXISTS(SELECT 1 FROM main.\(table.name.quotedName))"
      )
      if count == 1 { return true }
    }
    return false
  }

  private func deleteRows(of place: Int) throws(SQLiteError) {
    let name = "main.\(tables[place].name.quotedName)"
    // RESTRICT waits for nothing, so what refers to a row of the same table lets go of it first.
    for link in tables.links(to: place)
    where tables.enforcesForeignKeys && link.child == place
      && link.reference.key.onDelete == .restrict && link.reference.canBeNull
    {
      let changes = link.columns.map { "\($0.quotedName) = NULL" }.joined(separator: ", ")
      try connection.execute("UPDATE \(name) SET \(changes)")
    }
    try connection.execute("DELETE FROM \(name)")
  }
}

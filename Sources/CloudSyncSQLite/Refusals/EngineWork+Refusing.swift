import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

extension EngineWork {
  /// The record of a row that is to be gone and that SQLite keeps.
  private static let deletion = RowVersion(
    columns: [],
    deletedAt: HybridTime.zero.successor
  )

  /// What a row is to be while it cannot be in the table.
  func shelfVersion(of row: RowState) -> RowVersion? {
    guard var version = row.shelf?.rowVersion else { return nil }
    if version.isDeleted { return version }
    // What a migration has made known is known to the record; so is what no column can hold.
    let server = row.server?.rowVersion
    for column in server?.columns ?? [] {
      let mine = version[column.name]
      let isForeign = mine?.time == column.time && ValueCodec.decode(column.value) == nil
      if mine == nil || isForeign { version[column.name] = column }
    }
    version.createdAt = row.createdAt ?? server?.createdAt
    version.deletedAt = row.deletedAt ?? server?.deletedAt
    version.unknownFields = server?.unknownFields ?? []
    return version
  }

  /// Keeps beside the table what a row is to be; nil stands for no row.
  func shelve(
    _ row: inout RowState,
    _ table: SyncTable,
    _ whole: RowVersion?,
    _ why: Refusal?
  ) throws(SQLiteError) {
    let whole = try whole.map { (whole) throws(SQLiteError) in
      try inlined(whole, of: row, table)
    }
    row.shelf = table.layout.record(whole ?? Self.deletion, recordID: recordID(row.recordName))
    row.shelfCode = why?.code
    row.shelfError = why?.reason
  }

  /// Keeps beside the table what a row is to be in columns that a migration has added and that the
  /// table refuses; the start tries again, and settles what stands in the way.
  func shelve(
    _ row: RowState,
    _ added: [String],
    _ table: SyncTable,
    _ error: SQLiteError
  ) throws(SQLiteError) {
    guard let server = row.server?.rowVersion else { return }
    var row = row
    let key = try table.keyValues(of: row.key, in: connection)
    let values = try rows(of: table).values(of: key)
    var whole = version(of: row, table, values: values, server: server)
    for column in added { whole[column] = server[column] }
    let reason = "\(described(row, table)) cannot be stored: \(error.message)"
    try shelve(&row, table, whole, Refusal(code: Int64(error.code), reason: reason))
    try store.save(row)
  }

  /// Writes or deletes a row without being captured; returns why that is refused.
  ///
  /// Without values it is not in the table yet; without columns it is deleted; and one that replaces
  /// another gets defaults in all other columns.
  func attempt(
    _ table: SyncTable,
    _ row: RowState,
    _ key: [SQLiteValue],
    _ values: [SQLiteValue]?,
    _ columns: [VersionedColumn]?,
    replaces: Bool = false
  ) throws(SQLiteError) -> Refusal? {
    if let columns, let refusal = mismatch(columns, table, row) { return refusal }
    let mayMove = columns != nil && values != nil && mayHaveFollowers(table)
    do throws(SQLiteError) {
      let body = { () throws(SQLiteError) -> Bool in
        if mayMove, let columns {
          try self.follow(table, key, self.changes(columns, table, values))
        }
        try self.store.setApplying((table.id, row.key))
        return try self.write(table, row.key, key, values, columns, replaces: replaces)
      }
      // Of a trigger that fails rather than aborts, what it has done so far would stay.
      let isDone =
        table.hasFailingTriggers || mayMove ? try connection.transaction(body) : try body()
      if isDone { return nil }
      return Refusal(
        code: Refusal.ignored,
        reason: "\(described(row, table)) cannot be stored: a trigger of the table ignores it"
      )
    } catch {
      guard error.isRefusal else { throw error }
      guard connection.isInTransaction else {
        throw SQLiteError(
          code: error.code,
          message:
            "a trigger has rolled back what came from the cloud, at \(described(row, table)):"
            + " \(error.message); use RAISE(ABORT, …) in triggers of \(table.name)",
          sql: error.sql
        )
      }
      let verb = columns == nil ? "deleted" : "stored"
      return Refusal(
        code: Int64(error.code),
        reason: "\(described(row, table)) cannot be \(verb): \(error.message)"
      )
    }
  }

  /// Whether a row was written, or had to be.
  private func write(
    _ table: SyncTable,
    _ rowKey: SQLiteValue,
    _ key: [SQLiteValue],
    _ values: [SQLiteValue]?,
    _ columns: [VersionedColumn]?,
    replaces: Bool
  ) throws(SQLiteError) -> Bool {
    let rows = rows(of: table)
    guard let columns else {
      guard values != nil else { return true }
      try rows.delete(key)
      return connection.changeCount > 0
    }
    let changes = try changes(columns, table, replaces ? nil : values)
    if values == nil {
      try rows.insert(key, changes)
    } else if replaces {
      try rows.replace(key, changes)
    } else {
      let isEmpty = changes.allSatisfy { table.schema.primaryKey.contains($0.column) }
      if isEmpty { return true }
      try rows.update(key, changes)
    }
    let isDone = connection.changeCount > 0
    try noteRetouching(table, rowKey, key, before: replaces ? nil : values, changes)
    return isDone
  }

  /// A value that is of no kind that a column can hold.
  private func mismatch(
    _ columns: [VersionedColumn],
    _ table: SyncTable,
    _ row: RowState
  ) -> Refusal? {
    for column in columns where ValueCodec.decode(column.value) == nil {
      guard let known = table.schema.column(named: column.name), !known.isGenerated else {
        continue
      }
      return Refusal(
        code: Refusal.mismatch,
        reason: "\(described(row, table)) cannot be stored: the value of column"
          + " \(known.name.quotedName) is of a kind that no column can hold"
      )
    }
    return nil
  }

  /// A row by its record and its table, for the words of an error.
  func described(_ row: RowState, _ table: SyncTable) -> String {
    "record \(row.recordName) of table \(table.name.quotedName)"
  }

  /// Takes what a write has come to: the row is stored, or kept beside the table with the reason.
  ///
  /// Tells whether the row is as it is to be, which is to be gone if there is no whole one.
  func finish(
    _ one: Incoming,
    _ row: RowState,
    _ values: [SQLiteValue]?,
    _ whole: RowVersion?,
    _ refusal: Refusal?
  ) throws(SQLiteError) -> Bool {
    var row = row
    guard let refusal else {
      row.unshelve()
      try store.save(row)
      return true
    }
    try shelve(&row, one.table, whole, refusal)
    try store.save(row)
    guard refusal.isUnique, let whole else { return false }
    return try arbitrate(one, row, whole)
  }
}

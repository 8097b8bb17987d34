import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Rows that somebody has deleted here, without enforcement, although others refer to them by `NO ACTION`.
///
/// SQL looks at such references at the end of a transaction. So does the engine, before the deletions
/// are sent: if nobody refers to a row any more it is gone, and otherwise the policy for orphans decides.
struct DepartedRows: TransactionPart {
  let transaction: SyncTransaction

  /// Settles the rows that have gone so, with all edits that were captured read.
  func settle() throws(SQLiteError) {
    var open = try departed()
    if open.isEmpty { return }
    let all = open
    var back: [RowKey] = []
    while true {
      // Who has come back may refer to others that have to come back too.
      var rest: [RowKey] = []
      for key in open {
        if try comesBack(key) { back.append(key) } else { rest.append(key) }
      }
      if rest.count == open.count { break }
      open = rest
    }
    if !back.isEmpty { try settle(back) }
    for key in all {
      try transaction.connection
        .fixedStatement("DELETE FROM cloudsync_departed WHERE table_id = ?1 AND key IS ?2")
        .bind(key.table, at: 1).bind(key.key, at: 2).run()
    }
  }

  /// Decides about rows that are in their tables again.
  private func settle(
    _ back: [RowKey]
  ) throws(SQLiteError) {
    var settlement = DeletionSettlement(transaction: transaction)
    while true {
      let plan = try DeletionPlan(back, in: transaction, stuck: settlement.stuck)
      let hadStuck = settlement.stuck
      try settlement.carryOut(plan)
      guard settlement.stuck == hadStuck else { continue }
      for key in plan.kept { try letGoOfMissing(from: key) }
      for key in plan.postponed {
        guard var row = try transaction.row(key) else { continue }
        row.place(.deletionDeferred, rules: transaction.tables[row.place].rules)
        transaction.keep(row)
      }
      return try transaction.writing.writeRows()
    }
  }

  /// Makes a row again as it was, until it is clear whether it may go; false if nobody minds.
  private func comesBack(
    _ rowKey: RowKey
  ) throws(SQLiteError) -> Bool {
    guard var row = try transaction.row(rowKey), row.values == nil else { return false }
    let table = transaction.tables[row.place]
    let values = try values(of: rowKey, on: transaction.connection)
    // It was remembered with the columns that the table had then.
    guard values.count == table.columns.count else { return false }
    let rows = table.rows(on: transaction.connection)
    do throws(SQLiteError) {
      try transaction.withoutCapture(of: row) { () throws(SQLiteError) in
        try rows.insert(zip(table.columns, values).map { (column: $0, value: $1) })
      }
    } catch {
      // Another row has its place now.
      guard error.isRefusal, transaction.connection.isInTransaction else { throw error }
      return false
    }
    let key = row.key
    for link in transaction.tables.links(to: row.place)
    where try transaction.foreignKey(of: link).isReferredTo(rowOf: key) {
      row.values = try rows.values(of: key.values)
      transaction.keep(row)
      return true
    }
    try transaction.withoutCapture(of: row) { () throws(SQLiteError) in
      try rows.delete(key.values)
    }
    return false
  }

  /// Has a row that has come back let go of rows that have not, where it can.
  private func letGoOfMissing(
    from key: RowKey
  ) throws(SQLiteError) {
    guard let place = transaction.tables.place(ofID: key.table) else { return }
    for link in transaction.tables.links(from: place) where link.reference.canBeNull {
      guard let row = try transaction.row(key),
        let values = row.state.row?.storedValues(of: link.columns)
      else { continue }
      let parents = transaction.tables[link.parent].rows(on: transaction.connection)
      if try parents.hasRow(where: link.referencedColumns, are: values) { continue }
      try transaction.set(link.columns, to: link.columns.map { _ in .null }, of: key)
    }
  }

  // MARK: What was remembered

  private func departed() throws(SQLiteError) -> [RowKey] {
    let query = try transaction.connection.fixedStatement(
      "SELECT DISTINCT table_id, key FROM cloudsync_departed ORDER BY table_id, key"
    )
    return try query.mapRows { RowKey(table: $0.integer(0), key: $0.value(1)) }
      .filter { transaction.tables.place(ofID: $0.table) != nil }
  }

  private func values(
    of key: RowKey,
    on connection: SQLiteConnection
  ) throws(SQLiteError) -> [SQLiteValue] {
    let query =
      try connection.fixedStatement(
        "SELECT value FROM cloudsync_departed WHERE table_id = ?1 AND key IS ?2 ORDER BY place"
      )
      .bind(key.table, at: 1).bind(key.key, at: 2)
    return try query.mapRows { $0.value(0) }
  }
}

import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Rows that were written and refer to rows which are not there in the end: they wait beside their tables.
///
/// SQLite looks at references when the transaction ends, and would refuse all of it: every page that could
/// not be stored would come again. It counts them all the time, so nobody looks for them unless there are any.
struct DanglingRows: TransactionPart {
  let transaction: SyncTransaction

  /// Takes such rows out of their tables, where foreign keys are enforced.
  func evict() throws(SQLiteError) {
    guard transaction.tables.enforcesForeignKeys else { return }
    // Whoever goes may leave others behind.
    for _ in 0..<transaction.tables.inOrder.count + 1
    where transaction.connection.hasUnresolvedForeignKeys {
      var isDone = true
      for link in transaction.tables.links {
        guard let place = link.child else { continue }
        for key in try dangling(by: link, of: transaction.tables[place], on: transaction.connection)
        {
          let table = transaction.tables[place]
          let row = try transaction.adopted(table.format.key(spelled: key), in: place)
          if try transaction.removal.evict(row.rowKey) != nil { isDone = false }
        }
      }
      if isDone { return }
      try transaction.writing.writeRows()
    }
  }

  /// The keys of the rows that refer by a foreign key to no row, in their order.
  private func dangling(
    by link: TableLink,
    of child: RecordTable,
    on connection: SQLiteConnection
  ) throws(SQLiteError) -> [[SQLiteValue]] {
    let list = child.key.map { "c.\($0.quotedName)" }.joined(separator: ", ")
    let isSet = link.columns.map { "c.\($0.quotedName) IS NOT NULL" }.joined(separator: " AND ")
    let query = try connection.statement(
      "SELECT \(list) FROM main.\(child.name.quotedName) c WHERE \(isSet) AND NOT EXISTS("
        + "SELECT 1 FROM main.\(link.reference.parent.name.quotedName) p"
        + " WHERE \(link.reference.match(parent: "p", child: "c"))) ORDER BY \(list)"
    )
    return try query.mapRows { query in child.key.indices.map { query.value(Int32($0)) } }
  }
}

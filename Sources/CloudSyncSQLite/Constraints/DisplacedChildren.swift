import CloudSyncCore
import CloudSyncSQLiteSupport

/// Rows that are in no table because others have their keys, as children: each is to come back, and then its parent has to be
/// there as if the row had never been gone.
///
/// What else their foreign keys say is done when they come back.
struct DisplacedChildren: TransactionPart {
  let transaction: SyncTransaction

  /// Whether a row has to stay for one of them.
  func keep(_ row: LoadedRow, by link: TableLink) throws(SQLiteError) -> Bool {
    let displacing = try transaction.loose.displacing(in: transaction)
    if displacing.isEmpty { return false }
    guard let place = link.child, try stay(by: link), let values = row.values,
      let referred = tables[row.place].values(of: link.referencedColumns, in: values)
    else { return false }
    for key in displacing where key.table == tables[place].id {
      for child in try self.row(key)?.state.displaced ?? []
      where tables.refers(child, by: link, to: referred) {
        if !link.refersToKey { return true }
        // It follows a parent that goes on under another key.
        let life = child.life(ofReference: link.columns, telling: link.own)
        if try transaction.renamed.successor(of: row, ofLife: life).map(\.rowKey) == nil {
          return true
        }
      }
    }
    return false
  }

  /// Whether rows of a foreign key stay as they are, and keep their parents.
  private func stay(by link: TableLink) throws(SQLiteError) -> Bool {
    switch tables.consequence(of: link) {
    case .stay: return true
    case .setDefault:
      if case .missing = try transaction.defaultTarget(of: link) { return true }
      return false
    case .delete, .detach, nil: return false
    }
  }
}

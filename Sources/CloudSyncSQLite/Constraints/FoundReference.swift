import CloudSyncCore
import CloudSyncSQLiteSupport

/// A reference of a row that is in its table: it may have been to nobody before anything was synchronized, because foreign
/// keys were not enforced.
///
/// SQLite looks at a reference only when it changes. So whatever else is edited of such a row is written in its table: it
/// waits for nobody there, other than on devices that do not have it.
struct FoundReference: TransactionPart {
  let transaction: SyncTransaction
  let row: LoadedRow
  let link: TableLink

  /// Whether the table's row has referred to nobody by the values that it is to have, since before the transaction began:
  /// to none that it has taken out, and to none that is known to have been there.
  func isToNobody(_ values: [SQLiteValue]) throws(SQLiteError) -> Bool {
    guard tables.enforcesForeignKeys, has(values, in: row.values), has(values, in: row.formerValues)
    else { return false }
    let table = tables[link.parent]
    if link.refersToKey {
      let parent = try transaction.row(spelled: values, in: link.parent)
      return parent.values == nil && parent.formerValues == nil && parent.state.row == nil
    }
    if try table.rows(on: connection).hasRow(where: link.referencedColumns, are: values) {
      return false
    }
    let name = tables.name(of: values, by: link)
    if try FormerKeys(connection: connection).row(of: name) != nil { return false }
    return !transaction.rows.values.contains { other in
      other.place == link.parent
        && other.formerValues.flatMap { table.values(of: link.referencedColumns, in: $0) }
          .map { tables.compared($0, by: link) } == tables.compared(values, by: link)
    }
  }

  private func has(_ values: [SQLiteValue], in present: [SQLiteValue]?) -> Bool {
    guard let present, let own = tables[row.place].values(of: link.columns, in: present) else {
      return false
    }
    return own == values
  }
}

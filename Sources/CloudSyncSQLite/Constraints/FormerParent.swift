import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// What became of the row that another one refers to.
enum FormerParent {
  /// The row refers to nobody.
  case none
  /// It is there, or nobody knows of it yet.
  case present
  /// It goes on, and these values are to be referred to instead.
  case goesOn([SQLiteValue])
  /// It was deleted, and is in no table any more.
  case gone(LoadedRow)
}

extension SyncTransaction {
  /// What became of the row that a row refers to.
  func formerParent(of row: LoadedRow, by link: TableLink) throws(SQLiteError) -> FormerParent {
    guard let values = row.state.row?.storedValues(of: link.columns) else { return .none }
    return link.refersToKey
      ? try formerParent(self.row(spelled: values, in: link.parent), of: row, by: link)
      : try formerParent(having: values, by: link)
  }

  private func formerParent(
    _ parent: LoadedRow,
    of row: LoadedRow,
    by link: TableLink
  ) throws(SQLiteError) -> FormerParent {
    guard parent.values == nil, parent.state.row != nil,
      parent.isDeleted
    else { return .present }
    return try renamed.successor(of: parent, for: row, by: link).map { .goesOn($0) }
      ?? .gone(parent)
  }

  /// The same by another key than the primary one.
  private func formerParent(
    having values: [SQLiteValue],
    by link: TableLink
  ) throws(SQLiteError) -> FormerParent {
    let table = tables[link.parent]
    if try table.rows(on: connection).hasRow(where: link.referencedColumns, are: values) {
      return .present
    }
    guard
      let key = try FormerKeys(connection: connection).row(of: tables.name(of: values, by: link)),
      var parent = try row(key), parent.state.row != nil
    else { return .present }
    if parent.isDeleted {
      if parent.values != nil { return .present }
      guard let successor = try renamed.successor(of: parent) else { return .gone(parent) }
      parent = successor
    }
    let next = link.referencedColumns.map { column in
      parent.state.row?.storedValues(of: [column])?.first ?? .null
    }
    if tables.compared(next, by: link) == tables.compared(values, by: link) { return .present }
    if next.contains(.null), !link.reference.canBeNull { return .present }
    return .goesOn(try newValues(of: link, following: next))
  }
}

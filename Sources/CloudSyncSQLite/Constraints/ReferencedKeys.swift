import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Who refers to a row, and who has the key that it is referred to by.
extension SyncTransaction {
  /// The rows of a synchronized table that refer to a row which is in its table.
  func children(of row: LoadedRow, by link: TableLink) throws(SQLiteError) -> [RowKey] {
    guard let place = link.child else { return [] }
    var keys: [RowKey] = []
    for key in try foreignKey(of: link).children(of: row.key) {
      keys.append(try self.row(spelled: key, in: place).rowKey)
    }
    return keys
  }

  /// Whether only the table still has a row refer to its parent: the row is to be otherwise, and refers to
  /// somebody else, or to nobody.
  func hasLeft(_ child: LoadedRow, by link: TableLink) -> Bool {
    guard child.state.placement != .inTable || child.needsWrite, let version = child.state.row,
      let values = child.values, !child.isDeleted
    else { return false }
    let stored = link.columns.map { tables[child.place].value(of: $0, in: values) }
    guard let wanted = version.storedValues(of: link.columns) else { return true }
    return stored != wanted.map { Optional($0) }
  }

  /// Whether rows refer to a row that is in its table, or wait for it.
  func isReferredTo(_ row: LoadedRow) throws(SQLiteError) -> Bool {
    let links = tables.links(to: row.place)
    for link in links where tables.consequence(of: link) != nil {
      if try isKeyTaken(from: row, by: link) { continue }
      if try foreignKey(of: link).isReferredTo(rowOf: row.key) { return true }
      if try DisplacedChildren(transaction: self).keep(row, by: link) { return true }
    }
    if links.isEmpty { return false }
    if awaitedParents.contains(row.key.name) { return true }
    let waiting = try stored.pending.waiting(for: row.key.name)
    for key in waiting
    where try self.row(key)?.state.placement == .awaitsParent(row.key.name) {
      return true
    }
    return false
  }

  /// What the rows of a foreign key are to hold when the key that they refer to has changed.
  func newValues(
    of link: TableLink,
    following next: [SQLiteValue]
  ) throws(SQLiteError) -> [SQLiteValue] {
    switch link.reference.key.onUpdate {
    case .setNull where link.reference.canBeNull: return link.columns.map { _ in .null }
    case .setDefault:
      // A database whose rows refer to it refuses the change where no row has the default as its key.
      if case .missing = try defaultTarget(of: link) { return next }
      return try foreignKey(of: link).defaults()
    case .setNull, .cascade, .restrict, .noAction: return next
    }
  }

  /// Whether another row is to have the key of one that is to go: then nobody refers to that one by it.
  func isKeyTaken(
    from row: LoadedRow,
    by link: TableLink
  ) throws(SQLiteError) -> Bool {
    if link.refersToKey { return false }
    guard let values = row.values else { return false }
    let table = tables[row.place]
    let key = link.referencedColumns.map { table.value(of: $0, in: values) ?? .null }
    if key.contains(.null) { return false }
    return try isTaken(key, from: row, by: link)
  }

  /// Whether another row is to have a key that is about to be given up.
  func isTaken(
    _ values: [SQLiteValue],
    from row: LoadedRow,
    by link: TableLink
  ) throws(SQLiteError) -> Bool {
    let pending = stored.pending
    // Who is to have the value and cannot, because the row has it, waits for the row.
    let stored = try pending.waiting(for: row.key.name) + pending.violating()
    let loaded = loose.parents(having: values, by: link, in: self)
    for key in loaded.union(stored) where key != row.rowKey && key.table == row.rowKey.table {
      guard let other = try self.row(key), !other.isDeleted,
        let version = other.state.row
      else { continue }
      if tables.has(version, values: values, of: link) { return true }
    }
    return false
  }
}

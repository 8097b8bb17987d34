import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Rows that refer to others by a unique key beside the primary one, when that key changes elsewhere.
///
/// `RESTRICT` and `NO ACTION` cannot forbid what has happened elsewhere: the rows follow, as by `CASCADE`.
/// The edits are just later than what they replace, so every device makes the same ones.
enum KeyChangePropagation {
  /// Has the rows that refer to a row do what their foreign keys say before its key changes.
  ///
  /// Where another row is to have the old key nobody follows: its children are that row's from then on.
  ///
  /// - Parameters:
  ///   - row: The row as its table has it.
  ///   - version: The row as it is to be; nil if it is to be gone.
  ///   - transaction: The transaction, within which that is about to be written.
  /// - Throws: SQLite's reason.
  static func follow(
    _ row: LoadedRow,
    to version: RecordVersion?,
    _ transaction: inout SyncTransaction
  ) throws(SQLiteError) {
    guard let values = row.values else { return }
    let table = transaction.tables[row.place]
    for link in transaction.tables.links(to: row.place) where !link.refersToKey {
      let former = link.referencedColumns.map { table.value(of: $0, in: values) ?? .null }
      let next = version.map { table.values(of: link.referencedColumns, in: $0, over: values) }
      if next == former || former.contains(.null) { continue }
      let children = try transaction.children(of: row, by: link)
      if children.isEmpty { continue }
      try transaction.connection.execute("PRAGMA defer_foreign_keys = ON")
      if try isTaken(former, from: row, by: link, transaction) {
        for child in children { try setAside(child, link, &transaction) }
      } else if let next {
        let values = try newValues(of: link, next, transaction)
        for child in children { try change(child, link, to: values, &transaction) }
      }
    }
  }

  /// What the rows of a foreign key are to hold when the key that they refer to has changed.
  private static func newValues(
    of link: TableLink,
    _ next: [SQLiteValue],
    _ transaction: SyncTransaction
  ) throws(SQLiteError) -> [SQLiteValue] {
    switch link.reference.key.onUpdate {
    case .setNull where link.reference.canBeNull: link.columns.map { _ in .null }
    case .setDefault: try transaction.foreignKey(link).defaults()
    case .setNull, .cascade, .restrict, .noAction: next
    }
  }

  /// Has a row refer to other values.
  static func change(
    _ key: RowKey,
    _ link: TableLink,
    to values: [SQLiteValue],
    _ transaction: inout SyncTransaction
  ) throws(SQLiteError) {
    guard let child = try transaction.row(key) else { return }
    if link.isInKeyOfChild {
      // A row that gets another key by it is another record, as by any edit of a key.
      let rows = transaction.tables[child.place].rows(transaction.connection)
      let changes = zip(link.columns, values).map { (column: $0, value: $1) }
      do throws(SQLiteError) { try rows.update(child.key.values, changes) } catch {
        // There is such a row already: this one goes, or waits.
        guard error.isRefusal, transaction.connection.isInTransaction else { throw error }
        transaction.mayDangle = true
      }
      transaction.hasSideEffects = true
    } else if transaction.hasLeft(child, link) {
      try transaction.setInTable(link.columns, values, of: key)
    } else {
      try transaction.set(link.columns, values, of: key)
      _ = try transaction.write(key)
    }
  }

  // MARK: Keys that go over to other rows

  /// Whether another row is to have the key of one that is to go: then nobody refers to that one by it.
  static func isKeyTaken(
    from row: LoadedRow,
    by link: TableLink,
    _ transaction: SyncTransaction
  ) throws(SQLiteError) -> Bool {
    if link.refersToKey { return false }
    guard let values = row.values else { return false }
    let table = transaction.tables[row.place]
    let key = link.referencedColumns.map { table.value(of: $0, in: values) ?? .null }
    if key.contains(.null) { return false }
    return try isTaken(key, from: row, by: link, transaction)
  }

  /// Whether another row is to have a key that is about to be given up.
  private static func isTaken(
    _ values: [SQLiteValue],
    from row: LoadedRow,
    by link: TableLink,
    _ transaction: SyncTransaction
  ) throws(SQLiteError) -> Bool {
    let rules = transaction.tables[link.parent].rules
    let isTaker = { (other: LoadedRow) -> Bool in
      other.place == link.parent && other.rowKey != row.rowKey && !other.isDeleted(rules)
        && other.state.row?.storedValues(of: link.referencedColumns) == values
    }
    if transaction.rows.values.contains(where: isTaker) { return true }
    for key in try PendingRows(connection: transaction.connection).violating()
    where key.table == row.rowKey.table {
      if let other = try transaction.row(key), isTaker(other) { return true }
    }
    return false
  }

  /// Has a row refer to nobody in its table until the other row is there: else SQLite did to it what the foreign
  /// key says.
  private static func setAside(
    _ key: RowKey,
    _ link: TableLink,
    _ transaction: inout SyncTransaction
  ) throws(SQLiteError) {
    guard let child = try transaction.row(key), transaction.tables.enforcesForeignKeys else {
      return
    }
    try transaction.adopt(child)
    // Where there must be a value, it is one that nobody has: SQLite looks at it in the end only.
    let nothing: [SQLiteValue] = link.columns.map { _ in
      link.reference.canBeNull ? .null : .text("cloudsync: nobody")
    }
    try transaction.setInTable(link.columns, nothing, of: key)
    guard var row = try transaction.row(key) else { return }
    row.needsWrite = true
    transaction.keep(row)
    if !link.reference.canBeNull { transaction.rowsSetAside.append(key) }
  }

  /// Takes rows out of their tables that refer to nobody in the end, and cannot: they wait beside them.
  static func finish(_ transaction: inout SyncTransaction) throws(SQLiteError) {
    for key in transaction.rowsSetAside {
      guard let row = try transaction.row(key), row.state.placement != .inTable, row.values != nil
      else { continue }
      // Those that refer to it wait with it.
      _ = try transaction.takeOut(key)
      transaction.mayDangle = true
    }
    transaction.rowsSetAside = []
    try transaction.writeRows()
  }
}

extension RecordTable {
  /// What a column holds in a row of the table.
  func value(of column: String, in values: [SQLiteValue]) -> SQLiteValue? {
    places.number(of: column).map { values[$0] }
  }

  /// What columns are to hold, where a version knows them, and else hold.
  func values(
    of columns: [String],
    in version: RecordVersion,
    over values: [SQLiteValue]
  ) -> [SQLiteValue] {
    columns.map { column in
      guard let field = version.value(of: column),
        case .value(let value)? = ValueCodec.decode(field)
      else { return value(of: column, in: values) ?? .null }
      return value
    }
  }
}

extension SyncTransaction {
  /// The rows of a synchronized table that refer to a row which is in its table.
  func children(of row: LoadedRow, by link: TableLink) throws(SQLiteError) -> [RowKey] {
    guard let place = link.child else { return [] }
    var keys: [RowKey] = []
    for key in try foreignKey(link).children(of: row.key) {
      keys.append(try self.row(spelled: key, in: place).rowKey)
    }
    return keys
  }

  /// Whether only the table still has a row refer to its parent: the row is to be otherwise, and refers to
  /// somebody else, or to nobody.
  func hasLeft(_ child: LoadedRow, _ link: TableLink) -> Bool {
    guard child.state.placement != .inTable || child.needsWrite, let version = child.state.row,
      let values = child.values, !child.isDeleted(tables[child.place].rules)
    else { return false }
    let stored = link.columns.map { tables[child.place].value(of: $0, in: values) }
    guard let wanted = version.storedValues(of: link.columns) else { return true }
    return stored != wanted.map { Optional($0) }
  }
}

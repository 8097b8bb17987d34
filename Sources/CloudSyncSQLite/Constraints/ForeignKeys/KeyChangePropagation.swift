import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Rows that refer to others by a unique key beside the primary one, when that key changes elsewhere.
///
/// `RESTRICT` and `NO ACTION` cannot forbid what has happened elsewhere: the rows follow, as by `CASCADE`.
/// The edits are just later than what they replace, so every device makes the same ones.
///
/// Whether the key changes is known when its row is written. Before that the rows only let go of it in their tables, so
/// that SQLite does nothing by itself; after it they follow, or refer to it again.
enum KeyChangePropagation {
  /// A row that refers to a key which changes.
  struct Follower {
    let key: RowKey
    let link: TableLink
    /// What it is to refer to instead; nil if it is to stay as it is.
    let values: [SQLiteValue]?
  }

  /// Has the rows let go that refer to a row whose key is about to change.
  ///
  /// Where another row is to have the old key nobody follows: its children are that row's from then on.
  ///
  /// - Parameters:
  ///   - row: The row as its table has it.
  ///   - version: The row as it is to be; nil if it is to be gone.
  ///   - transaction: The transaction, within which that is about to be written.
  /// - Returns: The rows, which ``follow(_:isWritten:_:)`` has to be told of.
  /// - Throws: SQLite's reason.
  static func letGo(
    of row: LoadedRow,
    to version: RecordVersion?,
    _ transaction: inout SyncTransaction
  ) throws(SQLiteError) -> [Follower] {
    guard let values = row.values else { return [] }
    let table = transaction.tables[row.place]
    var followers: [Follower] = []
    for link in transaction.tables.links(to: row.place) where !link.refersToKey {
      let former = link.referencedColumns.map { table.value(of: $0, in: values) ?? .null }
      let next = version.map { table.values(of: link.referencedColumns, in: $0, over: values) }
      if next == former || former.contains(.null) { continue }
      try transaction.noteFormer(former, by: link, of: row.rowKey)
      let children = try transaction.children(of: row, by: link).filter { $0 != row.rowKey }
      if children.isEmpty { continue }
      let isTaken = try isTaken(former, from: row, by: link, transaction)
      guard isTaken || next != nil else { continue }
      let values = try next.flatMap { (next) throws(SQLiteError) in
        isTaken ? nil : try newValues(of: link, next, transaction)
      }
      for key in children {
        guard let child = try transaction.row(key) else { continue }
        let hasLeft = transaction.hasLeft(child, link)
        followers.append(Follower(key: key, link: link, values: hasLeft ? nil : values))
        if try transaction.release(key, from: link) { continue }
        _ = try transaction.takeOut(key)
      }
    }
    return followers
  }

  /// Has rows follow the key that they have let go of, or refer to it again.
  static func follow(
    _ followers: [Follower],
    isWritten: Bool,
    _ transaction: inout SyncTransaction
  ) throws(SQLiteError) {
    for one in followers {
      guard var child = try transaction.row(one.key) else { continue }
      if isWritten, let values = one.values {
        if one.link.isInKeyOfChild {
          _ = try RowUnion.move(child, one.link.columns, to: values, &transaction)
        } else {
          try transaction.set(one.link.columns, values, of: one.key)
        }
      } else {
        child.needsWrite = true
        transaction.keep(child)
      }
    }
  }

  /// What the rows of a foreign key are to hold when the key that they refer to has changed.
  static func newValues(
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
    let pending = PendingRows(connection: transaction.connection)
    // Who is to have the value and cannot, because the row has it, waits for the row.
    let stored = try pending.waiting(for: row.key.name) + pending.violating()
    let loaded = transaction.loose.parents(having: values, by: link, transaction)
    for key in loaded.union(stored) where key != row.rowKey && key.table == row.rowKey.table {
      guard let other = try transaction.row(key), !other.isDeleted(rules),
        let version = other.state.row
      else { continue }
      if transaction.tables.has(version, values, of: link) { return true }
    }
    return false
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

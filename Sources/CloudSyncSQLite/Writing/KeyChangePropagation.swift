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
struct KeyChangePropagation: TransactionPart {
  let transaction: SyncTransaction

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
  /// - Returns: The rows, which ``follow(_:isWritten:_:)`` has to be told of.
  /// - Throws: SQLite's reason.
  func letGo(
    of row: LoadedRow,
    to version: RecordVersion?
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
      let isTaken = try transaction.isTaken(former, from: row, by: link)
      guard isTaken || next != nil else { continue }
      let values = try next.flatMap { (next) throws(SQLiteError) in
        isTaken ? nil : try transaction.newValues(of: link, following: next)
      }
      for key in children {
        guard let child = try transaction.row(key) else { continue }
        let hasLeft = transaction.hasLeft(child, by: link)
        followers.append(Follower(key: key, link: link, values: hasLeft ? nil : values))
        if try transaction.release(key, from: link) { continue }
        _ = try transaction.removal.evict(key)
      }
    }
    return followers
  }

  /// Has rows follow the key that they have let go of, or refer to it again.
  func follow(
    _ followers: [Follower],
    isWritten: Bool
  ) throws(SQLiteError) {
    for one in followers {
      guard var child = try transaction.row(one.key) else { continue }
      if isWritten, let values = one.values {
        if one.link.isInKeyOfChild {
          _ = try RowUnion(transaction: transaction).move(child, from: one.link.columns, to: values)
        } else {
          try transaction.set(one.link.columns, to: values, of: one.key)
        }
      } else {
        child.needsWrite = true
        transaction.keep(child)
      }
    }
  }

  // MARK: Keys that go over to other rows
}

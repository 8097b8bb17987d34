import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Rows that wait for their parents: when everything has come that the cloud had, those whose parents are deleted do
/// what their foreign keys and the policies say, so that none waits for ever.
///
/// Where a parent is to come back, they wait for it: whoever has made them has the parent too, and restores it.
enum WaitingRows {
  /// Looks at all of them, and writes those that can be written.
  static func settle(_ transaction: inout SyncTransaction) throws(SQLiteError) {
    var seen: Set<RowKey> = []
    while true {
      // What becomes of some may have others wait for nobody any more.
      let open = try waiting(transaction).filter { !seen.contains($0) }
      if open.isEmpty { break }
      for key in open {
        seen.insert(key)
        try settle(key, &transaction)
      }
      try transaction.writeRows()
    }
    transaction.awaitedParents = []
    for row in transaction.rows.values {
      if case .awaitsParent(let name) = row.state.placement {
        transaction.awaitedParents.insert(name)
      }
    }
  }

  private static func waiting(_ transaction: SyncTransaction) throws(SQLiteError) -> [RowKey] {
    let stored = try PendingRows(connection: transaction.connection).waiting()
    let known = Set(stored)
    let loaded = transaction.rows.values.filter { $0.waitsForParent && !known.contains($0.rowKey) }
      .sorted { $0.precedes($1) }.map(\.rowKey)
    var keys: [RowKey] = []
    for key in stored + loaded {
      if let row = try transaction.row(key), row.waitsForParent { keys.append(key) }
    }
    return keys
  }

  private static func settle(
    _ key: RowKey,
    _ transaction: inout SyncTransaction
  ) throws(SQLiteError) {
    guard let place = transaction.tables.place(ofID: key.table) else { return }
    let rules = transaction.tables[place].rules
    for link in transaction.tables.links(from: place) where link.refersToKey {
      guard let row = try transaction.row(key), !row.isDeleted(rules),
        try refersToDeleted(row, link, transaction),
        let consequence = transaction.tables.consequence(of: link)
      else { continue }
      if let successor = try successor(of: row, link, transaction) {
        if successor.isEmpty { continue }
        try transaction.set(link.columns, successor, of: key)
        continue
      }
      switch consequence {
      case .stay: break
      case .delete: try transaction.edit(.deleted([], at: .zero), of: row)
      case .detach:
        try transaction.set(link.columns, link.columns.map { _ in .null }, of: key)
      case .setDefault:
        if case .missing = try transaction.defaultTarget(of: link) { continue }
        let defaults = try transaction.foreignKey(link).defaults()
        try transaction.set(link.columns, defaults, of: key)
      }
    }
    guard var row = try transaction.row(key) else { return }
    row.needsWrite = true
    transaction.keep(row)
  }

  /// What a row is to refer to whose parent goes on under another key; empty if it cannot, because its own key would
  /// be another one.
  private static func successor(
    of row: LoadedRow,
    _ link: TableLink,
    _ transaction: SyncTransaction
  ) throws(SQLiteError) -> [SQLiteValue]? {
    guard let values = row.state.row?.storedValues(of: link.columns) else { return nil }
    let parent = try transaction.row(spelled: values, in: link.parent)
    guard let successor = try transaction.successor(of: parent, by: link) else { return nil }
    return link.isInKeyOfChild ? [] : successor
  }

  /// Whether a row refers to one that was deleted, and is in no table any more.
  private static func refersToDeleted(
    _ row: LoadedRow,
    _ link: TableLink,
    _ transaction: SyncTransaction
  ) throws(SQLiteError) -> Bool {
    guard let values = row.state.row?.storedValues(of: link.columns) else { return false }
    let parent = try transaction.row(spelled: values, in: link.parent)
    return parent.values == nil && parent.state.row != nil
      && parent.isDeleted(transaction.tables[link.parent].rules)
  }
}

extension LoadedRow {
  /// Whether it waits for a row that it refers to.
  var waitsForParent: Bool {
    if case .awaitsParent = state.placement { true } else { false }
  }
}

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
    for link in transaction.tables.links(from: place) {
      guard let row = try transaction.row(key), !row.isDeleted(rules),
        let consequence = transaction.tables.consequence(of: link)
      else { continue }
      switch try FormerParent(of: row, by: link, transaction) {
      case .none, .present: continue
      case .goesOn(let values):
        if link.isInKeyOfChild {
          _ = try RowUnion.move(row, link.columns, to: values, &transaction)
        } else {
          try transaction.set(link.columns, values, of: key)
        }
        continue
      case .gone: break
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
}

extension LoadedRow {
  /// Whether it waits for a row that it refers to.
  var waitsForParent: Bool {
    if case .awaitsParent = state.placement { true } else { false }
  }
}

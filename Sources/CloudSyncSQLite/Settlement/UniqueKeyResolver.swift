import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Rows that unique keys keep out of their tables: tried again, and settled as the tables' policies say.
struct UniqueKeyResolver: TransactionPart {
  let transaction: SyncTransaction

  /// For one pass each row moves at most once, so this is never reached but by triggers that undo everything.
  private static let passes = 64
  private static let rounds = 256

  /// Settles conflicts for good where the tables' policies say how, at the end of a fetch.
  ///
  /// In the middle of it values may be about to be exchanged.
  func settle() throws(SQLiteError) {
    guard transaction.tables.inOrder.contains(where: \.isSettled) else { return }
    for _ in 0..<Self.rounds {
      let conflicts = try unsettled()
      if conflicts.isEmpty { return }
      var settlement = UniqueKeySettlement(transaction: transaction)
      var isSettled = false
      for key in conflicts where try settlement.settle(key) { isSettled = true }
      try transaction.writing.writeRows()
      try settlement.close()
      try resolve()
      if !isSettled { return }
    }
  }

  /// Tries rows again that wait beside their tables, in the end of every transaction.
  func resolve() throws(SQLiteError) {
    for _ in 0..<Self.passes where !transaction.touched.isEmpty || !transaction.freed.isEmpty {
      let freed = transaction.freed
      transaction.touched = []
      transaction.freed = []
      for key in try held(byAny: freed) { try transaction.retryWriting(key) }
      let tables = Set(freed.map(\.table))
      for key in try violating() {
        guard let row = try transaction.row(key), case .violates(let code, _) = row.state.placement,
          SQLiteError.mayPass(code),
          !SQLiteError.isUnique(code) || tables.contains(key.table)
        else { continue }
        try transaction.retryWriting(key)
      }
      try transaction.writing.writeRows()
    }
  }

  /// The rows that SQLite refuses, in a fixed order, but for those whose values are known to be held by others.
  private func violating() throws(SQLiteError) -> [RowKey] {
    let stored = try stored.pending.violating().filter { transaction.rows[$0] == nil }
    return stored
      + known { if case .violates = $0.state.placement { true } else { false } }
  }

  /// The rows of settled tables that SQLite refuses, in a fixed order.
  private func unsettled() throws(SQLiteError) -> [RowKey] {
    let settled = tables.inOrder.filter(\.isSettled).map(\.id)
    let stored = try stored.pending.violating(in: settled)
    return stored.filter { transaction.rows[$0] == nil }
      + known { settled.contains($0.rowKey.table) && $0.state.placement.isViolation }
  }

  private func known(where isMeant: (LoadedRow) -> Bool) -> [RowKey] {
    transaction.rows.values.filter(isMeant).sorted { $0.precedes($1) }.map(\.rowKey)
  }

  /// The rows whose values some rows hold, or held, in a fixed order.
  private func held(byAny holders: Set<RowKey>) throws(SQLiteError) -> [RowKey] {
    let pending = stored.pending
    let hasStored = try pending.hasHeld()
    var found: Set<RowKey> = []
    for holder in holders {
      guard let row = try row(holder), tables[row.place].searches.count > 1 else { continue }
      let name = row.key.name
      let stored = hasStored ? try pending.waiting(for: name) : []
      for key in stored + (transaction.awaiting[name] ?? []) {
        guard let row = try self.row(key), case .heldBy(name, _) = row.state.placement else {
          continue
        }
        found.insert(key)
      }
    }
    return found.sorted {
      $0.table != $1.table
        ? $0.table < $1.table : UTF8Bytes.order($0.key.literal, $1.key.literal) < 0
    }
  }
}

extension SQLiteError {
  /// Whether what SQLite's code says may pass when other rows change.
  fileprivate static func mayPass(_ code: Int64) -> Bool {
    // SQLITE_CONSTRAINT_TRIGGER and …_FOREIGNKEY.
    isUnique(code) || code == 1_811 || code == 787
  }
}

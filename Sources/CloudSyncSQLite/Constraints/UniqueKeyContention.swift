import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Two rows that may not both be in a table because of a unique key: settled as the table's policy says.
struct UniqueKeyContention: TransactionPart {
  let transaction: SyncTransaction

  /// What becomes of a row whose values others hold.
  enum Outcome {
    /// Nobody holds them any more.
    case free
    /// Who holds them is about to be deleted.
    case later
    /// It stays beside the table; nil if SQLite's own reason tells more.
    case held(where: Placement?)
  }

  // MARK: One row

  /// Takes rows out of the way of one that SQLite has refused, if it is the newer one.
  ///
  /// - Parameters:
  ///   - row: The row.
  ///   - isFinal: Whether the newer row is to have the value, whatever the policy says.
  /// - Returns: What becomes of it.
  /// - Throws: SQLite's reason.
  func makeRoom(
    for row: LoadedRow,
    isFinal: Bool = false
  ) throws(SQLiteError) -> Outcome {
    guard let version = row.state.row else { return .held(where: nil) }
    let table = transaction.tables[row.place]
    let byAge = isFinal || !table.isSettled
    let holders = try transaction.holders(of: version, for: row)
    if holders.isEmpty { return .held(where: nil) }
    var isLate = false
    // Nobody is taken out in vain: all of them have to yield.
    for holder in holders {
      let other = holder.row
      if other.isDeleted, other.needsWrite {
        isLate = true
      } else if try yields(holder.row, to: row, byAge: byAge) == false {
        return try hold(row, by: holder, byAge: byAge)
      }
    }
    if isLate { return .later }
    for holder in holders {
      let isStale = holder.row.isStale
      if try transaction.removal.evict(holder.row.rowKey) == nil {
        return try hold(row, by: holder, byAge: byAge)
      }
      // It contends for another value, or for the same one by its own age.
      if isStale { continue }
      let reason = try held(holder.row, by: row, of: table.keyedColumns)
      try transaction.park(holder.row.rowKey, as: reason)
    }
    return .free
  }

  private func hold(
    _ row: LoadedRow,
    by holder: UniqueKeyHolder,
    byAge: Bool
  ) throws(SQLiteError) -> Outcome {
    // What it was before is no more, elsewhere too.
    if byAge, row.values != nil { _ = try transaction.removal.evict(row.rowKey) }
    if !byAge { transaction.needsFetch = true }
    return .held(where: try held(row, by: holder.row, of: holder.search.columns))
  }

  private func yields(
    _ holder: LoadedRow,
    to row: LoadedRow,
    byAge: Bool
  ) throws(SQLiteError) -> Bool {
    if holder.isDeleted { return false }
    if holder.isStale { return true }
    return byAge ? try outranks(row, holder: holder) : false
  }

  /// Whether a row takes a value from the one that holds it.
  func outranks(
    _ row: LoadedRow,
    holder: LoadedRow
  ) throws(SQLiteError) -> Bool {
    // Where one hangs on the other, it would go with it.
    if try transaction.refers(row, to: holder.key) { return false }
    if try transaction.refers(holder, to: row.key) { return true }
    return transaction.rank(of: holder) < transaction.rank(of: row)
  }

  /// Why a row is beside its table whose value another one holds.
  ///
  /// As long as that one is not touched the row stays there, unless they hang together by other rows, which may change.
  private func held(
    _ row: LoadedRow,
    by holder: LoadedRow,
    of columns: [String]
  ) throws(SQLiteError) -> Placement {
    let key = holder.key.values.map(\.literal).joined(separator: ", ")
    let names = columns.map(\.quotedName).joined(separator: ", ")
    let reason =
      "row \(key) has the same value of the unique key \(names), and only one of both can be in the table; give"
      + " row \(key) another value and sync, and this row comes back as it was, with those that refer to it; or insert this"
      + " row again, whole, with another value"
    let refers = try transaction.refers(row, to: holder.key)
    let isReferredTo = try transaction.refers(holder, to: row.key)
    if refers || isReferredTo { return .violates(code: SQLiteError.unique, reason: reason) }
    return .heldBy(holder.key.name, reason: reason)
  }
}

extension RecordTable {
  /// Whether conflicts of unique keys are settled for good, when a fetch is complete.
  var isSettled: Bool {
    switch uniqueKeys?.kind {
    case .merge, .rename: true
    case .newest, nil: false
    }
  }
}

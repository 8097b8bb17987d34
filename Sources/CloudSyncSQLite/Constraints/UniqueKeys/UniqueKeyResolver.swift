import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Two rows that may not both be in a table because of a unique key: settled as the table's policy says.
enum UniqueKeyResolver {
  /// What becomes of a row whose values others hold.
  enum Outcome {
    /// Nobody holds them any more.
    case free
    /// Who holds them is about to be deleted.
    case later
    /// It stays beside the table; nil if SQLite's own reason tells more.
    case held(Placement?)
  }

  /// For one pass each row moves at most once, so this is never reached but by triggers that undo everything.
  private static let passes = 64

  // MARK: One row

  /// Takes rows out of the way of one that SQLite has refused, if it is the newer one.
  ///
  /// - Parameters:
  ///   - row: The row.
  ///   - transaction: The transaction.
  ///   - isFinal: Whether the newer row is to have the value, whatever the policy says.
  /// - Returns: What becomes of it.
  /// - Throws: SQLite's reason.
  static func makeRoom(
    for row: LoadedRow,
    _ transaction: inout SyncTransaction,
    isFinal: Bool = false
  ) throws(SQLiteError) -> Outcome {
    guard let version = row.state.row else { return .held(nil) }
    let table = transaction.tables[row.place]
    let byAge = isFinal || !table.isSettled
    let holders = try transaction.holders(of: version, row)
    if holders.isEmpty { return .held(nil) }
    var isLate = false
    // Nobody is taken out in vain: all of them have to yield.
    for holder in holders {
      let other = holder.row
      if other.isDeleted(table.rules), other.needsWrite {
        isLate = true
      } else if try yields(holder.row, to: row, byAge: byAge, transaction) == false {
        return try hold(row, by: holder, byAge: byAge, &transaction)
      }
    }
    if isLate { return .later }
    for holder in holders {
      let isStale = holder.row.isStale
      if try transaction.takeOut(holder.row.rowKey) == nil {
        return try hold(row, by: holder, byAge: byAge, &transaction)
      }
      // It contends for another value, or for the same one by its own age.
      if isStale { continue }
      let reason = try held(holder.row, by: row, table.keyedColumns, transaction)
      try transaction.park(holder.row.rowKey, reason)
    }
    return .free
  }

  private static func hold(
    _ row: LoadedRow,
    by holder: UniqueKeyHolder,
    byAge: Bool,
    _ transaction: inout SyncTransaction
  ) throws(SQLiteError) -> Outcome {
    // What it was before is no more, elsewhere too.
    if byAge, row.values != nil { _ = try transaction.takeOut(row.rowKey) }
    if !byAge { transaction.needsFetch = true }
    return .held(try held(row, by: holder.row, holder.search.columns, transaction))
  }

  private static func yields(
    _ holder: LoadedRow,
    to row: LoadedRow,
    byAge: Bool,
    _ transaction: SyncTransaction
  ) throws(SQLiteError) -> Bool {
    if holder.isDeleted(transaction.tables[holder.place].rules) { return false }
    if holder.isStale { return true }
    return byAge ? try beats(row, holder, transaction) : false
  }

  /// Whether a row takes a value from the one that holds it.
  static func beats(
    _ row: LoadedRow,
    _ holder: LoadedRow,
    _ transaction: SyncTransaction
  ) throws(SQLiteError) -> Bool {
    // Where one hangs on the other, it would go with it.
    if try transaction.refers(row, to: holder.key) { return false }
    if try transaction.refers(holder, to: row.key) { return true }
    return transaction.rank(of: holder) < transaction.rank(of: row)
  }

  /// Why a row is beside its table whose value another one holds.
  ///
  /// As long as that one is not touched the row stays there, unless they hang together by other rows, which may change.
  private static func held(
    _ row: LoadedRow,
    by holder: LoadedRow,
    _ columns: [String],
    _ transaction: SyncTransaction
  ) throws(SQLiteError) -> Placement {
    let table = transaction.tables[row.place].name.quotedName
    let names = columns.map(\.quotedName).joined(separator: ", ")
    let reason =
      "record \(row.key.name) of table \(table) waits beside the table: record \(holder.key.name)"
      + " has the same value of the unique key \(names); change one of them"
    let refers = try transaction.refers(row, to: holder.key)
    let isReferredTo = try transaction.refers(holder, to: row.key)
    if refers || isReferredTo { return .violates(code: SQLiteError.unique, reason: reason) }
    return .heldBy(holder.key.name, reason: reason)
  }

  // MARK: All rows

  /// Tries rows again that wait beside their tables, in the end of every transaction.
  static func resolve(_ transaction: inout SyncTransaction) throws(SQLiteError) {
    for _ in 0..<passes where !transaction.touched.isEmpty || !transaction.freed.isEmpty {
      let freed = transaction.freed
      transaction.touched = []
      transaction.freed = []
      for key in try transaction.held(byAny: freed) { try transaction.retryWriting(key) }
      let tables = Set(freed.map(\.table))
      for key in try transaction.violating() {
        guard let row = try transaction.row(key), case .violates(let code, _) = row.state.placement,
          SQLiteError.mayPass(code),
          !SQLiteError.isUnique(code) || tables.contains(key.table)
        else { continue }
        try transaction.retryWriting(key)
      }
      try transaction.writeRows()
    }
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

extension LoadedRow {
  /// Whether it is to have other values than the table has of it.
  fileprivate var isStale: Bool {
    switch state.placement {
    case .inTable: needsWrite
    case .awaitsParent: true
    case .violates, .heldBy: state.placement.isOfUniqueKey
    case .deletionDeferred: false
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

extension SyncTransaction {
  /// The rows that SQLite refuses, in a fixed order, but for those whose values are known to be held by others.
  fileprivate func violating() throws(SQLiteError) -> [RowKey] {
    let stored = try PendingRows(connection: connection).violating().filter { rows[$0] == nil }
    return stored
      + known { if case .violates = $0.state.placement { true } else { false } }
  }

  /// The rows of settled tables that SQLite refuses, in a fixed order.
  func unsettled() throws(SQLiteError) -> [RowKey] {
    let settled = tables.inOrder.filter(\.isSettled).map(\.id)
    let stored = try PendingRows(connection: connection).violating(in: settled)
    return stored.filter { rows[$0] == nil }
      + known { settled.contains($0.rowKey.table) && $0.state.placement.isViolation }
  }

  private func known(where isMeant: (LoadedRow) -> Bool) -> [RowKey] {
    rows.values.filter(isMeant).sorted { $0.precedes($1) }.map(\.rowKey)
  }

  /// The rows whose values some rows hold, or held, in a fixed order.
  fileprivate func held(byAny holders: Set<RowKey>) throws(SQLiteError) -> [RowKey] {
    let pending = PendingRows(connection: connection)
    let hasStored = try pending.hasHeld()
    var found: Set<RowKey> = []
    for holder in holders {
      guard let row = try row(holder), tables[row.place].searches.count > 1 else { continue }
      let name = row.key.name
      let stored = hasStored ? try pending.waiting(for: name) : []
      for key in stored + (awaiting[name] ?? []) {
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

  /// Has a row written again that SQLite has refused.
  mutating func retryWriting(_ key: RowKey) throws(SQLiteError) {
    guard var row = try row(key), row.state.placement.isViolation else { return }
    row.needsWrite = true
    keep(row)
  }

  /// Notes that a row is beside its table, and why.
  mutating func park(_ key: RowKey, _ placement: Placement) throws(SQLiteError) {
    guard var row = try self.row(key) else { return }
    if row.state.placement != placement { counts.parked += 1 }
    row.place(placement, tables[row.place].rules)
    keep(row)
  }
}

extension Placement {
  /// Whether SQLite refuses the row, or would if it were written.
  var isViolation: Bool {
    switch self {
    case .violates, .heldBy: true
    case .inTable, .awaitsParent, .deletionDeferred: false
    }
  }

  /// Whether another row has its value of a unique key.
  var isOfUniqueKey: Bool {
    switch self {
    case .violates(let code, _): SQLiteError.isUnique(code)
    case .heldBy: true
    case .inTable, .awaitsParent, .deletionDeferred: false
    }
  }

  /// The name of the record that the row waits for.
  var awaited: String? {
    switch self {
    case .awaitsParent(let name), .heldBy(let name, _): name
    case .inTable, .violates, .deletionDeferred: nil
    }
  }
}

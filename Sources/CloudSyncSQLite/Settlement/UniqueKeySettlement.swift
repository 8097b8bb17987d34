import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Settles what can be settled at once: each row takes part in one conflict at most.
struct UniqueKeySettlement: TransactionPart {
  let transaction: SyncTransaction
  private var taken: Set<RowKey> = []
  /// The rows that others went into.
  private var united: [RowKey] = []

  init(transaction: SyncTransaction) { self.transaction = transaction }

  /// Settles a row's first conflict; returns whether there was one that could be settled.
  mutating func settle(
    _ key: RowKey
  ) throws(SQLiteError) -> Bool {
    guard let row = try transaction.row(key), row.state.placement.isOfUniqueKey,
      !row.isDeleted,
      let policy = transaction.tables[row.place].uniqueKeys, let version = row.state.row
    else { return false }
    if taken.contains(key) { return true }
    let holders = try transaction.holders(of: version, for: row)
    guard let holder = holders.first else { return false }
    let other = holder.row
    if taken.contains(other.rowKey) { return true }
    guard other.state.placement == .inTable, !other.needsWrite else { return false }
    // A merge would send what is to stay here, or delete what only others have.
    let filtering = RowFiltering(transaction: transaction)
    let staysHere = [try filtering.isFiltered(row), try filtering.isFiltered(other)].contains(true)
    if staysHere { return try contend(key) }
    let isDone =
      switch policy.kind {
      case .newest: false
      case .merge: try merge(row, with: other)
      case .rename(let rename):
        try self.rename(row, besides: holders, by: rename)
      }
    if isDone || !transaction.tables[row.place].isSettled { return isDone }
    // Where that cannot be, the newer row keeps the value.
    return try contend(key)
  }

  private func contend(
    _ key: RowKey
  ) throws(SQLiteError) -> Bool {
    guard var row = try transaction.row(key) else { return false }
    switch try UniqueKeyContention(transaction: transaction).makeRoom(for: row, isFinal: true) {
    case .held(where: let placement):
      if let placement { try transaction.park(key, as: placement) }
      return false
    case .free, .later:
      row = try transaction.row(key) ?? row
      row.needsWrite = true
      transaction.keep(row)
      try transaction.writing.writeRows()
      return true
    }
  }

  // MARK: One row of two

  private mutating func merge(
    _ row: LoadedRow,
    with holder: LoadedRow
  ) throws(SQLiteError) -> Bool {
    let isKept = UTF8Bytes.order(row.key.name, holder.key.name) < 0
    let (kept, gone) = isKept ? (row, holder) : (holder, row)
    taken.formUnion([kept.rowKey, gone.rowKey])
    guard try RowUnion(transaction: transaction).unite(gone, into: kept) else { return false }
    united.append(kept.rowKey)
    return true
  }

  /// Has the rows wait that refer to a row which could not be written: another one may be in its way.
  func close() throws(SQLiteError) {
    for key in united {
      guard let row = try transaction.row(key), row.values == nil else { continue }
      try transaction.removal.takeOutChildren(of: row)
    }
    try transaction.writing.writeRows()
  }

  // MARK: Another value

  /// Gives a row another value that is older than one of those that hold its own; returns whether there is one.
  ///
  /// One that is newer than all of them gets its place first.
  private func rename(
    _ row: LoadedRow,
    besides holders: [UniqueKeyHolder],
    by rename: (UniqueKeyConflict) -> [FieldValue]?
  ) throws(SQLiteError) -> Bool {
    for holder in holders {
      if try UniqueKeyContention(transaction: transaction).outranks(row, holder: holder.row) {
        continue
      }
      guard let changes = try changes(of: row, besides: holder, by: rename) else { return false }
      if row.values != nil, try transaction.removal.evict(row.rowKey) == nil { return false }
      try transaction.edit(.settled(changes, created: .zero), of: row)
      // The next one must not get the same value.
      try transaction.writing.writeRows()
      return true
    }
    return false
  }

  /// Asks for other values until they are free.
  private func changes(
    of row: LoadedRow,
    besides holder: UniqueKeyHolder,
    by rename: (UniqueKeyConflict) -> [FieldValue]?
  ) throws(SQLiteError) -> [VersionedColumn]? {
    let table = transaction.tables[row.place]
    guard let version = row.state.row else { return nil }
    let columns = holder.search.columns
    for attempt in 1...100 {
      let question = UniqueKeyConflict(
        table: table.name,
        recordName: row.key.name,
        columns: columns,
        values: columns.map { version.value(of: $0) ?? .null },
        attempt: attempt
      )
      guard let values = rename(question), values.count == columns.count else { return nil }
      let changes = zip(columns, values)
        .filter { name, value in
          !table.key.contains(name) && ValueCodec.decode(value) != nil
            && !(version.value(of: name).map { ValueContent.areEqual($0, value) } ?? false)
        }
        .map { VersionedColumn(name: $0, value: $1, time: .zero) }
      if changes.isEmpty { return nil }
      var renamed = version
      for change in changes {
        let time = (version.clock.time(of: change.name) ?? .zero).successor
        renamed.set(VersionedColumn(name: change.name, value: change.value, time: time))
      }
      // Another key is another conflict.
      let taken = try transaction.holders(of: renamed, for: row)
      if !taken.contains(where: { $0.number == holder.number }) { return changes }
    }
    return nil
  }
}

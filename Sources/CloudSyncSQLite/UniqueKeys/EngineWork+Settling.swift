import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Two rows of which one is beside the table, because the other one holds its values of a unique key.
struct KeyConflict {
  var table: SyncTable
  /// The row beside the table, and the one that is in it.
  var shelved: RowState
  var shelvedVersion: RowVersion
  var holder: KeyHolder
}

extension EngineWork {
  /// Settles conflicts of unique keys for good where the tables' policies say how.
  ///
  /// Only when a fetch is complete: in the middle of it, values may be about to be exchanged.
  func settleUniqueKeys() throws(SQLiteError) {
    guard tables.inOrder.contains(where: { isSettled($0) }),
      try store.fact("isComplete") == .integer(1)
    else { return }
    for _ in 0..<256 {
      guard try settleOne() else { break }
      try retryShelved()
    }
    try store.setApplying(nil)
  }

  private func isSettled(_ table: SyncTable) -> Bool {
    options.table(table.name).uniqueKeys?.isNewest == false
  }

  /// Settles the first conflict that can be; returns whether there was one.
  private func settleOne() throws(SQLiteError) -> Bool {
    for row in try store.shelvedRows() where row.shelfCode.map(Refusal.isUnique) == true {
      guard row.payload == nil, let table = tables.byID[row.table], isSettled(table),
        let policy = options.table(table.name).uniqueKeys, let whole = shelfVersion(of: row),
        let holder = try holders(of: whole, row, table)?.first, holder.row.payload == nil
      else { continue }
      let conflict = KeyConflict(
        table: table,
        shelved: row,
        shelvedVersion: whole,
        holder: holder
      )
      switch policy.kind {
      case .newest: continue
      case .merge: if try mergeRows(of: conflict) { return true }
      case .rename(let rename): if try renameRow(of: conflict, rename) { return true }
      }
      // Where that cannot be, the newer row keeps the value.
      if try arbitrate(incoming(row, whole, table), row, whole, isFinal: true) { return true }
    }
    return false
  }

  // MARK: Renaming

  /// Gives the older row another value; returns whether it has one.
  private func renameRow(
    of conflict: KeyConflict,
    _ rename: (UniqueKeyConflict) -> [FieldValue]?
  ) throws(SQLiteError) -> Bool {
    let (table, holder) = (conflict.table, conflict.holder)
    let own = rank(of: conflict.shelved, table, conflict.shelvedVersion)
    if own < holder.rank {
      return try self.rename(conflict.shelved, conflict.shelvedVersion, holder, table, rename)
    }
    return try undoingRefusals { () throws(SQLiteError) in
      let why = Refusal(code: 2_067, reason: "\(described(holder.row, table)) gets another value")
      guard try takeOut(holder.row, table, why),
        try store(conflict.shelvedVersion, [], conflict.shelved, table),
        let out = try store.row(holder.row.table, holder.row.key),
        try self.rename(out, holder.version, holder, table, rename)
      else { throw SQLiteError(code: Int32(why.code), message: why.reason) }
    }
  }

  /// Asks for other values until they are free; returns whether there are any.
  private func rename(
    _ row: RowState,
    _ version: RowVersion,
    _ holder: KeyHolder,
    _ table: SyncTable,
    _ rename: (UniqueKeyConflict) -> [FieldValue]?
  ) throws(SQLiteError) -> Bool {
    let columns = holder.search.columns
    for attempt in 1...100 {
      let question = UniqueKeyConflict(
        table: table.name,
        recordName: row.recordName,
        columns: columns,
        values: columns.map { version[$0]?.value ?? .null },
        attempt: attempt
      )
      guard let values = rename(question), values.count == columns.count else { return false }
      var renamed = version
      var edits: [RowState.Edit] = []
      for (name, value) in zip(columns, values) {
        guard !table.schema.primaryKey.contains(name), ValueCodec.decode(value) != nil,
          version[name].map({ !ValueContent.areEqual($0.value, value) }) ?? true
        else { continue }
        // Every device must make the same edit, older than any of a user's that may follow.
        let time = (version[name]?.time ?? .zero).successor
        renamed[name] = VersionedColumn(name: name, value: value, time: time)
        edits.append(RowState.Edit(column: name, time: time))
      }
      if edits.isEmpty { return false }
      // Another key is another conflict.
      guard let taken = try holders(of: renamed, row, table),
        !taken.contains(where: { $0.number == holder.number })
      else { continue }
      _ = try store(renamed, edits, row, table)
      return true
    }
    return false
  }

  private func incoming(
    _ row: RowState,
    _ whole: RowVersion,
    _ table: SyncTable
  ) throws(SQLiteError) -> Incoming {
    let record = table.layout.record(whole, recordID: recordID(row.recordName))
    let key = try table.keyValues(of: row.key, in: connection)
    let one = Incoming(record, of: table, row, key: key, isNew: false)
    one.version = whole
    one.isMerged = true
    return one
  }

  /// Makes a row into what it is to be, by edits of the engine's own; returns whether it is stored.
  func store(
    _ whole: RowVersion,
    _ edits: [RowState.Edit],
    _ row: RowState,
    _ table: SyncTable
  ) throws(SQLiteError) -> Bool {
    var row = row
    row.add(edits)
    if !edits.isEmpty { row.dirty = row.dirty ?? 0 }
    let key = try table.keyValues(of: row.key, in: connection)
    let values = try rows(of: table).values(of: key)
    if let parent = try missingParent(of: incoming(row, whole, table), []) {
      try shelve(&row, table, whole, nil)
      row.waitsFor = parent
      try store.save(row)
      return false
    }
    let refusal = try attempt(table, row, key, values, whole.columns)
    guard let refusal else {
      row.unshelve()
      try store.save(row)
      try apply(children(waitingFor: row.recordName))
      return true
    }
    try shelve(&row, table, whole, refusal)
    try store.save(row)
    return false
  }
}

extension RowState {
  /// Notes columns as edited at their times.
  mutating func add(_ more: [Edit]) {
    for edit in more {
      edits.removeAll { $0.column == edit.column }
      edits.append(edit)
    }
    edits.sort { ($0.column ?? "") < ($1.column ?? "") }
  }
}

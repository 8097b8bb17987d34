import CloudSyncCore
import CloudSyncSQLiteSupport

/// What was captured, as it happens to the rows of a transaction.
struct CapturedEdits: TransactionPart {
  let transaction: SyncTransaction

  /// Reads the outbox to its end.
  func read() throws(SQLiteError) {
    let outbox = transaction.outbox
    // Every transaction looks here, and most find nothing.
    if try outbox.isEmpty() { return }
    let cascades = try CapturedCascades(outbox, in: tables)
    let moves = try CapturedMoves(outbox, cascades, in: transaction)
    var rows: [CapturedRow] = []
    try outbox.readAll(cascades: cascades.columns) { rows += $0.rows }
    var lives = ReferenceLives(transaction: transaction)
    for var row in rows {
      guard let place = tables.place(ofID: row.table) else { continue }
      moves.settle(&row, in: tables[place])
      if !row.edits.isEmpty { try take(row, going: moves, referring: &lives, in: place) }
    }
    try lives.noteReferences()
  }

  private func take(
    _ row: CapturedRow,
    going moves: CapturedMoves,
    referring lives: inout ReferenceLives,
    in place: Int
  ) throws(SQLiteError) {
    let table = tables[place]
    let key = table.format.key(spelled: row.key)
    if moves.isPassed(key, in: table), try self.row(key, in: place).state.row == nil { return }
    try find(key, in: place, before: row.edits)
    try UnseenEdits(transaction: transaction).takeCounters(of: key, in: place, before: row.edits)
    try completeCounters(of: key, in: place, before: row.edits)
    try transaction.noteFormerKeys(of: key, in: place, before: row.edits)
    lives.begin(try self.row(key, in: place))
    var captured = try self.row(key, in: place)
    captured.isCaptured = true
    captured.endsMismatched = row.endsMismatched
    keep(captured)
    // A row that is known moves with its life; those that were made since the last time are known after that.
    let own = moves.moves(of: key, in: table)
    let present = captured.state.row?.clock
    let known = own.filter { move in present.map { move.ends(lifeOf: $0) } ?? false }
    if !known.isEmpty { try reduce(.renamed(known), of: key, in: place) }
    for edit in try beside(row.edits, of: captured) {
      // Where a life ends because its row gets another key, nobody has deleted one. A former life that is still there was
      // deleted before the one that moves began.
      if let move = own.first(where: { $0.isEnd(edit) }),
        try reduce(.edited(.renamed([move])), of: key, in: place).isDeleted
      {
        continue
      }
      try reduce(edit, of: key, in: place)
    }
    if !own.isEmpty { try reduce(.renamed(own), of: key, in: place) }
    transaction.touched.insert(place)
    transaction.freed.insert(table.rowKey(of: key))
  }

  private func reduce(
    _ edit: RowEdit,
    of key: RecordKey,
    in place: Int
  ) throws(SQLiteError) {
    let row = try row(key, in: place)
    let table = tables[place]
    // What SQLite has done by itself is no edit.
    if case .updated(_, let time) = edit, time > .zero, case .violates = row.state.placement,
      row.isDeleted, let values = row.values
    {
      // It was to be gone and could not go: who edits it makes it anew, whole.
      try reduce(.edited(.inserted(table.edits(of: values), at: time)), of: key, in: place)
    } else {
      try reduce(.edited(edit), of: key, in: place)
    }
  }

  /// Edits as they are beside what others have in columns that the table has just got, and whose values it does not have yet:
  /// whoever has edited there has not seen them.
  private func beside(_ edits: [RowEdit], of row: LoadedRow) throws(SQLiteError) -> [RowEdit] {
    let counters = try transaction.addedCounters(of: tables[row.place].id)
    if counters.isEmpty, row.unwrittenColumns.isEmpty { return edits }
    return edits.map { beside($0, of: row, counters: counters) }
  }

  private func beside(_ edit: RowEdit, of row: LoadedRow, counters: Set<String>) -> RowEdit {
    guard case .updated(var changes, let time) = edit else { return edit }
    let table = tables[row.place]
    for place in changes.indices {
      let change = changes[place]
      if counters.contains(change.name) {
        // Nobody has counted in the table.
        if change.former == .null { changes[place].former = .int64(0) }
        continue
      }
      guard row.unwrittenColumns.contains(where: { UTF8Bytes.equal($0, change.name) }),
        table.rules.looksAtValues(of: change.name), let kept = row.state.row?[change.name]
      else { continue }
      changes[place].value = table.rules.policy.policy(for: change.name)
        .merge(
          ColumnConflict(
            column: change.name,
            ancestor: nil,
            local: change.value,
            localTime: time,
            server: kept.value,
            serverTime: kept.time
          )
        )
    }
    return .updated(changes, at: time)
  }

  /// Takes what counters held that a row's table has just got, before they were edited: nobody else need have counted.
  private func completeCounters(
    of key: RecordKey,
    in place: Int,
    before edits: [RowEdit]
  ) throws(SQLiteError) {
    let table = tables[place]
    if try transaction.addedCounters(of: table.id).isEmpty { return }
    var row = try row(key, in: place)
    if row.complete(in: table, before: edits) { keep(row) }
  }

  /// Finds a row that was there before anybody looked, and has been edited: its edits do not wait for that.
  ///
  /// In a copy of a file so does one that was made in the other file and deleted in this one.
  private func find(
    _ key: RecordKey,
    in place: Int,
    before edits: [RowEdit]
  ) throws(SQLiteError) {
    let table = tables[place]
    switch edits.first {
    case .inserted, .moved: return
    default: break
    }
    let isSought = try facts.unreconciledTables().contains(table.id)
    guard transaction.isCopied || isSought else { return }
    let row = try row(key, in: place)
    guard row.state.row == nil else { return }
    let columns = row.columns(before: edits, in: table)
    try reduce(.edited(.found(columns)), of: key, in: place)
  }
}

extension RowMove {
  /// Whether an edit is how the end of the life was captured.
  fileprivate func isEnd(_ edit: RowEdit) -> Bool {
    if case .deleted(_, time) = edit { true } else { false }
  }
}

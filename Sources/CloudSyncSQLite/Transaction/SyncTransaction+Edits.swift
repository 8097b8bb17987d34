import CloudSyncCore
import CloudSyncSQLiteSupport

extension SyncTransaction {
  var outbox: CapturedEditReader {
    CapturedEditReader(
      connection: connection,
      tables: tables.captured,
      encoding: { [tables] captured in
        let table = tables.place(ofID: captured.id).map { tables[$0] }
        return { table?.fieldValue($1, at: $0) ?? .null }
      }
    )
  }

  /// Reads the outbox to its end: what was captured of the transaction's tables happens to their rows.
  ///
  /// Rows that have gone without enforcement are settled when the transaction finishes.
  func readEdits() throws(SQLiteError) {
    hasUnsettledEdits = hasUnsettledEdits || !tables.links.isEmpty
    let outbox = outbox
    // Every transaction looks here, and most find nothing.
    if try outbox.isEmpty() { return }
    let cascades = try CapturedCascades(outbox, in: tables)
    let moves = try CapturedMoves(outbox, cascades, in: self)
    var rows: [CapturedRow] = []
    try outbox.readAll(cascades: cascades.columns) { rows += $0.rows }
    var lives = ReferenceLives(transaction: self)
    for var row in rows {
      guard let place = tables.place(ofID: row.table) else { continue }
      moves.settle(&row, in: tables[place])
      let key = tables[place].format.key(spelled: row.key)
      if row.edits.isEmpty { continue }
      if moves.isPassed(key, in: tables[place]), try self.row(key, in: place).state.row == nil {
        continue
      }
      try find(key, in: place, before: row.edits)
      try UnseenEdits(transaction: self).takeCounters(of: key, in: place, before: row.edits)
      try noteFormerKeys(of: key, in: place, before: row.edits)
      lives.begin(try self.row(key, in: place))
      var captured = try self.row(key, in: place)
      captured.isCaptured = true
      captured.endsMismatched = row.endsMismatched
      keep(captured)
      // A row that is known moves with its former life; one that was made since the last time is known after that.
      let own = moves.moves(of: key, in: tables[place])
      if !own.isEmpty { try reduce(.renamed(own), of: key, in: place) }
      for edit in row.edits { try reduce(edit, of: key, in: place) }
      if !own.isEmpty { try reduce(.renamed(own), of: key, in: place) }
      touched.insert(place)
      freed.insert(tables[place].rowKey(of: key))
    }
    try lives.noteReferences()
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
    guard isCopied || isSought else { return }
    let row = try row(key, in: place)
    guard row.state.row == nil else { return }
    let columns = row.columns(before: edits, in: table)
    try reduce(.edited(.found(columns)), of: key, in: place)
  }

  /// A time for what is found to have happened, later than all that was seen.
  func nextTime() throws(SQLiteError) -> HybridTime {
    let last = HybridTime(rawValue: try connection.integer("SELECT last FROM cloudsync_clock"))
    let time = HybridTime.next(after: max(last, latest), now: now)
    try outbox.see(time)
    return time
  }

  /// Notes the times that were seen, so that whatever is edited from now on is later.
  func noteTimes() throws(SQLiteError) {
    if latest > .zero { try outbox.see(latest) }
  }
}

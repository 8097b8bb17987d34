import CloudSyncCore
import CloudSyncSQLiteSupport

extension SyncTransaction {
  // MARK: What was captured

  var outbox: CapturedEditReader {
    CapturedEditReader(
      connection: connection,
      tables: tables.captured,
      encoding: { [tables] captured in
        let table = tables.place(ofID: captured.id).map { tables[$0] }
        return { table?.fieldValue($1, at: $0, isGone: $2) ?? .null }
      }
    )
  }

  /// Reads the outbox to its end: what was captured of the transaction's tables happens to their rows.
  ///
  /// Rows that have gone without enforcement are settled when the transaction finishes.
  func readEdits() throws(SQLiteError) {
    hasUnsettledEdits = hasUnsettledEdits || !tables.links.isEmpty
    try CapturedEdits(transaction: self).read()
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

  // MARK: What is written

  /// Writes a row so that it is not captured; what follows from it is.
  func withoutCapture<Value>(
    of row: LoadedRow,
    _ body: () throws(SQLiteError) -> Value
  ) throws(SQLiteError) -> Value {
    try beginWriting()
    return try CaptureSuppression(connection: connection)
      .withoutCapture(
        ofRowsOf: tables[row.place].captured,
        from: row.key.values,
        mapping: { $0 }
      ) { (_) throws(SQLiteError) in try body() }
  }

  /// Lets the app's triggers see that it is the engine that writes, until the transaction's end.
  private func beginWriting() throws(SQLiteError) {
    if isWriting { return }
    isWriting = true
    try LeftOutRows(transaction: self).begin()
    // Rows may refer to each other in a circle, or to a row that comes later: SQLite looks at that in the end.
    try connection.execute("PRAGMA defer_foreign_keys = ON")
    try CaptureSuppression(connection: connection).setSynchronizing(true)
  }

  /// Lets them see that it is not any more.
  func endWriting() throws(SQLiteError) {
    guard isWriting else { return }
    isWriting = false
    try CaptureSuppression(connection: connection).setSynchronizing(false)
    try LeftOutRows(transaction: self).settle()
  }
}

extension SyncTransaction {
  /// Notes what has become of a row since it was read.
  func noteChange(of row: LoadedRow) {
    guard changed != nil else { return }
    let kind: RowChanges.Kind
    switch (row.formerValues, row.values) {
    case (nil, nil): return
    case (nil, _): kind = .inserted
    case (_, nil): kind = .deleted
    case (let former?, let present?):
      if former == present { return }
      kind = .updated
    }
    noteChange(kind, of: row.rowKey, values: row.values ?? row.formerValues, in: tables[row.place])
  }

  /// Notes a change of a row, by the values of its columns.
  func noteChange(
    _ kind: RowChanges.Kind,
    of row: RowKey,
    values: [SQLiteValue]?,
    in table: RecordTable
  ) {
    guard changed != nil, let values else { return }
    let key = table.key.map { table.transport.keyValue(table.value(of: $0, in: values) ?? .null) }
    changed?.note(kind, of: row, key: key, in: table.name)
  }

  /// Notes the rows that have followed others: triggers have captured them, since the outbox was read to its end.
  func noteEchoes() throws(SQLiteError) {
    guard changed != nil, try outbox.isEmpty() == false else { return }
    let layout = try OutboxLayout(connection)
    let query = try connection.statement(layout.query)
    query.bind(try outbox.startOfEdits(), at: 1)
    try query.forEachRow { () throws(SQLiteError) in
      guard let place = tables.place(ofID: query.integer(2)) else { return }
      let table = tables[place]
      guard let edit = layout.edit(in: query, of: table.captured, at: .zero) else { return }
      let kind: RowChanges.Kind
      switch edit.change {
      case .inserted: kind = .inserted
      case .deleted: kind = .deleted
      case .updated: kind = .updated
      case .replaced:
        if try table.rows(on: connection).hasRow(edit.key) { return }
        kind = .deleted
      case .mismatched, .impending: return
      }
      let rowKey = table.rowKey(of: table.format.key(spelled: edit.key))
      let key = edit.key.map { table.transport.keyValue($0) }
      changed?.noteEcho(kind, of: rowKey, key: key, in: table.name)
    }
  }
}

extension ValueTransport {
  /// A value of a key: whatever its size, it travels in the record's name.
  func keyValue(_ value: SQLiteValue) -> FieldValue {
    if case .field(let field) = ValueCodec.encode(value, assetThreshold: .max) { return field }
    return .null
  }
}

/// What the engine's own writes do to rows of tables that it leaves out, by their foreign keys.
///
/// Nobody has edited them: the cloud may have other parents for them since. Whoever takes the tables up again has
/// their rows from there.
struct LeftOutRows: TransactionPart {
  let transaction: SyncTransaction

  private var followers: [LeftOutTable] { tables.leftOut.filter { !$0.followed.isEmpty } }

  /// Notes where the outbox ends before the engine writes.
  func begin() throws(SQLiteError) {
    if followers.isEmpty { return }
    transaction.outboxEnd = try connection.integer(
      "SELECT ifnull(max(id), 0) FROM cloudsync_outbox"
    )
  }

  /// Takes what was captured of that since out of the outbox; what the app's triggers have written there stays.
  func settle() throws(SQLiteError) {
    guard let end = transaction.outboxEnd else { return }
    transaction.outboxEnd = nil
    let query =
      try connection.fixedStatement(
        "SELECT id, table_id, change FROM cloudsync_outbox WHERE id > ?1 ORDER BY id"
      )
      .bind(end, at: 1)
    let captured = try query.mapRows { query in
      (id: query.integer(0), table: query.integer(1), change: query.value(2))
    }
    var changed: Set<Int64> = []
    // A row that gets another key is captured as one that goes and one that comes.
    var renamed: Int64?
    for one in captured {
      guard let table = followers.first(where: { $0.id == one.table }) else { continue }
      let isArrival = renamed == one.table && one.change == .integer(-1)
      renamed = one.change == .integer(CapturedEdit.Change.renaming) ? one.table : nil
      guard isArrival || isFollowing(one.change, in: table) else { continue }
      try connection.fixedStatement("DELETE FROM cloudsync_outbox WHERE id = ?1")
        .bind(one.id, at: 1).run()
      changed.insert(one.table)
    }
    if changed.isEmpty { return }
    // Their numbers are given again, and what has them then was not read.
    try connection.fixedStatement(
      "UPDATE cloudsync_clock SET left_until = min(left_until, ?1)"
    )
    .bind(end, at: 1).run()
    try facts.noteOverwritten(changed.sorted())
  }

  /// Whether a change is one that SQLite makes with that of a parent.
  private func isFollowing(_ change: SQLiteValue, in table: LeftOutTable) -> Bool {
    switch CapturedEdit.Change(change) {
    case .deleted, .mismatched, .impending: true
    case .updated(let bits): bits.isOnly(of: table.followed)
    case .inserted, .replaced, nil: false
    }
  }
}

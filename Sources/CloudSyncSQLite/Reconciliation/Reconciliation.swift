import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Compares tables with what is known of their rows, where edits may have gone uncaptured.
///
/// A row of which nothing is known was there before, or was inserted unseen; one that is known and not there was
/// deleted; and of one whose digest is another one the cloud's record tells, when everything is fetched, which
/// columns were changed. It is done in parts, after everything was fetched: what was there before gives
/// way to what the cloud has.
struct Reconciliation: TransactionPart {
  let transaction: SyncTransaction

  /// Where comparing has come.
  struct Position: Sendable, Hashable {
    /// The number of the table.
    var table: Int64
    /// The key of the last row that was compared, as the engine's tables have it; nil if none was.
    var key: SQLiteValue?
    /// Whether there is no row after it.
    var isEnd = false
  }

  /// A row of which nothing is known.
  struct Found {
    /// The place of its table.
    let place: Int
    let key: RecordKey
    let values: [SQLiteValue]
  }

  /// What becomes of a row of which nothing is known.
  enum Adoption {
    /// It is remembered as pending.
    case adopted
    /// It was sent: what is known of it is stored with the answer.
    case sent
    /// It is looked at later, and so are all after it.
    case postponed
  }

  /// Compares some rows of the next table, all of which are adopted; returns whether there may be more.
  func step(limit: Int) throws(SQLiteError) -> Bool {
    guard let start = try position() else { return false }
    let end = try compare(from: start, limit: limit) { (_) throws(SQLiteError) in
      .adopted
    }
    if !end.isEnd { try facts.set(.reconciledTo, to: end.key) }
    return end.isEnd ? try finish(end.table) : true
  }

  /// Where comparing goes on; nil if there is nothing to compare.
  func position() throws(SQLiteError) -> Position? {
    let requested = try facts.unreconciledTables()
    // Parents first, since rows may be sent as they are found.
    let table = transaction.tables.inOrder.first { requested.contains($0.id) }
    guard let id = table?.id ?? requested.first else { return nil }
    return Position(table: id, key: try facts.value(.reconciledTo))
  }

  /// Keeps how far a table was compared: all rows up to there are known or pending.
  func keep(_ position: Position) throws(SQLiteError) {
    if let key = position.key { try facts.set(.reconciledTo, to: key) }
  }

  /// Compares rows of a table, in the order of its key.
  ///
  /// - Parameters:
  ///   - start: Where it begins.
  ///   - limit: How many rows at most.
  ///   - adopt: Says what becomes of rows of which nothing is known.
  /// - Returns: Where it has come.
  /// - Throws: SQLite's reason.
  func compare(
    from start: Position,
    limit: Int,
    _ adopt: (Found) throws(SQLiteError) -> Adoption
  ) throws(SQLiteError) -> Position {
    var position = start
    guard let place = transaction.tables.place(ofID: start.table) else {
      position.isEnd = true
      return position
    }
    let table = transaction.tables[place]
    let query = try rows(of: table, after: start.key, limit: limit)
    defer { query.reset() }
    var count = 0
    var last: ComparedRow?
    var isPostponed = false
    while try query.step() {
      let row = ComparedRow(query, table)
      if !row.isClean {
        let key = table.key(ofRow: row.values)
        let rowKey = table.rowKey(of: key)
        var adoption = Adoption.adopted
        if row.isUnknown, try isUnknown(rowKey, of: table) {
          adoption = try adopt(Found(place: place, key: key, values: row.values))
        }
        isPostponed = adoption == .postponed
        if isPostponed { break }
        if adoption == .adopted { try compare(key, in: place) }
      }
      count += 1
      last = row
    }
    if let last { position.key = table.rowKey(table.key(ofRow: last.values)) }
    position.isEnd = !isPostponed && count < limit
    return position
  }

  /// Ends comparing a table all of whose rows are known or pending now; returns whether there are others.
  func finish(
    _ id: Int64
  ) throws(SQLiteError) -> Bool {
    // Rows are counted as they are stored.
    try transaction.finish()
    if let place = transaction.tables.place(ofID: id) { try noteMissing(in: place) }
    try FormerColumns(connection: connection).forget(table: id)
    try FormerTypes(connection: connection).forget(table: id)
    try AddedCounters(connection: connection).forget(table: id)
    return try facts.endReconciliation(of: id)
  }

  /// Whether nothing is known of a row that SQL has found nothing of: it makes another text of some keys of several
  /// columns.
  private func isUnknown(
    _ key: RowKey,
    of table: RecordTable
  ) throws(SQLiteError) -> Bool {
    if transaction.rows[key] != nil { return false }
    if table.key.count == 1 { return true }
    if try PendingRows(connection: connection).hasRow(key) { return false }
    return try KnownRows(connection: connection).row(key) == nil
  }

  /// The rows of a table after a key, in the key's order, each with what is known of it: all is read in one pass.
  private func rows(
    of table: RecordTable,
    after last: SQLiteValue?,
    limit: Int
  ) throws(SQLiteError) -> SQLiteStatement {
    let key = table.captured.key
    let rowKey = table.captured.lookedUpKey("t")
    let names =
      key
      .map { column in
        let collation = table.schema.hasIntegerKey ? "" : " COLLATE \(column.collation.rawValue)"
        return "t.\(column.name.quotedName)\(collation)"
      }
      .joined(separator: ", ")
    var conditions = table.captured.hasKey("t").map { [$0] } ?? []
    if last != nil {
      let marks = key.indices.map { "?\($0 + 3)" }.joined(separator: ", ")
      conditions.append(key.count == 1 ? "\(names) > \(marks)" : "(\(names)) > (\(marks))")
    }
    let filter = conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ")
    let columns = table.columns.map { "t.\($0.quotedName)" }.joined(separator: ", ")
    let query = try connection.statement(
      """
      SELECT \(columns), k.digest, k.clock, k.rest IS NULL, p.table_id IS NULL
      FROM main.\(table.name.quotedName) t
        LEFT JOIN cloudsync_known k ON k.table_id = ?1 AND k.key = \(rowKey)
        LEFT JOIN cloudsync_pending p ON p.table_id = ?1 AND p.key = \(rowKey)
      \(filter) ORDER BY \(names) LIMIT ?2
      """
    )
    query.bind(table.id, at: 1).bind(Int64(limit), at: 2)
    if let last {
      let values = try table.key(last).values
      for (place, value) in values.enumerated() { query.bind(value, at: Int32(place + 3)) }
    }
    return query
  }

  private func compare(
    _ key: RecordKey,
    in place: Int
  ) throws(SQLiteError) {
    let table = transaction.tables[place]
    var row = try transaction.row(key, in: place)
    guard let values = row.values else { return }
    if row.state.row == nil {
      try transaction.reduce(.edited(.found(table.edits(of: values))), of: key, in: place)
    } else if row.isDeleted, row.state.placement == .inTable, !row.needsWrite {
      // It was inserted unseen, after the deletion.
      let edit = RowEdit.inserted(table.edits(of: values), at: try transaction.nextTime())
      try transaction.reduce(.edited(edit), of: key, in: place)
    } else {
      try UnseenEdits(transaction: transaction).takeCounters(of: key, in: place)
      row = try transaction.row(key, in: place)
      row.complete(in: table)
      transaction.keep(row)
      if row.source == .known, !row.needsWrite,
        let known = try KnownRows(connection: connection).row(row.rowKey),
        known.digest != table.digest(of: values)
      {
        try facts.set(.fetchAll, to: .integer(FullFetch.sweeps.rawValue))
      }
    }
  }

  /// Takes the rows that are known to be in the table, and are not, as deleted.
  private func noteMissing(
    in place: Int
  ) throws(SQLiteError) {
    let table = transaction.tables[place]
    if try isComplete(in: table) { return }
    let key = CompoundKey.sql(of: table.captured.key, in: "t")
    let query =
      try connection.statement(
        "SELECT key FROM cloudsync_known WHERE table_id = ?1"
          + " UNION ALL SELECT key FROM cloudsync_pending WHERE table_id = ?1 AND NOT is_tombstone"
          + " EXCEPT SELECT \(key) FROM main.\(table.name.quotedName) t ORDER BY 1"
      )
      .bind(table.id, at: 1)
    let missing = try query.mapRows { $0.value(0) }
    for rowKey in missing {
      let row = try transaction.row(try table.key(rowKey), in: place)
      if row.isLost { try UnseenEdits(transaction: transaction).end(lost: row) }
    }
  }

  /// Whether a table has as many rows as are known and pending: since each of its rows is one of these, none is
  /// missing then.
  private func isComplete(in table: RecordTable) throws(SQLiteError) -> Bool {
    let filter = table.captured.hasKey("t").map { " WHERE \($0)" } ?? ""
    let query =
      try connection.statement(
        """
        SELECT (SELECT count(*) FROM main.\(table.name.quotedName) t\(filter))
          >= (SELECT count(*) FROM cloudsync_known WHERE table_id = ?1)
          + (SELECT count(*) FROM cloudsync_pending WHERE table_id = ?1 AND NOT is_tombstone)
        """
      )
      .bind(table.id, at: 1)
    defer { query.reset() }
    return try query.step() && query.integer(0) == 1
  }
}

/// A row of a table, with what is known of it.
private struct ComparedRow {
  let values: [SQLiteValue]
  /// Whether the cloud has it as it is here, with all its columns.
  let isClean: Bool
  /// Whether nothing is known of it.
  let isUnknown: Bool

  init(_ query: SQLiteStatement, _ table: RecordTable) {
    let count = Int32(table.columns.count)
    values = (0..<count).map { query.value($0) }
    let isKnown = !query.isNull(count)
    let isSettled = query.integer(count + 3) == 1
    isUnknown = !isKnown && isSettled
    isClean =
      isKnown && isSettled && query.integer(count + 2) == 1
      && query.integer(count) == table.digest(of: values)
      && table.format.plainClock.hasAllColumns(in: query.bytes(count + 1))
  }
}

extension SyncTransaction {
  /// Asks for all tables to be compared, when everything was fetched.
  func requestReconciliation() throws(SQLiteError) {
    for table in tables.inOrder { try facts.requestReconciliation(ofRebuilt: table.id) }
  }
}

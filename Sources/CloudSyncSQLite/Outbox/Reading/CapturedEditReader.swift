import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// A row that was edited.
struct CapturedRow: Sendable, Hashable {
  var table: Int64
  /// Its key as the table spells it now, or as it did last.
  var key: [SQLiteValue]
  var edits: [RowEdit]
  /// Whether it was one of those that are not sent when it was deleted last; nil if it was not deleted, or nobody looked.
  var endsMismatched: Bool?
}

/// What was read from the outbox, and is removed when it is stored elsewhere.
struct CapturedBatch: Sendable {
  /// In the order of their first edits.
  var rows: [CapturedRow] = []
  /// How many edits were read.
  var count = 0
  /// Whether the outbox was read to its end.
  var isLast = false
  /// The time of the last edit, or of what was seen before.
  var time: HybridTime
  /// Whether there was any edit to look at.
  fileprivate var isEmpty = true
  /// The last edit that was looked at.
  fileprivate var end: Int64
  /// The last edit that stays where it is.
  fileprivate var leftUntil: Int64
}

/// Reads captured edits, and leaves those of tables that this engine does not synchronize where they are.
///
/// All of it belongs into one transaction that writes. Nothing may be done after a batch that looks
/// at tables, until the outbox was read to its end: a row may have been edited again since.
struct CapturedEditReader {
  /// The tables whose edits are read.
  struct Tables: Sendable {
    /// By their numbers.
    fileprivate let byID: [Int64: CapturedTable]
    /// Their numbers, as SQL.
    fileprivate let ids: String

    init(_ tables: [CapturedTable]) {
      byID = Dictionary(tables.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
      ids = byID.keys.sorted().map { "\($0)" }.joined(separator: ", ")
    }
  }

  let connection: SQLiteConnection
  private let tables: Tables
  /// How values of a table's columns travel.
  private let encoding: (CapturedTable) -> EditFolding.Encoding
  private var ids: String { tables.ids }

  init(
    connection: SQLiteConnection,
    tables: Tables,
    encoding: @escaping (CapturedTable) -> EditFolding.Encoding
  ) {
    self.connection = connection
    self.tables = tables
    self.encoding = encoding
  }

  /// Whether nothing was captured, of whatever table, since it was read last.
  func isEmpty() throws(SQLiteError) -> Bool {
    let search = try connection.statement(
      "SELECT 1 FROM main.cloudsync_outbox WHERE id > \(start) LIMIT 1"
    )
    defer { search.reset() }
    return try search.step() == false
  }

  /// Reads the oldest edits, at most so many.
  ///
  /// - Parameters:
  ///   - limit: How many at most.
  ///   - consequences: The numbers of deletions that follow from those of rows which are not sent.
  ///   - cascades: The columns that SQLite has set, by the numbers of the edits.
  /// - Returns: What they come to.
  /// - Throws: SQLite's reason.
  func readBatch(
    limit: Int,
    consequences: Set<Int64> = [],
    cascades: [Int64: Set<String>] = [:]
  ) throws(SQLiteError) -> CapturedBatch {
    let (edits, batch) = try edits(limit: limit)
    var result = batch
    var places: [RowIdentity: Int] = [:]
    var rows: [[CapturedEdit]] = []
    for var edit in edits {
      guard let table = tables.byID[edit.table] else { continue }
      edit.followsMismatching = consequences.contains(edit.id)
      edit.cascadedColumns = cascades[edit.id] ?? []
      let row = RowIdentity(table: edit.table, key: table.identity(of: edit.key))
      if let place = places[row] {
        rows[place].append(edit)
      } else {
        places[row] = rows.count
        rows.append([edit])
      }
    }
    // Every transaction looks here, and most find no edit, or edits of few tables.
    var readers: [Int64: CapturedRows] = [:]
    for edits in rows {
      guard let id = edits.first?.table, let table = tables.byID[id] else { continue }
      let reader = readers[id] ?? self.rows(of: table)
      readers[id] = reader
      if let row = try reader.row(of: edits) { result.rows.append(row) }
    }
    return result
  }

  private func rows(of table: CapturedTable) -> CapturedRows {
    let folding = EditFolding(table: table, encode: encoding(table))
    return CapturedRows(table: table, folding: folding, connection: connection)
  }

  /// Removes what was read, and notes the time.
  func remove(_ batch: CapturedBatch) throws(SQLiteError) {
    // A transaction that finds nothing writes nothing.
    if batch.isEmpty { return }
    try connection.statement(
      "DELETE FROM main.cloudsync_outbox WHERE id > \(start) AND id <= ?1 AND table_id IN (\(ids))"
    )
    .bind(batch.end, at: 1).run()
    try connection.fixedStatement(
      "UPDATE main.cloudsync_clock SET last = max(last, ?1), left_until = ?2, left_for = ?3"
    )
    .bind(batch.time.rawValue, at: 1).bind(batch.leftUntil, at: 2).bind(ids, at: 3).run()
  }

  /// Notes a time that was seen: whatever is edited from now on is later.
  func see(_ time: HybridTime) throws(SQLiteError) {
    try connection.fixedStatement("UPDATE main.cloudsync_clock SET last = max(last, ?1)")
      .bind(time.rawValue, at: 1).run()
  }

  /// Reads all edits, in one batch unless there is a limit, and removes each batch after it was taken.
  ///
  /// What has become of a row whose key was changed is told by all its edits together: where a batch ended between them, an
  /// edit of the row that has the key now was taken for one of the row that had it before.
  func readAll(
    limit: Int = .max,
    cascades: [Int64: Set<String>] = [:],
    _ take: (CapturedBatch) throws(SQLiteError) -> Void
  ) throws(SQLiteError) {
    let consequences = try consequences()
    while true {
      let batch = try readBatch(limit: limit, consequences: consequences, cascades: cascades)
      try take(batch)
      try remove(batch)
      if batch.isLast { return }
    }
  }

  /// Tells of all edits in their order, with the times that they get, and leaves them where they are; of none if no key
  /// was changed.
  func walkIfRenamed(_ visit: (CapturedEdit) throws(SQLiteError) -> Void) throws(SQLiteError) {
    let renaming = CapturedEdit.Change.renaming
    let search = try connection.statement(
      "SELECT 1 FROM main.cloudsync_outbox WHERE id > \(start) AND change = \(renaming)"
        + " AND table_id IN (\(ids)) LIMIT 1"
    )
    let isRenamed = try search.step()
    search.reset()
    if isRenamed { try walk(visit) }
  }

  /// Whether anything was captured that SQLite may have had write references by itself.
  func hasAnnouncement() throws(SQLiteError) -> Bool {
    let search = try connection.statement(
      "SELECT 1 FROM main.cloudsync_outbox WHERE id > \(start)"
        + " AND change = \(CapturedEdit.Change.announcing) AND table_id IN (\(ids)) LIMIT 1"
    )
    defer { search.reset() }
    return try search.step()
  }

  /// Tells of all edits in their order, with the times that they get, and leaves them where they are.
  func walk(_ visit: (CapturedEdit) throws(SQLiteError) -> Void) throws(SQLiteError) {
    let clock = try clock()
    defer { clock.reset() }
    guard try clock.step() else { return }
    var time = HybridTime(rawValue: clock.integer(0))
    let layout = try OutboxLayout(connection)
    let query = try connection.statement(layout.query).bind(clock.integer(1), at: 1)
    try query.forEachRow { () throws(SQLiteError) in
      let (own, isNew) = layout.time(in: query, after: time)
      if isNew { time = own }
      guard let table = tables.byID[query.integer(2)],
        let edit = layout.edit(in: query, of: table, at: own)
      else { return }
      try visit(edit)
    }
  }

  /// The numbers of the deletions that follow from those of rows which are not sent: SQLite captures them between the note
  /// before such a deletion and the deletion itself.
  private func consequences() throws(SQLiteError) -> Set<Int64> {
    let mark = CapturedEdit.Change.mismatching
    let search = try connection.statement(
      "SELECT 1 FROM main.cloudsync_outbox WHERE id > \(start) AND change = \(mark) LIMIT 1"
    )
    defer { search.reset() }
    guard try search.step() else { return [] }
    var found = ConsequenceSearch()
    let layout = try OutboxLayout(connection)
    let query = try connection.statement(layout.query).bind(try startOfEdits(), at: 1)
    try query.forEachRow { () throws(SQLiteError) in
      guard let table = tables.byID[query.integer(2)],
        let edit = layout.edit(in: query, of: table, at: .zero), edit.change != .impending
      else { return }
      found.take(edit, of: RowIdentity(table: table.id, key: table.identity(of: edit.key)))
    }
    return found.consequences
  }

  // MARK: Edits

  /// After which edit a reader of these tables begins, as SQL.
  ///
  /// What was left by a reader of other tables, of an engine that may run at the same time, is perhaps this one's.
  private var startOfClock: String { "CASE left_for WHEN '\(ids)' THEN left_until ELSE 0 END" }
  private var start: String { "(SELECT \(startOfClock) FROM main.cloudsync_clock)" }

  /// The latest time, and the edit after which it begins.
  private func clock() throws(SQLiteError) -> SQLiteStatement {
    try connection.statement("SELECT last, \(startOfClock) FROM main.cloudsync_clock")
  }

  /// The edit after which it begins: those of its tables that are there up to it are none.
  func startOfEdits() throws(SQLiteError) -> Int64 {
    try connection.integer("SELECT \(startOfClock) FROM main.cloudsync_clock")
  }

  /// Reads edits and gives them their times; those that stay get theirs too, before the clock goes on.
  private func edits(
    limit: Int
  ) throws(SQLiteError) -> (edits: [CapturedEdit], batch: CapturedBatch) {
    let clock = try clock()
    defer { clock.reset() }
    let hasClock = try clock.step()
    var batch = CapturedBatch(
      time: HybridTime(rawValue: hasClock ? clock.integer(0) : 0),
      end: hasClock ? clock.integer(1) : 0,
      leftUntil: hasClock ? clock.integer(1) : 0
    )
    let layout = try OutboxLayout(connection)
    let query = try connection.statement(layout.query).bind(batch.end, at: 1)
    defer { query.reset() }
    var edits: [CapturedEdit] = []
    var left: [(id: Int64, time: HybridTime)] = []
    while batch.count < limit {
      guard try query.step() else {
        batch.isLast = true
        break
      }
      batch.end = query.integer(0)
      batch.isEmpty = false
      let (time, isNew) = layout.time(in: query, after: batch.time)
      if isNew { batch.time = time }
      guard let table = tables.byID[query.integer(2)] else {
        if isNew { left.append((batch.end, time)) }
        batch.leftUntil = batch.end
        continue
      }
      batch.count += 1
      // What an edit has announced was looked at before.
      guard var edit = layout.edit(in: query, of: table, at: time), edit.change != .impending
      else { continue }
      if let former = edits.last, edit.isArrival(of: former) { edit.left = former.time }
      edits.append(edit)
    }
    query.reset()
    for (id, time) in left {
      try connection.fixedStatement("UPDATE main.cloudsync_outbox SET time = ?1 WHERE id = ?2")
        .bind(time.rawValue, at: 1).bind(id, at: 2).run()
    }
    return (edits, batch)
  }
}

import CloudSyncCore
import CloudSyncSQLiteSupport

/// The rows that are dirty, that wait, that were refused, and the tombstones: `cloudsync_pending`.
///
/// It is the queue of what is to be sent. What the engine looks for is beside the coded state, in columns
/// of its own, and so is what users ask for.
struct PendingRows {
  let connection: SQLiteConnection

  static let table = """
    CREATE TABLE cloudsync_pending(
      table_id INTEGER NOT NULL,
      key NOT NULL,
      record_name TEXT NOT NULL,
      zone INTEGER NOT NULL,
      state BLOB NOT NULL,
      is_dirty INTEGER NOT NULL,
      is_sendable INTEGER,
      is_tombstone INTEGER NOT NULL,
      waits_for TEXT,
      is_deferred INTEGER,
      is_violating INTEGER,
      awaits_fetch INTEGER,
      is_removable INTEGER,
      error_code INTEGER,
      error TEXT,
      next INTEGER,
      filtered_by TEXT,
      is_unsent INTEGER,
      is_displacing INTEGER,
      PRIMARY KEY(table_id, key)
    ) WITHOUT ROWID;
    CREATE INDEX cloudsync_pending_sendable ON cloudsync_pending(table_id, is_tombstone, key)
      WHERE is_sendable IS NOT NULL;
    CREATE INDEX cloudsync_pending_withheld ON cloudsync_pending(is_dirty)
      WHERE is_dirty AND is_sendable IS NULL AND filtered_by IS NULL;
    CREATE INDEX cloudsync_pending_filtered ON cloudsync_pending(filtered_by)
      WHERE filtered_by IS NOT NULL;
    CREATE INDEX cloudsync_pending_waits_for ON cloudsync_pending(waits_for)
      WHERE waits_for IS NOT NULL;
    CREATE INDEX cloudsync_pending_waiting ON cloudsync_pending(table_id)
      WHERE waits_for IS NOT NULL AND is_violating IS NULL;
    CREATE INDEX cloudsync_pending_deferred ON cloudsync_pending(is_deferred)
      WHERE is_deferred IS NOT NULL;
    CREATE INDEX cloudsync_pending_displacing ON cloudsync_pending(table_id, key)
      WHERE is_displacing IS NOT NULL;
    CREATE INDEX cloudsync_pending_violating ON cloudsync_pending(is_violating)
      WHERE is_violating IS NOT NULL;
    CREATE INDEX cloudsync_pending_awaits_fetch ON cloudsync_pending(awaits_fetch)
      WHERE awaits_fetch IS NOT NULL;
    CREATE INDEX cloudsync_pending_removable ON cloudsync_pending(is_removable)
      WHERE is_removable IS NOT NULL;
    CREATE INDEX cloudsync_pending_next ON cloudsync_pending(next) WHERE next IS NOT NULL;
    """

  // MARK: One row

  func state(of key: RowKey) throws(SQLiteError) -> StoredState? {
    let query =
      try connection.fixedStatement(
        "SELECT state, filtered_by, is_unsent FROM cloudsync_pending WHERE table_id = ?1 AND key IS ?2"
      )
      .bind(key.table, at: 1).bind(key.key, at: 2)
    defer { query.reset() }
    guard try query.step() else { return nil }
    var state = try Self.state(in: query, of: key.key)
    state.filtering = query.text(1)
      .map { Filtering(parent: $0.isEmpty ? nil : $0, isUnsent: query.integer(2) == 1) }
    return state
  }

  /// The coded state in the first column of a query.
  private static func state(
    in query: SQLiteStatement,
    of key: SQLiteValue
  ) throws(SQLiteError) -> StoredState {
    do throws(CodedError) { return try StoredState(codedBytes: query.bytes(0)) } catch {
      throw SQLiteError(
        code: 11,
        message: "row \(key.literal) in cloudsync_pending is damaged: \(error)"
      )
    }
  }

  /// Whether there is none.
  func isEmpty() throws(SQLiteError) -> Bool {
    let query = try connection.fixedStatement("SELECT 1 FROM cloudsync_pending LIMIT 1")
    defer { query.reset() }
    return try query.step() == false
  }

  /// Whether the cloud is known to have any of them.
  func isAnyInCloud() throws(SQLiteError) -> Bool {
    let query = try connection.fixedStatement("SELECT state, key FROM cloudsync_pending")
    defer { query.reset() }
    while try query.step() {
      if try Self.state(in: query, of: query.value(1)).isInCloud { return true }
    }
    return false
  }

  /// Whether a row is among them.
  func hasRow(_ key: RowKey) throws(SQLiteError) -> Bool {
    let query =
      try connection.fixedStatement(
        "SELECT 1 FROM cloudsync_pending WHERE table_id = ?1 AND key IS ?2"
      )
      .bind(key.table, at: 1).bind(key.key, at: 2)
    defer { query.reset() }
    return try query.step()
  }

  /// Notes what is to be done about a row, whatever was before.
  ///
  /// - Parameters:
  ///   - state: What is kept.
  ///   - key: Whose it is.
  ///   - name: The name of its record.
  ///   - zone: The number of its zone; 0 is the engine's own.
  /// - Throws: SQLite's reason.
  func save(
    _ state: StoredState,
    of key: RowKey,
    named name: String,
    zone: Int64 = 0
  ) throws(SQLiteError) {
    let statement = try connection.fixedStatement(
      """
      INSERT INTO cloudsync_pending(
        table_id, key, zone, state, is_dirty, is_tombstone, waits_for, is_deferred, awaits_fetch,
        error_code, error, next, is_sendable, record_name, is_violating, is_removable,
        filtered_by, is_unsent, is_displacing
      ) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)
      ON CONFLICT DO UPDATE SET zone = ?3, state = ?4, is_dirty = ?5, is_tombstone = ?6,
        waits_for = ?7, is_deferred = ?8, awaits_fetch = ?9, error_code = ?10, error = ?11,
        next = ?12, is_sendable = ?13, is_violating = ?15, is_removable = ?16,
        filtered_by = ?17, is_unsent = ?18, is_displacing = ?19
      """
    )
    let facts = state.facts
    statement.bind(key.table, at: 1).bind(key.key, at: 2).bind(zone, at: 3)
      .bind(state.codedBytes, at: 4).bind(state.isDirty ? 1 : 0, at: 5)
      .bind(state.isTombstone ? 1 : 0, at: 6)
      .bind(facts.waitsFor.map { .text($0) } ?? .null, at: 7)
      .bind(facts.isDeferred ? .integer(1) : .null, at: 8)
      .bind(facts.awaitsFetch ? .integer(1) : .null, at: 9)
      .bind(facts.errorCode.map { .integer($0) } ?? .null, at: 10)
      .bind(facts.error.map { .text($0) } ?? .null, at: 11)
      .bind(facts.next.map { .integer($0) } ?? .null, at: 12)
      .bind(facts.isSendable ? .integer(1) : .null, at: 13)
      .bind(name, at: 14).bind(facts.violation.map { .integer($0) } ?? .null, at: 15)
      .bind(facts.isRemovable ? .integer(1) : .null, at: 16)
      .bind(facts.filteredBy.map { .text($0) } ?? .null, at: 17)
      .bind(state.filtering?.isUnsent == true ? .integer(1) : .null, at: 18)
      .bind(state.displacedCount > 0 ? .integer(Int64(state.displacedCount)) : .null, at: 19)
    try statement.run()
  }

  func remove(_ key: RowKey) throws(SQLiteError) {
    try connection.fixedStatement("DELETE FROM cloudsync_pending WHERE table_id = ?1 AND key IS ?2")
      .bind(key.table, at: 1).bind(key.key, at: 2).run()
  }

  /// The keys of a table's pending rows, in their order.
  func keys(in table: Int64) throws(SQLiteError) -> [SQLiteValue] {
    let query =
      try connection.fixedStatement(
        "SELECT key FROM cloudsync_pending WHERE table_id = ?1 ORDER BY key"
      )
      .bind(table, at: 1)
    return try query.mapRows { $0.value(0) }
  }

  // MARK: What is to be done

  /// The rows of a table that may be sent now, in the order of their keys; whose tombstone is marked by
  /// somebody else, the state says.
  ///
  /// - Parameters:
  ///   - table: The table.
  ///   - key: The key of the last row that is known; nil for the first ones.
  ///   - tombstones: Whether deleted rows are meant, or those that live.
  ///   - limit: How many at most.
  /// - Returns: Their keys.
  /// - Throws: SQLite's reason.
  func sendable(
    in table: Int64,
    after key: SQLiteValue? = nil,
    tombstones: Bool,
    limit: Int
  ) throws(SQLiteError) -> [RowKey] {
    let query = try connection.statement(
      "SELECT table_id, key FROM \(Self.rows(in: .sendable))"
        + " WHERE is_sendable IS NOT NULL AND table_id = ?1 AND is_tombstone = ?4"
        + (key == nil ? "" : " AND key > ?3") + " ORDER BY key LIMIT ?2"
    )
    query.bind(table, at: 1).bind(Int64(limit), at: 2).bind(tombstones ? 1 : 0, at: 4)
    if let key { query.bind(key, at: 3) }
    return try Self.keys(in: query)
  }

  /// Of the tables of these numbers, as a list for SQL.
  private func list(of tables: [Int64]) -> String {
    tables.map { "\($0)" }.joined(separator: ", ")
  }

  /// The rows whose refusal has passed by a time in milliseconds since 1970; of those that ``sendable(in:after:tombstones:limit:)``
  /// names none.
  func due(in tables: [Int64], at now: Int64, limit: Int) throws(SQLiteError) -> [RowKey] {
    try Self.keys(
      in:
        try connection.statement(
          "SELECT table_id, key FROM \(Self.rows(in: .next))"
            + " WHERE next <= ?1 AND is_sendable IS NULL AND table_id IN (\(list(of: tables)))"
            + " ORDER BY next LIMIT ?2"
        )
        .bind(now, at: 1).bind(Int64(limit), at: 2)
    )
  }

  /// When the next refusal, or the next mark of a tombstone, will have passed after a time, in milliseconds since 1970; nil
  /// if none will.
  func nextDue(in tables: [Int64], after now: Int64) throws(SQLiteError) -> Int64? {
    let query =
      try connection.statement(
        "SELECT min(next) FROM \(Self.rows(in: .next)) WHERE next > ?1 AND table_id IN (\(list(of: tables)))"
      )
      .bind(now, at: 1)
    defer { query.reset() }
    return try query.step() && !query.isNull(0) ? query.integer(0) : nil
  }

  /// The rows that wait for a record, or for a key of a table: see ``Placement``.
  func waiting(for name: String) throws(SQLiteError) -> [RowKey] {
    try Self.keys(
      in:
        try connection.fixedStatement(
          """
          SELECT table_id, key FROM cloudsync_pending INDEXED BY cloudsync_pending_waits_for
          WHERE waits_for = ?1 ORDER BY table_id, key
          """
        )
        .bind(name, at: 1)
    )
  }

  /// Whether any row waits.
  func hasWaiting() throws(SQLiteError) -> Bool {
    let query = try connection.fixedStatement(
      """
      SELECT 1 FROM cloudsync_pending INDEXED BY cloudsync_pending_waiting
      WHERE waits_for IS NOT NULL AND is_violating IS NULL LIMIT 1
      """
    )
    defer { query.reset() }
    return try query.step()
  }

  /// The rows that wait for any that they refer to.
  func waiting() throws(SQLiteError) -> [RowKey] {
    try Self.keys(
      in: try connection.fixedStatement(
        """
        SELECT table_id, key FROM cloudsync_pending INDEXED BY cloudsync_pending_waiting
        WHERE waits_for IS NOT NULL AND is_violating IS NULL ORDER BY table_id, key
        """
      )
    )
  }

  /// The rows whose deletion is settled at the end of the fetch.
  func deferredDeletions() throws(SQLiteError) -> [RowKey] {
    try Self.keys(
      in: try connection.fixedStatement(
        """
        SELECT table_id, key FROM cloudsync_pending INDEXED BY cloudsync_pending_deferred
        WHERE is_deferred IS NOT NULL ORDER BY table_id, key
        """
      )
    )
  }

  /// The rows of a table that are deleted.
  func tombstones(in table: Int64) throws(SQLiteError) -> [RowKey] {
    try Self.keys(
      in:
        try connection.fixedStatement(
          """
          SELECT table_id, key FROM cloudsync_pending WHERE table_id = ?1 AND is_tombstone ORDER BY key
          """
        )
        .bind(table, at: 1)
    )
  }

  /// The rows beside which others are kept that had their keys.
  func displacing() throws(SQLiteError) -> [RowKey] {
    try Self.keys(
      in: try connection.fixedStatement(
        """
        SELECT table_id, key FROM cloudsync_pending INDEXED BY cloudsync_pending_displacing
        WHERE is_displacing IS NOT NULL ORDER BY table_id, key
        """
      )
    )
  }

  /// The rows that SQLite refuses, but for those whose values are known to be held by others.
  func violating() throws(SQLiteError) -> [RowKey] {
    try Self.keys(
      in: try connection.fixedStatement(
        """
        SELECT table_id, key FROM cloudsync_pending INDEXED BY cloudsync_pending_violating
        WHERE is_violating = 1 ORDER BY table_id, key
        """
      )
    )
  }

  /// The rows of some tables that SQLite refuses.
  func violating(in tables: [Int64]) throws(SQLiteError) -> [RowKey] {
    try Self.keys(
      in: try connection.statement(
        "SELECT table_id, key FROM \(Self.rows(in: .violating)) WHERE is_violating IS NOT NULL"
          + " AND table_id IN (\(list(of: tables))) ORDER BY table_id, key"
      )
    )
  }

  /// The rows of a table that are pending, but for those that are gone.
  func rows(of table: Int64) throws(SQLiteError) -> [RowKey] {
    try Self.keys(
      in:
        try connection.fixedStatement(
          """
          SELECT table_id, key FROM cloudsync_pending WHERE table_id = ?1 AND NOT is_tombstone
          ORDER BY key
          """
        )
        .bind(table, at: 1)
    )
  }

  /// Whether the values of any row are held by another one.
  func hasHeld() throws(SQLiteError) -> Bool {
    let query = try connection.fixedStatement(
      "SELECT 1 FROM cloudsync_pending WHERE is_violating = 2 LIMIT 1"
    )
    defer { query.reset() }
    return try query.step()
  }

  /// The rows that wait for others, or that SQLite refuses.
  func besideTables() throws(SQLiteError) -> [RowKey] {
    try Self.keys(
      in: try connection.fixedStatement(
        """
        SELECT table_id, key FROM cloudsync_pending INDEXED BY cloudsync_pending_waits_for
          WHERE waits_for IS NOT NULL
        UNION SELECT table_id, key FROM cloudsync_pending INDEXED BY cloudsync_pending_violating
          WHERE is_violating IS NOT NULL
        ORDER BY 1, 2
        """
      )
    )
  }

  /// The rows that the cloud or SQLite refuses; nil for the table means all tables.
  func parked(in table: Int64?) throws(SQLiteError) -> [RowKey] {
    let condition = table.map { " AND table_id = \($0)" } ?? ""
    return try Self.keys(
      in: try connection.prepare(
        "SELECT table_id, key FROM cloudsync_pending WHERE error_code IS NOT NULL\(condition)"
          + " ORDER BY table_id, key"
      )
    )
  }

  /// The rows whose records are to be deleted themselves, because a full storage takes no tombstone.
  func removable(in tables: [Int64], limit: Int) throws(SQLiteError) -> [RowKey] {
    try Self.keys(
      in:
        try connection.statement(
          "SELECT table_id, key FROM \(Self.rows(in: .removable)) WHERE is_removable IS NOT NULL"
            + " AND table_id IN (\(list(of: tables))) ORDER BY table_id, key LIMIT ?1"
        )
        .bind(Int64(limit), at: 1)
    )
  }

  /// The rows that the next fetch has to tell about.
  func awaitingFetch() throws(SQLiteError) -> [RowKey] {
    try Self.keys(
      in: try connection.fixedStatement(
        """
        SELECT table_id, key FROM cloudsync_pending INDEXED BY cloudsync_pending_awaits_fetch
        WHERE awaits_fetch IS NOT NULL ORDER BY table_id, key
        """
      )
    )
  }

  /// How many rows are not in the cloud as they are here, counted up to a limit.
  func dirtyCount(upTo limit: Int64 = .max) throws(SQLiteError) -> Int64 {
    let query =
      try connection.fixedStatement(
        """
        SELECT count(*) FROM (
          SELECT 1 FROM cloudsync_pending INDEXED BY cloudsync_pending_sendable
            WHERE is_sendable IS NOT NULL
          UNION ALL SELECT 1 FROM cloudsync_pending INDEXED BY cloudsync_pending_withheld
            WHERE is_dirty AND is_sendable IS NULL AND filtered_by IS NULL
          LIMIT ?1
        )
        """
      )
      .bind(limit, at: 1)
    defer { query.reset() }
    return try query.step() ? query.integer(0) : 0
  }

  /// Forgets the rows that are deleted, here and in the cloud.
  func removeSettledTombstones(of tables: [Int64]) throws(SQLiteError) {
    let isSettled = "is_tombstone AND NOT is_dirty AND is_deferred IS NULL"
    let isOfTables = "table_id IN (\(list(of: tables)))"
    try connection.execute(
      """
      DELETE FROM cloudsync_tombstones WHERE \(isOfTables) AND EXISTS(
        SELECT 1 FROM cloudsync_pending p WHERE p.table_id = cloudsync_tombstones.table_id
          AND p.key = cloudsync_tombstones.key AND \(isSettled));
      DELETE FROM cloudsync_pending WHERE \(isOfTables) AND \(isSettled)
      """
    )
  }

  private enum Index: String { case sendable, next, violating, removable }

  /// The table by an index: left to itself SQLite goes through all rows where it is to sort them.
  private static func rows(in index: Index) -> String {
    "cloudsync_pending INDEXED BY cloudsync_pending_\(index.rawValue)"
  }

  static func keys(in query: SQLiteStatement) throws(SQLiteError) -> [RowKey] {
    try query.mapRows { RowKey(table: $0.integer(0), key: $0.value(1)) }
  }
}

/// What a pending row's columns say of its state.
private struct PendingFacts {
  var waitsFor: String?
  var isDeferred = false
  /// 1 for a row that SQLite refuses, 2 for one whose values another row holds.
  var violation: Int64?
  var awaitsFetch = false
  var isRemovable = false
  var errorCode: Int64?
  var error: String?
  var next: Int64?
  var isSendable = false
  /// Empty for a row that does not match the condition of the rows that are sent.
  var filteredBy: String?
}

extension StoredState {
  fileprivate var facts: PendingFacts {
    var facts = PendingFacts()
    switch placement {
    case .inTable: break
    case .awaitsParent(let name): facts.waitsFor = name
    case .violates(let code, let reason):
      (facts.errorCode, facts.error) = (code, reason)
      facts.violation = 1
    case .heldBy(let name, let reason):
      (facts.errorCode, facts.error, facts.waitsFor) = (SQLiteError.unique, reason, name)
      facts.violation = 2
    case .deletionDeferred: facts.isDeferred = true
    }
    facts.isSendable = isDirty && hold == nil && filtering == nil
    facts.filteredBy = filtering.map { $0.parent ?? "" }
    switch hold {
    case nil: if facts.isSendable, let mark = purgeMark { facts.next = mark.end }
    case .nextFetch, .removal(isDue: false): facts.awaitsFetch = true
    // What stays on this device is neither deleted in the cloud nor tried again.
    case _ where filtering != nil: break
    case .removal: facts.isRemovable = true
    case .refusal(let refusal):
      (facts.errorCode, facts.error) = (refusal.code, refusal.reason)
      facts.next = refusal.next
    }
    return facts
  }
}

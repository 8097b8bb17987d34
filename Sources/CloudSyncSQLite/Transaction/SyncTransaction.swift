import CloudSyncCore
import CloudSyncSQLiteSupport

/// All that happens to rows within one transaction: each is read once, its machine decides, and in the end all are
/// written, parents first.
///
/// The outbox is read to its end first, so that nobody's edit is overlooked that another process has made.
struct SyncTransaction {
  let connection: SQLiteConnection
  var tables: SyncTables
  /// Gives a number that no other database has.
  let nextWriter: @Sendable () -> Int64
  /// In milliseconds since 1970.
  let now: Int64
  /// The zone's record as this device has sent it.
  var sentZone: ZoneRecord?
  /// Whether answers were taken: files may have arrived.
  var hasAnswers = false
  /// Whether the outbox is that of another file, of which this one is a copy: it sends the same edits.
  var isCopied = false
  /// Whether edits were read from the outbox.
  var hasEdits = false
  /// Whether everything that the cloud had has come: then what was put off until now is settled.
  var isFetchComplete = false
  /// Whether a fetch has to tell what became of a record.
  var needsFetch = false
  /// A fetch that is to follow, because what one has told does not count.
  var nextFetch: FetchOperation?
  /// Whether pages are stored that continue from another token than the stored one.
  var isBesideToken = false
  /// How old tombstones may become, in milliseconds; nil if they are kept.
  var purgeAge: Int64?
  /// The latest date of the cloud's that was seen, in milliseconds since 1970.
  var cloudTime = Int64.min
  /// The latest of all times that were seen in the cloud.
  private(set) var latest = HybridTime.zero
  /// What was done so far.
  var counts = SyncCounts()
  /// Whether a fetch of everything is under way; nil until that was asked for.
  var fetchesAll: Bool? { didSet { notesSeen = nil } }
  /// Whether that fetch notes what it has told about; nil until that was asked for.
  var notesSeen: Bool?
  /// The rows to which something has happened.
  private(set) var rows: [RowKey: LoadedRow] = [:]
  /// Those of them that are to be written.
  private(set) var unwritten: Set<RowKey> = []
  /// Rows that wait for another one, or have waited, by its name.
  private(set) var awaiting: [String: Set<RowKey>] = [:]
  /// The tables in which something was edited or written since refused rows were tried last.
  var touched: Set<Int> = []
  /// Rows whose values of unique keys may have become free.
  var freed: Set<RowKey> = []
  /// How many rows were taken out of their tables so far.
  var removals = 0
  /// How many references were released so far.
  var releases: Int64 = 0
  /// What rows are to have that are not in their tables so.
  let loose = LooseReferences()
  /// The names of records that rows have begun to wait for.
  var awaitedParents: Set<String> = []
  /// The keys of records whose names do not tell them.
  var digestKeys: [String: (place: Int, key: RecordKey)] = [:]
  /// The app's triggers, and what they have changed in the engine's rows.
  var appTriggers = AppTriggerGuard()
  /// Whether the app's triggers can see that the engine writes.
  var isWriting = false
  /// Whether a write may have changed other rows: then what was read of them is read again.
  var hasSideEffects = false

  /// Begins a transaction.
  ///
  /// - Parameters:
  ///   - connection: The connection, whose transaction is open.
  ///   - tables: The tables.
  ///   - now: In milliseconds since 1970.
  ///   - nextWriter: Gives a number that no other database has.
  init(
    connection: SQLiteConnection,
    tables: SyncTables,
    now: Int64,
    nextWriter: @escaping @Sendable () -> Int64
  ) {
    self.connection = connection
    self.tables = tables
    self.now = now
    self.nextWriter = nextWriter
  }

  var facts: Facts { Facts(connection: connection) }

  /// How many answers have said that the cloud lacks a record.
  func absences() throws(SQLiteError) -> Int64 { try facts.integer(.absences) ?? 0 }

  /// How often the zone turned out to be another one than what was known was of.
  func zoneChanges() throws(SQLiteError) -> Int64 { try facts.integer(.zoneChanges) ?? 0 }

  /// Whether anything was ever fetched.
  func hasToken() throws(SQLiteError) -> Bool { try facts.token() != nil }

  // MARK: One row

  /// What is known of a row, with what its table has.
  func row(_ key: RecordKey, in place: Int) throws(SQLiteError) -> LoadedRow {
    let table = tables[place]
    let rowKey = RowKey(table: table.id, key: table.rowKey(key))
    if let known = rows[rowKey] { return known }
    let values = try table.rows(connection).values(of: key.values)
    let loaded = try table.store(connection).state(of: rowKey.key, values: values)
    return LoadedRow(place: place, key: key, rowKey: rowKey, values: values, loaded: loaded)
  }

  /// The row of a key as the engine's tables have it; nil if its table is not synchronized.
  func row(_ rowKey: RowKey) throws(SQLiteError) -> LoadedRow? {
    if let known = rows[rowKey] { return known }
    guard let place = tables.place(ofID: rowKey.table) else { return nil }
    return try row(try tables[place].key(rowKey.key), in: place)
  }

  /// Keeps what has become of a row until the end.
  mutating func keep(_ row: LoadedRow) {
    rows[row.rowKey] = row
    loose.note(row, tables)
    if let name = row.state.placement.awaited { awaiting[name, default: []].insert(row.rowKey) }
    if row.needsWrite { unwritten.insert(row.rowKey) } else { unwritten.remove(row.rowKey) }
  }

  /// Lets an event happen to a row.
  ///
  /// What follows for its table is done in ``finish()``.
  ///
  /// - Returns: The row.
  /// - Throws: SQLite's reason.
  @discardableResult
  mutating func reduce(
    _ event: RecordEvent,
    _ key: RecordKey,
    in place: Int
  ) throws(SQLiteError) -> LoadedRow {
    var row = try row(key, in: place)
    if row.reduce(event, tables[place].rules).contains(.renumber) {
      try renumber()
      row = try self.row(key, in: place)
      _ = row.reduce(event, tables[place].rules)
    }
    if row.needsFetch { needsFetch = true }
    keep(row)
    return row
  }

  /// Makes an edit of the engine's own, which the table is to have too.
  ///
  /// Its time is zero: it follows from the states that have caused it, so that all devices make the same edit.
  mutating func edit(_ edit: RowEdit, of row: LoadedRow) throws(SQLiteError) {
    var row = try reduce(.edited(edit), row.key, in: row.place)
    row.needsWrite = true
    keep(row)
  }

  /// Notes a time that was seen in the cloud.
  mutating func see(_ time: HybridTime) { latest = max(latest, time) }

  /// Takes another number for this database: what was added under the old one and is not in the cloud goes on
  /// under the new one.
  private mutating func renumber() throws(SQLiteError) {
    let (former, writer) = (tables.writer, nextWriter())
    tables.writer = writer
    // Those that became dirty in this transaction are not stored yet.
    for var row in rows.values {
      _ = row.reduce(.renumbered(from: former, to: writer), tables[row.place].rules)
      keep(row)
    }
    for place in tables.inOrder.indices {
      for key in try PendingRows(connection: connection).keys(in: tables[place].id) {
        var row = try row(try tables[place].key(key), in: place)
        _ = row.reduce(.renumbered(from: former, to: writer), tables[place].rules)
        keep(row)
      }
    }
    try facts.set(.writer, .integer(writer))
  }

  // MARK: The end

  /// Writes all rows that are to be otherwise, and keeps what is known then.
  mutating func finish() throws(SQLiteError) {
    try writeRows()
    if isFetchComplete {
      try DeferredDeletions.settle(&self)
      try writeRows()
    }
    try UniqueKeyResolver.resolve(&self)
    if isFetchComplete { try UniqueKeyResolver.settle(&self) }
    try writeRows()
    try DanglingRows.takeOut(&self)
    try AppTriggerGuard.restore(&self)
    try endWriting()
    let rebuilt = try Reconciliation(connection: connection).rebuilt()
    // Rows are large, so it is not them that are sorted.
    for one in rows.values.map(\.order).sorted(by: { $0.precedes($1) }) {
      guard var row = rows[one.rowKey] else { continue }
      let table = tables[row.place]
      if hasSideEffects { row.values = try table.rows(connection).values(of: row.key.values) }
      if row.isAsStored { continue }
      try table.store(connection)
        .save(
          row.stateToKeep(table, connection),
          of: row.rowKey.key,
          named: row.key.name,
          values: row.values,
          source: row.source,
          isSure: row.isSure(table, isRebuilt: rebuilt.contains(table.id))
        )
    }
    rows = [:]
    try noteTimes()
    try noteCloudTime()
    guard hasAnswers, let first = tables.inOrder.first else { return }
    try AssetStaging(first, connection)?.removeArrived()
  }
}

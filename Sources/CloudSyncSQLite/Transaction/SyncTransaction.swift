import CloudSyncCore
import CloudSyncSQLiteSupport

/// All that happens to rows within one transaction: each is read once, its machine decides, and in the end all are
/// written, parents first.
///
/// The outbox is read to its end first, so that nobody's edit is overlooked that another process has made.
///
/// It is a class because all who take part in it, each a ``TransactionPart``, work on the same rows.
final class SyncTransaction {
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
  /// Whether edits were read after which rows that have gone are not settled yet.
  var hasUnsettledEdits = false
  /// Whether everything that the cloud had has come: then what was put off until now is settled.
  var isFetchComplete = false
  /// Whether a record has shown of which kind a field is, or the cloud has refused a row that may be for.
  var mayLearnKinds = false
  /// Whether the kinds of fields are other ones than those that the tables were read with, or more of them encrypted.
  var hasOtherKinds = false
  /// Whether a fetch has to tell what became of a record.
  var needsFetch = false
  /// A fetch that is to follow, because what one has told does not count.
  var nextFetch: FetchOperation?
  /// How old tombstones may become, in milliseconds; nil if they are kept.
  var purgeAge: Int64?
  /// The latest date of the cloud's that was seen, in milliseconds since 1970.
  var cloudTime = Int64.min
  /// The latest of all times that were seen in the cloud.
  private(set) var latest = HybridTime.zero
  /// What was done so far.
  var counts = SyncCounts()
  /// The rows that have become one with others.
  var united: [UnitedRow] = []
  /// The rows of tables that were changed; nil if nobody wants to know.
  var changed: ChangedRows?
  /// Whether a fetch of everything is under way; nil until that was asked for.
  var fetchesAll: Bool? { didSet { notesSeen = nil } }
  /// Whether that fetch notes what it has told about; nil until that was asked for.
  var notesSeen: Bool?
  /// The tables that were rebuilt, once somebody has asked: each record of a fetch of everything asks.
  private var rebuiltTables: [Int64]?
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
  var retouched = RetouchedRows()
  /// Whether the connection has triggers of its own, whose tables nobody can tell beforehand; nil until that was
  /// asked for.
  private var knowsTemporaryTriggers: Bool?
  /// Whether the app's triggers can see that the engine writes.
  var isWriting = false
  /// What is to be handed from row to row, because keys were changed.
  var transfers: [RowTransfer] = []
  /// References to rows that give their keys to others.
  let traces = ReferenceTraces()
  /// Whether rows that were to be sent turned out to stay on this device.
  var hasStoppedRows = false
  /// Where the outbox ended before the engine wrote; nil if nobody has to know.
  var outboxEnd: Int64?
  /// The tables whose rows the engine has changed while they were left out, once somebody has asked.
  private var overwrittenTables: [Int64]?
  private var addedCounters: [Int64: Set<String>] = [:]
  /// Whether rows that waited for deleted parents have done what their foreign keys say: the rest waits for nobody who comes.
  var isWaitingSettled = false
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

  /// What the engine keeps in its tables.
  var stored: EngineStorage { EngineStorage(connection: connection) }
  var facts: Facts { stored.facts }

  /// How many answers have said that the cloud lacks a record.
  func absences() throws(SQLiteError) -> Int64 { try facts.integer(.absences) ?? 0 }

  /// How often the zone turned out to be another one than what was known was of.
  func zoneChanges() throws(SQLiteError) -> Int64 { try facts.integer(.zoneChanges) ?? 0 }

  // MARK: One row

  /// What is known of a row, with what its table has.
  func row(_ key: RecordKey, in place: Int) throws(SQLiteError) -> LoadedRow {
    let table = tables[place]
    let rowKey = table.rowKey(of: key)
    if let known = rows[rowKey] { return known }
    let values = try table.rows(on: connection).values(of: key.values)
    let loaded = try table.store(on: connection).state(of: rowKey.key, values: values)
    var row = LoadedRow(place: place, key: key, rowKey: rowKey, values: values, loaded: loaded)
    row.takeFilling(in: table)
    return row
  }

  /// The row of a key as the engine's tables have it; nil if its table is not synchronized.
  func row(_ rowKey: RowKey) throws(SQLiteError) -> LoadedRow? {
    if let known = rows[rowKey] { return known }
    guard let place = tables.place(ofID: rowKey.table) else { return nil }
    return try row(try tables[place].key(rowKey.key), in: place)
  }

  /// The row of a table with a key as its columns spell it.
  func row(spelled values: [SQLiteValue], in place: Int) throws(SQLiteError) -> LoadedRow {
    try row(tables[place].format.key(spelled: values), in: place)
  }

  /// Keeps what has become of a row until the end.
  func keep(_ row: LoadedRow) {
    rows[row.rowKey] = row
    loose.note(row, in: tables)
    // What is not stored yet is not found there by whoever asks whose name it is.
    if RecordName.isDigest(row.key.name) { digestKeys[row.key.name] = (row.place, row.key) }
    if let name = row.state.placement.awaited { awaiting[name, default: []].insert(row.rowKey) }
    if row.needsWrite { unwritten.insert(row.rowKey) } else { unwritten.remove(row.rowKey) }
  }

  /// Lets go of what was read of rows: all that is to be kept of them is stored.
  func forgetRows() { rows = [:] }

  /// Lets an event happen to a row.
  ///
  /// What follows for its table is done when the transaction finishes.
  ///
  /// - Returns: The row.
  /// - Throws: SQLite's reason.
  @discardableResult
  func reduce(
    _ event: RecordEvent,
    of key: RecordKey,
    in place: Int
  ) throws(SQLiteError) -> LoadedRow {
    var row = try row(key, in: place)
    var actions = row.reduce(event, rules: tables[place].rules)
    if actions.contains(.renumber) {
      try renumber()
      row = try self.row(key, in: place)
      actions = row.reduce(event, rules: tables[place].rules)
    }
    if actions.contains(.lookUp) {
      let reason = "the cloud has said that it lacks the record, and no fetch has told so"
      try stored.unfetched.keep(named: row.key.name, because: reason, at: now)
    }
    if row.needsFetch { needsFetch = true }
    keep(row)
    traces.note(event, of: row, in: tables)
    if !actions.isEmpty { MovedRows(transaction: self).note(actions, of: row) }
    switch event {
    case .has, .conflict:
      if row.state.row?.clock.isArrival == true { transfers.append(.arrival(key, place: place)) }
    default: break
    }
    return row
  }

  /// Makes an edit of the engine's own, which the table is to have too.
  ///
  /// Its time is zero: it follows from the states that have caused it, so that all devices make the same edit.
  func edit(_ edit: RowEdit, of row: LoadedRow) throws(SQLiteError) {
    var row = try reduce(.edited(edit), of: row.key, in: row.place)
    row.needsWrite = true
    keep(row)
  }

  /// Rows of a kind: those that are stored as such, and those which have become so in this transaction, in a fixed order.
  ///
  /// Of the stored ones the transaction may have made something else.
  func keys(stored: [RowKey], orLoaded isMeant: (LoadedRow) -> Bool) -> [RowKey] {
    let known = Set(stored)
    return stored
      + rows.values.filter { isMeant($0) && !known.contains($0.rowKey) }
      .sorted { $0.precedes($1) }.map(\.rowKey)
  }

  // MARK: The engine's own doing

  /// A row that is in its table; one that nobody has captured is known from now on, unless it is about to go because
  /// it is forgotten.
  @discardableResult
  func adopted(_ key: RecordKey, in place: Int) throws(SQLiteError) -> LoadedRow {
    let row = try row(key, in: place)
    guard row.state.row == nil, !row.needsWrite, let values = row.values else { return row }
    return try reduce(.edited(.found(tables[place].edits(of: values))), of: key, in: place)
  }

  /// Sets columns of a row as an edit of the engine's own.
  func set(
    _ columns: [String],
    to values: [SQLiteValue],
    of rowKey: RowKey
  ) throws(SQLiteError) {
    guard let row = try row(rowKey) else { return }
    try adopted(row.key, in: row.place)
    let table = tables[row.place]
    let edits = zip(columns, values)
      .map { ColumnEdit(name: $0, value: table.fieldValue($1, of: $0), former: nil) }
    try edit(.updated(edits, at: .zero), of: row)
  }

  /// Has a row written again that SQLite has refused.
  func retryWriting(_ key: RowKey) throws(SQLiteError) {
    guard var row = try row(key), row.state.placement.isViolation else { return }
    row.needsWrite = true
    keep(row)
  }

  /// Notes that a row is beside its table, and why.
  func park(_ key: RowKey, as placement: Placement) throws(SQLiteError) {
    guard var row = try self.row(key) else { return }
    if row.state.placement != placement { counts.parked += 1 }
    row.place(placement, rules: tables[row.place].rules)
    keep(row)
  }

  /// Notes a time that was seen in the cloud.
  func see(_ time: HybridTime) { latest = max(latest, time) }

  /// Takes another number for this database: what was added under the old one and is not in the cloud goes on
  /// under the new one.
  private func renumber() throws(SQLiteError) {
    let (former, writer) = (tables.writer, nextWriter())
    tables.writer = writer
    // Those that became dirty in this transaction are not stored yet.
    for var row in rows.values {
      _ = row.reduce(.renumbered(from: former, to: writer), rules: tables[row.place].rules)
      keep(row)
    }
    for place in tables.inOrder.indices {
      for key in try stored.pending.keys(in: tables[place].id) {
        var row = try row(try tables[place].key(key), in: place)
        _ = row.reduce(.renumbered(from: former, to: writer), rules: tables[place].rules)
        keep(row)
      }
    }
    try facts.set(.writer, to: .integer(writer))
  }

  /// Whether triggers of the app's may run when a row of a table is written: those of the schema, and those that the
  /// connection alone has.
  func mayCallTriggers(of table: RecordTable) throws(SQLiteError) -> Bool {
    table.hasTriggersOfTheApp ? true : try hasTemporaryTriggers()
  }

  /// Whether the connection has triggers of its own.
  func hasTemporaryTriggers() throws(SQLiteError) -> Bool {
    if let knowsTemporaryTriggers { return knowsTemporaryTriggers }
    let query = try connection.fixedStatement(
      "SELECT 1 FROM temp.sqlite_schema WHERE type = 'trigger' LIMIT 1"
    )
    defer { query.reset() }
    let isFound = try query.step()
    knowsTemporaryTriggers = isFound
    return isFound
  }

  // MARK: Fetches of everything

  /// Whether a fetch of everything is under way.
  func isFetchingAll() throws(SQLiteError) -> Bool {
    if let fetchesAll { return fetchesAll }
    let isUnderWay = try facts.value(.fullFetch) != nil
    fetchesAll = isUnderWay
    return isUnderWay
  }

  /// What the fetch of everything that is under way is for; nil if there is none.
  func fullFetch() throws(SQLiteError) -> FullFetch? {
    try facts.value(.fullFetch).flatMap { FullFetch($0) }
  }

  /// Whether a table was rebuilt, when the transaction first asked: then everything is compared with it.
  func isRebuilt(table id: Int64) throws(SQLiteError) -> Bool {
    let tables = if let rebuiltTables { rebuiltTables } else { try facts.rebuiltTables() }
    rebuiltTables = tables
    return tables.contains(id)
  }

  /// The counters that a table has got and that are to be compared, when the transaction first asked.
  func addedCounters(of table: Int64) throws(SQLiteError) -> Set<String> {
    if let known = addedCounters[table] { return known }
    let names = try AddedCounters(connection: connection).names(of: table)
    addedCounters[table] = names
    return names
  }

  /// Whether the engine's own writes have changed rows of a table while it was left out: what the cloud has is right.
  func isOverwritten(table id: Int64) throws(SQLiteError) -> Bool {
    let tables =
      if let overwrittenTables { overwrittenTables } else { try facts.overwrittenTables() }
    overwrittenTables = tables
    return tables.contains(id)
  }

  /// Whether a fetch of everything is under way that notes what it has told about.
  func isNotingSeenRows() throws(SQLiteError) -> Bool {
    if let notesSeen { return notesSeen }
    let mode = try fullFetch()
    let isNoting = mode != nil && mode != .adopts
    notesSeen = isNoting
    return isNoting
  }
}

/// What time it is for the cloud: by its dates tombstones are purged.
extension SyncTransaction {
  /// Notes what time it is for the cloud.
  func noteDate(of record: Record) {
    guard purgeAge != nil, let date = record.modificationDate else { return }
    cloudTime = max(cloudTime, date.nanoseconds / 1_000_000)
  }

  /// Notes since when a row is deleted in the cloud.
  func noteTombstone(_ row: LoadedRow, of record: Record) throws(SQLiteError) {
    // The mark of who is about to delete it makes it no younger.
    guard purgeAge != nil, let date = record.modificationDate,
      row.isDeleted, let known = row.state.known,
      known.clock.purge == nil
    else { return }
    try stored.tombstones.note(row.rowKey, at: date.nanoseconds / 1_000_000)
  }

  /// Keeps the latest time of the cloud's that was seen.
  func noteCloudTime() throws(SQLiteError) {
    guard cloudTime > .min else { return }
    if let known = try facts.integer(.cloudTime), known >= cloudTime { return }
    try facts.set(.cloudTime, to: .integer(cloudTime))
  }
}

import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

@testable import CloudSyncSQLite

/// A database that is edited, and exchanges its rows with a cloud of records.
struct ExchangeDevice {
  let number: Int64
  private let connection: SQLiteConnection
  /// Parents first.
  private let tables: SyncTables
  private var token: ExchangeCloud.Token?
  /// The zone's incarnation that tags and token are of.
  private var zone: Int?
  private var answers: [(sent: SentRow, answer: ExchangeCloud.Answer)] = []
  private let zoneID = ZoneID(name: "Z")

  init(number: Int64, deletes: DeletePolicy) throws {
    self.number = number
    connection = try SQLiteConnection(path: ":memory:")
    try connection.execute(
      """
      PRAGMA foreign_keys = ON;
      CREATE TABLE lists(id TEXT PRIMARY KEY, name TEXT);
      CREATE TABLE notes(
        id TEXT PRIMARY KEY, title TEXT, tags TEXT, n INTEGER, list TEXT REFERENCES lists(id)
      );
      """
    )
    var options = SyncEngineOptions()
    options.defaultTable.merging = TableMergePolicy(
      columns: ["tags": .setUnion, "n": .counter],
      deletes: deletes
    )
    options.defaultTable.orphans = .detachChildren
    options.captureClock = .fixed
    tables = try EngineSetup(
      connection: connection,
      options: options,
      nonce: { UInt64(number) }
    )
    .prepare(["lists", "notes"]).tables
  }

  private func transaction() -> SyncTransaction {
    SyncTransaction(connection: connection, tables: tables, now: 0) { 99 }
  }

  private var table: RecordTable { tables[1] }
  private func key(_ name: String, in place: Int = 1) -> RecordKey {
    tables[place].format.key(spelled: [.text(name)])
  }

  func state(of name: String) throws -> RecordState? {
    try transaction().row(key(name), in: 1).state
  }

  func rows() throws -> [[SQLiteValue]] {
    var rows: [[SQLiteValue]] = []
    for sql in ["SELECT * FROM lists ORDER BY id", "SELECT * FROM notes ORDER BY id"] {
      let query = try connection.prepare(sql)
      try query.forEachRow { rows.append((0..<query.columnCount).map { query.value($0) }) }
    }
    return rows
  }

  // MARK: Edits

  /// Runs a statement at a time in milliseconds; the triggers capture what it does.
  func execute(_ sql: String, at now: Int64) throws {
    try connection.execute("UPDATE cloudsync_clock SET fixed = \(now); \(sql)")
  }

  func has(_ name: String) throws -> Bool {
    try connection.integer("SELECT count(*) FROM notes WHERE id = '\(name)'") == 1
  }

  /// Does what follows from events in one transaction, after what was captured; the engine's own writes are not.
  private func perform(
    _ body: (SyncTransaction) throws(SQLiteError) -> Void
  ) throws {
    let transaction = transaction()
    try connection.transaction { () throws(SQLiteError) in
      try transaction.readOutbox()
      try body(transaction)
      try transaction.finish()
    }
  }

  func readEdits() throws { try perform { _ in } }

  // MARK: The cloud

  mutating func send(to cloud: inout ExchangeCloud, limit: Int) throws {
    if !answers.isEmpty { return }
    try readEdits()
    let builder = BatchBuilder(transaction: transaction(), zoneID: zoneID)
    let batch = try builder.batch(
      limits: RequestLimits(items: limit, bytes: 1_000_000),
      now: 0,
      isOnItsWay: { _ in false }
    )
    for row in batch { answers.append((row, cloud.save(row.record))) }
  }

  /// The response is lost; what was sent may be there.
  mutating func loseResponse() { answers = [] }

  /// The process is killed: nothing is left but the file.
  mutating func crash() { answers = [] }

  mutating func deliver(from cloud: ExchangeCloud) throws {
    let answers = answers
    self.answers = []
    try perform { (transaction) throws(SQLiteError) in
      for (sent, answer) in answers {
        switch answer {
        case .saved(let record):
          try transaction.reduce(
            .saved(tag: record.changeTag ?? "", over: sent.record.changeTag, sent.version),
            of: sent.key,
            in: sent.table
          )
        case .conflict(let record): try transaction.cloud.take(record, meeting: sent)
        case .unknownItem:
          try transaction.reduce(
            .missing(tag: sent.record.changeTag, now: 0),
            of: sent.key,
            in: sent.table
          )
        }
      }
    }
  }

  mutating func fetch(from cloud: ExchangeCloud, limit: Int) throws {
    // A response that a page overtakes is dropped: its rows are still dirty.
    answers = []
    guard let page = cloud.page(after: token, limit: limit) else {
      token = nil
      return
    }
    let isBeginning = token == nil
    let isOther = zone != page.token.zone
    let isEnd = page.records.isEmpty && page.deleted.isEmpty
    try perform { (transaction) throws(SQLiteError) in
      if isBeginning { try FetchOfEverything(transaction: transaction).beginFullFetch() }
      if isOther { try FetchOfEverything(transaction: transaction).replaceZone() }
      for record in page.records { try transaction.cloud.take(record) }
      for recordID in page.deleted { try transaction.cloud.takeAbsence(of: recordID) }
      if isEnd {
        if try transaction.isFetchingAll() {
          let shown = SQLiteValue.integer(Int64(page.token.zone))
          try transaction.facts.set(.zone, to: shown)
          try transaction.facts.set(.shownZone, to: shown)
          try FetchOfEverything(transaction: transaction).endFullFetch()
        }
        transaction.isFetchComplete = true
        try transaction.cloud.takeEndOfFetch()
      }
    }
    (token, zone) = (page.token, page.token.zone)
  }

  /// What is not settled, for whoever asks why.
  func unsettled() throws -> String {
    let query = try connection.prepare(
      """
      SELECT table_id || ' ' || key || ': dirty ' || is_dirty || ', waits for '
        || coalesce(waits_for, 'nobody') || ', ' || coalesce(error, 'no error')
      FROM cloudsync_pending WHERE is_dirty OR waits_for IS NOT NULL OR error IS NOT NULL
      """
    )
    var lines: [String] = []
    try query.forEachRow { lines.append(query.text(0) ?? "") }
    return lines.joined(separator: "; ")
  }

  func isAtRest(_ cloud: ExchangeCloud) throws -> Bool {
    let isDirty = try PendingRows(connection: connection).dirtyCount() > 0
    // No row waits for a parent when all has come.
    let isWaiting = try connection.integer(
      "SELECT count(*) FROM cloudsync_pending WHERE waits_for IS NOT NULL OR error IS NOT NULL"
    )
    if isWaiting > 0 { return false }
    return !isDirty && answers.isEmpty && cloud.isNewest(token)
  }
}

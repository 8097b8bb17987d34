import CloudSyncCore
import CloudSyncSQLiteSupport

@testable import CloudSyncSQLite

/// A database that is edited, and exchanges its rows with a cloud of records.
struct ExchangeDevice {
  let number: Int64
  private let connection: SQLiteConnection
  /// Parents first.
  private let tables: [RecordTable]
  private var clock = HybridTime.zero
  private var token: ExchangeCloud.Token?
  /// The zone's incarnation that tags and token are of.
  private var zone: Int?
  private var answers: [(sent: SentRow, answer: ExchangeCloud.Answer)] = []
  private let zoneID = ZoneID(name: "Z")

  init(number: Int64, deletes: DeletePolicy) throws {
    self.number = number
    connection = try SQLiteConnection(path: ":memory:")
    try connection.execute(
      KnownRows.table + PendingRows.table + Facts.table + ForeignRecords.table + SeenRows.table
        + """
        PRAGMA foreign_keys = ON;
        CREATE TABLE lists(id TEXT PRIMARY KEY, name TEXT);
        CREATE TABLE notes(
          id TEXT PRIMARY KEY, title TEXT, tags TEXT, n INTEGER, list TEXT REFERENCES lists(id)
        );
        """
    )
    let policy = TableMergePolicy(columns: ["tags": .setUnion, "n": .counter], deletes: deletes)
    tables = [
      try Self.table(1, "lists", ["id": "TEXT", "name": "TEXT"], number, policy),
      try Self.table(
        2,
        "notes",
        ["id": "TEXT", "title": "TEXT", "tags": "TEXT", "n": "INTEGER", "list": "TEXT"],
        number,
        policy,
        references: [RecordReference(columns: ["list"], parent: 1)]
      ),
    ]
  }

  private static func table(
    _ id: Int64,
    _ name: String,
    _ columns: KeyValuePairs<String, String>,
    _ writer: Int64,
    _ policy: TableMergePolicy,
    references: [RecordReference] = []
  ) throws -> RecordTable {
    let numbers = ColumnNumbers(columns.map(\.key))
    let format = try RecordFormat(
      table: name,
      columns: columns.map { ($0.key, $0.value) },
      key: [("id", "BINARY")],
      numbers: numbers,
      assetThreshold: .max
    )
    var rules = RowRules(writer: writer, policy: policy)
    rules.asideFields = { format.asideFields(of: $0) }
    return RecordTable(
      id: id,
      name: name,
      columns: columns.map(\.key),
      key: ["id"],
      references: references,
      format: format,
      numbers: numbers,
      rules: rules,
      fieldValue: { value in
        guard case .field(let field) = ValueCodec.encode(value, assetThreshold: .max) else {
          return .null
        }
        return field
      }
    )
  }

  private func transaction() -> SyncTransaction {
    SyncTransaction(connection: connection, tables: tables, nextWriter: { 99 }) {
      if case .value(let value)? = ValueCodec.decode($0.value) { value } else { nil }
    }
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

  // MARK: Edits, as they are captured

  private mutating func tick(_ now: Int64) -> HybridTime {
    clock = max(clock.successor, HybridTime(rawValue: now * 8 + number))
    return clock
  }

  private mutating func edit(
    _ name: String,
    in place: Int = 1,
    _ edit: CloudSyncSQLite.RowEdit
  ) throws {
    var transaction = transaction()
    let key = key(name, in: place)
    try connection.transaction { () throws(SQLiteError) in
      try transaction.reduce(.edited(edit), key, in: place)
      try transaction.finish()
    }
  }

  private func value(_ name: String, _ column: String) throws -> SQLiteValue? {
    let values = try table.rows(connection).values(of: [.text(name)])
    return values.flatMap { values in table.columns.firstIndex(of: column).map { values[$0] } }
  }

  mutating func insertList(_ name: String, _ now: Int64) throws {
    guard try connection.integer("SELECT count(*) FROM lists WHERE id = '\(name)'") == 0 else {
      return
    }
    try connection.execute("INSERT INTO lists VALUES('\(name)', 'list \(now)')")
    let columns = [
      ColumnEdit(name: "id", value: .string(name)),
      ColumnEdit(name: "name", value: .string("list \(now)")),
    ]
    try edit(name, in: 0, .inserted(columns, at: tick(now)))
  }

  mutating func insert(_ name: String, _ title: SQLiteValue, _ now: Int64) throws {
    guard try value(name, "id") == nil else { return }
    try connection.execute(
      "INSERT INTO notes VALUES('\(name)', \(title.literal), '[]', 0, (SELECT max(id) FROM lists))"
    )
    let columns = try table.columns.map { column in
      ColumnEdit(name: column, value: table.fieldValue(try value(name, column) ?? .null))
    }
    try edit(name, .inserted(columns, at: tick(now)))
  }

  mutating func update(
    _ name: String,
    _ column: String,
    to value: SQLiteValue,
    _ now: Int64
  ) throws {
    guard let former = try self.value(name, column), former != value else { return }
    try connection.execute("UPDATE notes SET \(column) = \(value.literal) WHERE id = '\(name)'")
    let change = ColumnEdit(
      name: column,
      value: table.fieldValue(try self.value(name, column) ?? .null),
      former: table.fieldValue(former)
    )
    try edit(name, .updated([change], at: tick(now)))
  }

  mutating func add(_ name: String, _ amount: Int64, _ now: Int64) throws -> Bool {
    guard let former = try value(name, "n")?.integer else { return false }
    try update(name, "n", to: .integer(former + amount), now)
    return true
  }

  mutating func delete(_ name: String, _ now: Int64) throws {
    guard let values = try table.rows(connection).values(of: [.text(name)]) else { return }
    try connection.execute("DELETE FROM notes WHERE id = '\(name)'")
    let columns = zip(table.columns, values)
      .map { ColumnEdit(name: $0, value: table.fieldValue($1)) }
    try edit(name, .deleted(columns, at: tick(now)))
  }

  // MARK: The cloud

  mutating func send(to cloud: inout ExchangeCloud, limit: Int) throws {
    if !answers.isEmpty { return }
    let builder = BatchBuilder(transaction: transaction(), zoneID: zoneID)
    let batch = try builder.batch(
      limits: RequestLimits(items: limit, bytes: 1_000_000),
      now: 0,
      isOnItsWay: { _ in false }
    )
    for row in batch { answers.append((row, cloud.save(row.record))) }
  }

  /// The answer is lost; what was sent may be there.
  mutating func loseAnswer() { answers = [] }

  /// The process is killed: nothing is left but the file.
  mutating func crash() { answers = [] }

  mutating func deliver(from cloud: ExchangeCloud) throws {
    var transaction = transaction()
    let answers = answers
    self.answers = []
    try connection.transaction { () throws(SQLiteError) in
      for (sent, answer) in answers {
        switch answer {
        case .saved(let record): try transaction.takeSave(of: sent, as: record)
        case .conflict(let record): try transaction.take(record, asConflictAt: 0)
        case .unknownItem: try transaction.takeMissing(sent)
        }
      }
      try transaction.finish()
    }
    for (_, answer) in answers {
      if case .conflict(let record) = answer { see(record) }
    }
  }

  mutating func fetch(from cloud: ExchangeCloud, limit: Int) throws {
    // An answer that a page overtakes is dropped: its rows are still dirty.
    answers = []
    guard let page = cloud.page(after: token, limit: limit) else {
      token = nil
      return
    }
    let isBeginning = token == nil
    let isOther = zone != page.token.zone
    let isEnd = page.records.isEmpty && page.deleted.isEmpty
    var transaction = transaction()
    try connection.transaction { () throws(SQLiteError) in
      if isBeginning { try transaction.beginFullFetch() }
      if isOther { try transaction.replaceZone() }
      for record in page.records { try transaction.take(record) }
      for recordID in page.deleted { try transaction.takeAbsence(of: recordID) }
      if isEnd {
        if try transaction.isFetchingAll() { try transaction.endFullFetch(sweeps: true) }
        try transaction.takeEndOfFetch()
      }
      try transaction.finish()
    }
    for record in page.records { see(record) }
    (token, zone) = (page.token, page.token.zone)
  }

  private mutating func see(_ record: Record) {
    guard let version = try? tables[record.recordType == "lists" ? 0 : 1].format.version(of: record)
    else { return }
    clock = max(clock, version.clock.latest)
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

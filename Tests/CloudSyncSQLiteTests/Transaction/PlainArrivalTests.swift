import CloudSyncCore
import CloudSyncSQLiteSupport
import CloudSyncTestSupport
import Foundation
import Testing

@testable import CloudSyncSQLite

@Suite("Records that are stored many at once")
struct PlainArrivalTests {
  @Test("What pages bring is stored as if every record were taken by itself")
  func sameAsOneByOne() throws {
    for seed in UInt64(1)...UInt64(SuiteSize.count(3, long: 400)) {
      var world = try ArrivalWorld(seed: seed)
      for round in 0..<6 {
        try world.step()
        let (quick, slow) = (try world.quick.content(), try world.slow.content())
        guard quick == slow else {
          Issue.record("seed \(seed), round \(round): \(quick.difference(from: slow))")
          return
        }
      }
    }
  }

  @Test("Rows that are new, equal ones that are here, and what comes back go the quick way")
  func goesTheQuickWay() throws {
    let source = try ArrivalDevice(number: 1)
    try source.execute(
      """
      INSERT INTO lists VALUES('a', 'A', 1.5), ('b', 'B', 2.5);
      INSERT INTO notes VALUES(1, 'x', 'One', 0.5, 'a'), (2, 'y', 'Two', NULL, NULL);
      INSERT INTO trees VALUES('2', NULL, '2026-01-01', 1, NULL), ('1', '2', 'soon', 0, x'00');
      """
    )
    let records = try source.sent().map { $0.withChangeTag("1") }
    let page = FetchOperation.Response(changedRecords: records, changeToken: nil)
    let empty = try ArrivalDevice(number: 2)
    let copy = try ArrivalDevice(number: 3, rows: "INSERT INTO lists VALUES('b', 'B', 2.5)")
    for device in [empty, copy] {
      let isStored = try device.perform { (transaction) throws(SQLiteError) in
        try PlainRows(transaction: transaction).takePlainRows(of: [page])
      }
      #expect(records.count == 6 && isStored.allSatisfy { $0 })
      #expect(try device.rows() == source.rows())
      let again = try device.perform { (transaction) throws(SQLiteError) in
        try PlainRows(transaction: transaction).takePlainRows(of: [page])
      }
      #expect(again.allSatisfy { $0 })
    }
  }
}

/// Two devices that get the same from a cloud, each in its own way.
private struct ArrivalWorld {
  private var generator: Model.Generator
  private var cloud = ExchangeCloud()
  private let source: ArrivalDevice
  let quick: ArrivalDevice
  let slow: ArrivalDevice
  private var token: ExchangeCloud.Token?

  init(seed: UInt64) throws {
    generator = Model.Generator(seed: seed)
    source = try ArrivalDevice(number: 1)
    // Rows that nobody has captured, some of them the cloud's.
    var rows = ""
    if generator.chance(60) {
      for _ in 0..<6 { rows += Self.statement(&generator, inserts: true) }
    }
    quick = try ArrivalDevice(number: 2, rows: rows)
    slow = try ArrivalDevice(number: 2, rows: rows)
    _ = cloud.save(ZoneRecord(incarnation: 7, erases: false).record(in: ArrivalDevice.zoneID))
  }

  mutating func step() throws {
    for _ in 0..<(2 + generator.below(20)) {
      try source.execute(Self.statement(&generator, inserts: generator.chance(60)))
    }
    for record in try source.sent() {
      if case .saved(let saved) = cloud.save(record) { try source.saved(saved) }
    }
    if generator.chance(10) { cloud.remove("1:lists") }
    if generator.chance(40) {
      let edit = Self.statement(&generator, inserts: generator.chance(50))
      for device in [quick, slow] { try device.execute(edit) }
    }
    if generator.chance(15) { token = nil }
    let pages = pages()
    try quick.perform { (transaction) throws(SQLiteError) in
      try PageApplier(transaction: transaction)
        .take(pages.map { FetchedPage(response: $0, absencesBefore: 0) })
    }
    try slow.perform { (transaction) throws(SQLiteError) in
      for page in pages { try Self.takeOneByOne(page, transaction) }
    }
  }

  private mutating func pages() -> [FetchOperation.Response] {
    var pages: [FetchOperation.Response] = []
    let limit = 3 + generator.below(20)
    var isBeginning = token == nil
    while let page = cloud.page(after: token, limit: limit) {
      if page.records.isEmpty, page.deleted.isEmpty, !pages.isEmpty { break }
      let former = token
      token = page.token
      var response = FetchOperation.Response(
        changedRecords: page.records,
        deletedRecords: page.deleted.map { DeletedRecord(recordID: $0) },
        changeToken: Self.changeToken(page.token),
        hasMore: true
      )
      response.isBeginning = isBeginning
      response.previousToken = isBeginning ? nil : former.flatMap(Self.changeToken)
      isBeginning = false
      pages.append(response)
      if page.records.isEmpty, page.deleted.isEmpty { break }
    }
    // Now and then a record is told of twice.
    if generator.chance(20), let records = pages.first?.changedRecords {
      pages[pages.count - 1].changedRecords += records.prefix(2)
    }
    if !pages.isEmpty { pages[pages.count - 1].hasMore = false }
    return pages
  }

  private static func changeToken(_ token: ExchangeCloud.Token) -> ChangeToken? {
    ChangeToken(Data("\(token.place)".utf8))
  }

  private static func takeOneByOne(
    _ page: FetchOperation.Response,
    _ transaction: SyncTransaction
  ) throws(SQLiteError) {
    if page.isBeginning { try FetchOfEverything(transaction: transaction).beginFullFetch() }
    let records = page.changedRecords
    for record in records where ZoneRecord.isName(record.recordID.name) {
      try transaction.cloud.take(record)
    }
    for record in records where !ZoneRecord.isName(record.recordID.name) {
      try transaction.cloud.take(record)
    }
    for recordID in page.deletedRecordIDs { try transaction.cloud.takeAbsence(of: recordID) }
    try transaction.facts.set(.token, to: page.changeToken.map { .blob([UInt8]($0.bytes)) })
    guard page.isLast else { return }
    if try transaction.isFetchingAll() {
      try FetchOfEverything(transaction: transaction).endFullFetch()
    }
    try transaction.cloud.takeEndOfFetch()
    transaction.isFetchComplete = true
  }

  private static func statement(_ generator: inout Model.Generator, inserts: Bool) -> String {
    let (id, other) = (generator.below(9), generator.below(9))
    let list = generator.chance(50) ? "NULL" : "(SELECT id FROM lists WHERE id = 'L\(other)')"
    let parent = generator.chance(50) ? "NULL" : "(SELECT id FROM trees WHERE id = '\(other)')"
    let name = ["NULL", "'n\(other)'", "'N\(other)'", "x'01'"][generator.below(4)]
    let number = ["NULL", "0", "1.5", "-0.0", "2.0", "'text'"][generator.below(6)]
    let spelled = generator.chance(20) ? "l\(id)" : "L\(id)"
    guard inserts else {
      // SQLite changes several rows in the order in which they were stored, which need not be the same for both.
      let note = "rowid = (SELECT rowid FROM notes WHERE a = \(id) ORDER BY b LIMIT 1)"
      return [
        "UPDATE OR IGNORE lists SET name = \(name) WHERE id = 'L\(id)';",
        "UPDATE notes SET weight = \(number) WHERE \(note);",
        "UPDATE notes SET list = \(list) WHERE \(note);",
        "UPDATE trees SET flag = \(number) WHERE id = '\(id)';",
        "DELETE FROM notes WHERE \(note);",
        "UPDATE trees SET parent = NULL WHERE parent = '\(id)'; DELETE FROM trees WHERE id = '\(id)';",
        "UPDATE notes SET list = NULL WHERE list = 'L\(id)' COLLATE NOCASE; DELETE FROM lists WHERE id = 'L\(id)';",
      ][generator.below(7)]
    }
    return [
      "INSERT OR IGNORE INTO lists VALUES('\(spelled)', \(name), \(number));",
      "INSERT OR IGNORE INTO notes VALUES(\(id), 'b\(other)', 'T', \(number), \(list));",
      "INSERT OR IGNORE INTO trees VALUES('\(id)', \(parent), '\(other)', \(number), \(name));",
    ][generator.below(3)]
  }
}

/// A database that takes what a cloud has.
private struct ArrivalDevice {
  static let zoneID = ZoneID(name: "Z")
  private static let tableNames = ["lists", "notes", "trees"]
  private let connection: SQLiteConnection
  /// Parents first.
  private let tables: SyncTables

  init(number: UInt64, rows: String = "") throws {
    connection = try SQLiteConnection(path: ":memory:")
    try connection.execute(
      """
      PRAGMA foreign_keys = ON;
      CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL COLLATE NOCASE, name TEXT UNIQUE, price DECIMAL(9, 2));
      CREATE TABLE notes(
        a INTEGER NOT NULL, b TEXT NOT NULL, title TEXT NOT NULL DEFAULT 'x', weight REAL,
        list TEXT REFERENCES lists(id), PRIMARY KEY(a, b)
      );
      CREATE TABLE trees(
        id TEXT PRIMARY KEY NOT NULL, parent TEXT REFERENCES trees(id), day DATE, flag BOOLEAN, picture BLOB
      );
      \(rows)
      """
    )
    var options = SyncEngineOptions()
    options.captureClock = .fixed
    options.defaultTable.uniqueKeys = .newest
    tables = try EngineSetup(connection: connection, options: options, nonce: { number })
      .prepare(Self.tableNames).tables
    try connection.execute("UPDATE cloudsync_clock SET fixed = 1000")
  }

  func execute(_ sql: String) throws {
    try connection.execute("UPDATE cloudsync_clock SET fixed = fixed + 1; \(sql)")
  }

  @discardableResult
  func perform<Value>(
    _ body: (SyncTransaction) throws(SQLiteError) -> Value
  ) throws -> Value {
    let transaction = SyncTransaction(connection: connection, tables: tables, now: 0) { 99 }
    return try connection.transaction { () throws(SQLiteError) in
      try transaction.readOutbox()
      let value = try body(transaction)
      try transaction.finish()
      return value
    }
  }

  /// The records that are to be sent.
  func sent() throws -> [Record] {
    try perform { (transaction) throws(SQLiteError) in
      try transaction.finish()
      let builder = BatchBuilder(transaction: transaction, zoneID: Self.zoneID)
      let limits = RequestLimits(items: 1_000, bytes: 10_000_000)
      return try builder.batch(limits: limits, now: 0) { _ in false }.map(\.record)
    }
  }

  func saved(_ record: Record) throws {
    try perform { (transaction) throws(SQLiteError) in
      guard let (place, key) = transaction.tables.place(ofRecord: record.recordID.name),
        case let state = try transaction.row(key, in: place).state, let version = state.row
      else { return }
      try transaction.reduce(
        .saved(tag: record.changeTag ?? "", over: state.known?.tag, version),
        of: key,
        in: place
      )
    }
  }

  func rows() throws -> [String] {
    try Self.tableNames.flatMap { try lines("SELECT * FROM \($0) ORDER BY 1, 2") }
  }

  /// All that is stored.
  func content() throws -> [String] {
    try rows()
      + [
        "SELECT * FROM cloudsync_known ORDER BY 1, 2", "SELECT * FROM cloudsync_seen ORDER BY 1, 2",
        "SELECT * FROM cloudsync_pending ORDER BY 1, 2", "SELECT last FROM cloudsync_clock",
        "SELECT * FROM cloudsync_foreign_records", "SELECT * FROM cloudsync_outbox",
        "SELECT * FROM cloudsync_facts ORDER BY 1",
      ]
      .flatMap { try lines($0) }
  }

  private func lines(_ sql: String) throws -> [String] {
    let query = try connection.prepare(sql)
    return try query.mapRows { query in
      (0..<query.columnCount).map { query.value($0).literal }.joined(separator: "|")
    }
  }
}

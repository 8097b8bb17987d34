#if canImport(CSQLite)
import CSQLite
import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import CloudSyncTestSupport
import Testing

@testable import CloudSyncChangesets

/// What triggers see, held against SQLite's session extension.
@Suite struct SessionOracleTests {
  private static let schema = """
    CREATE TABLE items(
      id TEXT PRIMARY KEY NOT NULL, a, b INTEGER, c TEXT UNIQUE, d REAL DEFAULT 2.5);
    CREATE TABLE pairs(x INTEGER NOT NULL, y TEXT NOT NULL, v, PRIMARY KEY(x, y)) WITHOUT ROWID;
    """

  /// A statement of many kinds, drawn from the numbers.
  private static func statement(_ random: inout SplitMix64) -> String {
    func key() -> String { "'k\(random.below(12))'" }
    func value() -> String {
      ["NULL", "1", "1.5", "'t'", "x'00ff'", "\(random.below(9))"][Int(random.below(6))]
    }
    let clause = ["", "OR REPLACE", "OR IGNORE", "OR FAIL"][Int(random.below(4))]
    switch random.below(9) {
    case 0, 1:
      return
        "INSERT \(clause) INTO items(id, a, b, c) VALUES(\(key()), \(value()), \(random.below(5)),"
        + " \(random.below(3) == 0 ? "NULL" : "'u\(random.below(8))'"))"
    case 2: return "UPDATE \(clause) items SET a = \(value()) WHERE id = \(key())"
    case 3: return "UPDATE \(clause) items SET c = 'u\(random.below(8))' WHERE id = \(key())"
    case 4: return "UPDATE \(clause) items SET id = \(key()) WHERE id = \(key())"
    case 5: return "DELETE FROM items WHERE id = \(key())"
    case 6:
      return "INSERT INTO items(id, b) VALUES(\(key()), 1)"
        + " ON CONFLICT(id) DO UPDATE SET b = b + 1, d = NULL"
    case 7:
      return "REPLACE INTO pairs VALUES(\(random.below(3)), 'y\(random.below(3))', \(value()))"
    default: return "DELETE FROM pairs WHERE x = \(random.below(3))"
    }
  }

  @Test(arguments: 0..<UInt64(SuiteSize.count(4, long: 400)))
  func randomStatementsGiveTheChangesThatASessionGives(seed: UInt64) throws {
    let bench = try HistoryBench(Self.schema)
    let copy = try DatabaseFile(path: ":memory:", createsFile: true)
    try copy.execute(Self.schema)
    var random = SplitMix64(seed: seed)
    for _ in 0..<12 {
      var statements: [String] = []
      for _ in 0..<25 { statements.append(Self.statement(&random)) }
      let recorded = statements
      let parent = try bench.repository.head().id
      let theirs = try bench.database.write { handle in
        try Self.changeset(handle) {
          // What breaks a constraint is refused, and neither sees it.
          for statement in recorded { sqlite3_exec(handle, statement, nil, nil, nil) }
        }
      }
      guard let commit = try bench.repository.commit() else {
        #expect(theirs == [])
        continue
      }
      let mine = try bench.repository.data(of: commit.id, from: parent)
      let tables = ["items", "pairs"]
      #expect(try Self.changes(mine) == Self.changes(theirs).filter { tables.contains($0.table) })
      // And SQLite applies it to the parent's rows.
      try copy.write { handle in
        var bytes = mine
        let code = sqlite3changeset_apply(
          handle,
          Int32(bytes.count),
          &bytes,
          nil,
          { _, _, _ in SQLITE_CHANGESET_ABORT },
          nil
        )
        #expect(code == SQLITE_OK)
      }
      for table in tables {
        let query = "SELECT * FROM \(table) ORDER BY 1, 2"
        #expect(try copy.rows(query) == bench.rows(query))
      }
    }
    #expect(try bench.repository.verify().problems == [])
  }

  /// The bytes of what a session sees of the tracked tables.
  private static func changeset(
    _ handle: OpaquePointer,
    _ body: () throws -> Void
  ) throws -> [UInt8] {
    var session: OpaquePointer?
    sqlite3session_create(handle, "main", &session)
    for table in ["items", "pairs"] { sqlite3session_attach(session, table) }
    try body()
    var count: Int32 = 0
    var bytes: UnsafeMutableRawPointer?
    #expect(sqlite3session_changeset(session, &count, &bytes) == SQLITE_OK)
    defer {
      sqlite3_free(bytes)
      sqlite3session_delete(session)
    }
    return bytes.map { Array(UnsafeRawBufferPointer(start: $0, count: Int(count))) } ?? []
  }

  private struct Change: Hashable, Comparable {
    var table: String
    var text: String

    static func < (lhs: Self, rhs: Self) -> Bool { (lhs.table, lhs.text) < (rhs.table, rhs.text) }
  }

  /// The changes that bytes hold, as SQLite reads them, in order.
  private static func changes(_ bytes: [UInt8]) throws -> [Change] {
    var bytes = bytes
    var iterator: OpaquePointer?
    guard sqlite3changeset_start(&iterator, Int32(bytes.count), &bytes) == SQLITE_OK else {
      return []
    }
    defer { sqlite3changeset_finalize(iterator) }
    var changes: [Change] = []
    while sqlite3changeset_next(iterator) == SQLITE_ROW {
      var name: UnsafePointer<CChar>?
      var (width, operation, isIndirect): (Int32, Int32, Int32) = (0, 0, 0)
      sqlite3changeset_op(iterator, &name, &width, &operation, &isIndirect)
      var parts = ["\(operation)"]
      for column in 0..<width {
        var (old, new): (OpaquePointer?, OpaquePointer?) = (nil, nil)
        if operation != SQLITE_INSERT { sqlite3changeset_old(iterator, column, &old) }
        if operation != SQLITE_DELETE { sqlite3changeset_new(iterator, column, &new) }
        parts.append("\(text(old))→\(text(new))")
      }
      changes.append(
        Change(table: name.map { String(cString: $0) } ?? "", text: parts.joined(separator: " "))
      )
    }
    return changes.sorted()
  }

  private static func text(_ value: OpaquePointer?) -> String {
    guard let value else { return "–" }
    let kind = sqlite3_value_type(value)
    guard kind != SQLITE_NULL else { return "NULL" }
    let text = sqlite3_value_text(value).map { String(cString: $0) } ?? ""
    return kind == SQLITE_BLOB ? "x\(sqlite3_value_bytes(value))" : "\(kind):\(text)"
  }
}
#endif

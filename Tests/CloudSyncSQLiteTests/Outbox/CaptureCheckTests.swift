import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport
import Testing

@testable import CloudSyncSQLite

@Suite("Whether capture has had gaps")
struct CaptureCheckTests {
  private static let schema = """
    CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, a, b);
    CREATE TABLE s(id TEXT PRIMARY KEY NOT NULL, a);
    """

  private func findings(
    _ sql: String,
    of names: [String] = ["t", "s"]
  ) throws -> [String: CaptureFinding] {
    let harness = try CaptureHarness(Self.schema, tables: ["t", "s"])
    try harness.execute(sql)
    return try findings(harness, of: names)
  }

  private func findings(
    _ harness: CaptureHarness,
    of names: [String]
  ) throws -> [String: CaptureFinding] {
    let schema = try DatabaseSchema.read(harness.connection)
    let found = try CaptureCheck(connection: harness.connection).findings(of: names, in: schema)
    return Dictionary(found.map { ($0.table, $0.finding) }, uniquingKeysWith: { first, _ in first })
  }

  @Test(
    "What became of a table is found",
    arguments: [
      ("SELECT 1", CaptureFinding.unchanged),
      ("CREATE INDEX i ON t(a); VACUUM", .unchanged),
      ("ALTER TABLE t ADD COLUMN c DEFAULT 5", .columnsChanged(added: ["c"], removed: [])),
      ("ALTER TABLE t RENAME COLUMN a TO z", .columnsChanged(added: ["z"], removed: ["a"])),
      ("DROP TABLE t; CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, a, b)", .rebuilt),
      ("DROP TRIGGER cloudsync_capture_update_1", .rebuilt),
      (
        """
        DROP TRIGGER cloudsync_capture_insert_1;
        CREATE TRIGGER cloudsync_capture_insert_1 AFTER INSERT ON t BEGIN SELECT 1; END
        """, .rebuilt
      ),
      ("CREATE TABLE n AS SELECT * FROM t; DROP TABLE t; ALTER TABLE n RENAME TO t", .rebuilt),
      ("DROP TABLE t; ALTER TABLE s RENAME TO t", .rebuilt),
      ("DROP TABLE t", .missing),
      ("ALTER TABLE t RENAME TO u", .missing),
    ]
  )
  func finding(sql: String, expected: CaptureFinding) throws {
    #expect(try findings(sql)["t"] == expected)
  }

  @Test("Tables that are new, or were left out by an engine for fewer tables")
  func others() throws {
    let harness = try CaptureHarness(Self.schema, tables: ["t", "s"])
    try harness.install(["t"])
    #expect(try findings(harness, of: ["t", "s"]) == ["t": .unchanged, "s": .leftOut])
    try harness.execute("CREATE TABLE n(id TEXT PRIMARY KEY NOT NULL)")
    #expect(try findings(harness, of: ["t", "n"]) == ["t": .unchanged, "n": .new])
    try harness.install(["t", "s"])
    #expect(try findings(harness, of: ["t", "s"]) == ["t": .unchanged, "s": .unchanged])
  }

  @Test(
    "Every change of a table or a trigger changes the schema's version; installing again does not"
  )
  func version() throws {
    let harness = try CaptureHarness(Self.schema, tables: ["t", "s"])
    let check = CaptureCheck(connection: harness.connection)
    let before = try check.schemaVersion()
    try harness.execute("INSERT INTO t VALUES('x', 1, 2)")
    try harness.install()
    try harness.read()
    #expect(try check.schemaVersion() == before)
    try harness.execute("DROP TRIGGER cloudsync_capture_delete_1")
    #expect(try check.schemaVersion() != before)
  }

  @Test("A renamed table takes its triggers along, which are removed there and made for it anew")
  func renamed() throws {
    let harness = try CaptureHarness(Self.schema, tables: ["t", "s"])
    try harness.execute(
      "DROP TABLE t; ALTER TABLE s RENAME TO t; CREATE TABLE s(id TEXT PRIMARY KEY)"
    )
    try harness.install()
    #expect(try findings(harness, of: ["t", "s"]) == ["t": .unchanged, "s": .unchanged])
    try harness.execute("INSERT INTO t VALUES('x', 1); INSERT INTO s VALUES('y')")
    try harness.read()
    #expect(try harness.isSame())
    #expect(try harness.lines("SELECT count(*) FROM cloudsync_outbox") == ["0"])
  }

  @Test("What a renamed table took along captures nothing twice")
  func takenAlong() throws {
    let harness = try CaptureHarness(Self.schema, tables: ["t", "s"])
    try harness.execute("DROP TABLE t; ALTER TABLE s RENAME TO t")
    try harness.install()
    try harness.execute("INSERT INTO t VALUES('x', 1)")
    try harness.read()
    #expect(try harness.isSame())
    #expect(try harness.lines("SELECT count(*) FROM cloudsync_outbox") == ["0"])
  }

  @Test("A column is dropped and added within a migration; numbers of columns keep their meaning")
  func migration() throws {
    let harness = try CaptureHarness(Self.schema, tables: ["t", "s"])
    try harness.execute("INSERT INTO t VALUES('x', 1, 2)")
    try harness.read()
    try harness.execute("UPDATE t SET b = 3")
    #expect(throws: SQLiteError.self) { try harness.execute("ALTER TABLE t DROP COLUMN a") }
    let installation = CaptureInstallation(connection: harness.connection, clock: .fixed)
    let (_, tables) = try harness.connection.transaction { () throws(SQLiteError) in
      try installation.withoutCapture(of: ["t"]) { () throws(SQLiteError) in
        try harness.connection.execute("ALTER TABLE t DROP COLUMN a; ALTER TABLE t ADD COLUMN c")
        try harness.connection.execute("UPDATE t SET c = 'unseen'")
      }
    }
    #expect(tables.map(\.columns) == [["id", "a", "b", "c"]])
    try harness.execute("UPDATE t SET c = 'seen'")
    let rows = try harness.reader(tables).readBatch(limit: 9).rows
    #expect(CaptureHarness.text(rows) == ["'x' ~b=3@1000.2 ~c=seen@1000.4"])
    #expect(try findings(harness, of: ["t", "s"])["t"] == .unchanged)
  }

  @Test("While triggers are removed nothing is believed; another key makes another table of it")
  func otherKey() throws {
    let harness = try CaptureHarness(Self.schema, tables: ["t", "s"])
    try harness.execute("INSERT INTO t VALUES('x', 1, 2)")
    let installation = CaptureInstallation(connection: harness.connection, clock: .fixed)
    try installation.removeTriggers(of: ["T"])
    #expect(try findings(harness, of: ["t", "s"])["t"] == .rebuilt)
    try harness.execute("DROP TABLE t; CREATE TABLE t(a, b, PRIMARY KEY(a, b)) WITHOUT ROWID")
    try harness.install()
    #expect(harness.tables.map(\.id) == [3, 2])
    try harness.execute("INSERT INTO t VALUES(1, 2)")
    try harness.read()
    #expect(try harness.isSame())
  }
}

import CloudSyncSQLiteSupport
import Testing

@testable import CloudSyncSQLite

@Suite("Edits of tables that an engine does not synchronize")
struct LeftEditTests {
  private static let schema = """
    CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, a);
    CREATE TABLE s(id TEXT PRIMARY KEY NOT NULL, a);
    """

  @Test(
    "They stay in the outbox with their times, and are read by an engine that does",
    arguments: [1, 2, 100]
  )
  func left(limit: Int) throws {
    let harness = try CaptureHarness(Self.schema, tables: ["t", "s"])
    try harness.install(["t"])
    try harness.execute("INSERT INTO s VALUES('s', 1); INSERT INTO t VALUES('t', 1)")
    try harness.execute("UPDATE s SET a = 2")
    #expect(CaptureHarness.text(try harness.read(limit: limit)) == ["'t' +id=t,a=1@1000.2"])
    #expect(try harness.lines("SELECT count(*) FROM cloudsync_outbox") == ["2"])

    try harness.setTime(9_000)
    try harness.execute("UPDATE t SET a = 2; UPDATE s SET a = 3")
    #expect(CaptureHarness.text(try harness.read(limit: limit)) == ["'t' ~a=2@9000.0"])
    // What was seen meanwhile is later than what was captured before.
    try harness.execute("UPDATE cloudsync_clock SET last = \(99_000 << 16)")

    try harness.install(["t", "s"])
    try harness.execute("INSERT INTO s VALUES('u', 1)")
    #expect(
      CaptureHarness.text(try harness.read()) == [
        "'s' +id=s,a=3@1000.0 ~a=3@9000.2", "'u' +id=u,a=1@99000.2",
      ]
    )
    #expect(try harness.lines("SELECT count(*) FROM cloudsync_outbox") == ["0"])
    try harness.execute("UPDATE t SET a = 7")
    #expect(try harness.read().count == 1)
  }

  @Test("Readers of other tables, who run at the same time, each find the edits of theirs")
  func inTurn() throws {
    let harness = try CaptureHarness(Self.schema, tables: ["t", "s"])
    let all = harness.tables
    let some = harness.reader(all.filter { $0.name == "t" })
    func read(_ reader: CapturedEditReader) throws -> [String] {
      var rows: [CapturedRow] = []
      try harness.connection.transaction { () throws(SQLiteError) in
        try reader.readAll { rows += $0.rows }
      }
      return CaptureHarness.text(rows)
    }
    try harness.execute("INSERT INTO s VALUES('s', 1); INSERT INTO s VALUES('u', 1)")
    #expect(try read(some) == [])
    #expect(
      try read(harness.reader()) == ["'s' +id=s,a=1@1000.0", "'u' +id=u,a=1@1000.2"]
    )
    // The outbox is empty, and counts from the beginning again.
    try harness.execute("INSERT INTO t VALUES('t', 1)")
    #expect(try read(some) == ["'t' +id=t,a=1@1000.4"])
  }

  @Test("An edit that is taken back with its transaction leaves no trace")
  func rolledBack() throws {
    let harness = try CaptureHarness(Self.schema, tables: ["t", "s"])
    try harness.execute("BEGIN; INSERT INTO t VALUES('x', 1); ROLLBACK")
    #expect(throws: SQLiteError.self) {
      try harness.execute("INSERT INTO s VALUES('x', 1), ('x', 2)")
    }
    #expect(try harness.read() == [])
  }
}

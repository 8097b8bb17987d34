import CloudSyncCore
import CloudSyncSQLiteSupport
import Testing

@testable import CloudSyncSQLite

@Suite("Captured edits")
struct CapturedEditTests {
  private static let schema = "CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, a TEXT, b INTEGER)"

  private func harness() throws -> CaptureHarness {
    let harness = try CaptureHarness(Self.schema)
    try harness.execute("INSERT INTO t VALUES('x', 'old', 1)")
    try harness.read()
    return harness
  }

  @Test("Inserts, updates, deletions and renames are read with their times")
  func kinds() throws {
    let harness = try CaptureHarness(Self.schema)
    try harness.execute("INSERT INTO t VALUES('x', 'one', 1), ('y', 'two', 2), ('z', NULL, NULL)")
    try harness.setTime(2_000)
    try harness.execute("UPDATE t SET a = 'new' WHERE id = 'x'; DELETE FROM t WHERE id = 'y'")
    try harness.execute("UPDATE t SET id = 'w', b = 5 WHERE id = 'z'")

    #expect(
      CaptureHarness.text(try harness.read()) == [
        "'x' +id=x,a=new,b=1@1000.0 ~a=new@2000.0", "'y' +@1000.2 -@2000.2",
        "'z' +@1000.4 -@2000.4", "'w' +id=w,a=NULL,b=5@2000.6 ~b=5@2000.8",
      ]
    )
    #expect(try harness.isSame())
    #expect(try harness.lines("SELECT count(*) FROM cloudsync_outbox") == ["0"])
  }

  @Test("A column has its newest value with its newest time; other columns keep theirs")
  func folding() throws {
    let harness = try harness()
    for (time, sql) in [(2, "a = 'p', b = 2"), (3, "a = 'q'"), (4, "a = 'q'")] {
      try harness.setTime(time * 1_000)
      try harness.execute("UPDATE t SET \(sql)")
    }
    #expect(CaptureHarness.text(try harness.read()) == ["'x' ~b=2@2000.0 ~a=q@3000.0"])
  }

  @Test("A row that was deleted and made again has both; one made and deleted is deleted")
  func lives() throws {
    let harness = try harness()
    try harness.execute(
      """
      UPDATE t SET a = 'lost'; DELETE FROM t; INSERT INTO t VALUES('x', 'again', 2);
      UPDATE t SET b = 3; INSERT INTO t(id) VALUES('y'); DELETE FROM t WHERE id = 'y'
      """
    )
    #expect(
      CaptureHarness.text(try harness.read()) == [
        "'x' -@1000.4 +id=x,a=again,b=3@1000.6 ~b=3@1000.8", "'y' +@1000.10 -@1000.12",
      ]
    )
    #expect(try harness.isSame())
  }

  @Test("Batches of any size give the same rows", arguments: [1, 2, 3, 100])
  func batches(limit: Int) throws {
    let harness = try harness()
    try harness.execute(
      """
      INSERT INTO t VALUES('y', 'y', 1); UPDATE t SET b = 7; DELETE FROM t WHERE id = 'x';
      INSERT INTO t VALUES('x', 'again', 8); UPDATE t SET id = 'z' WHERE id = 'y'
      """
    )
    try harness.read(limit: limit)
    #expect(try harness.isSame())
  }

  @Test("Times are later than what was seen, also where the system's clock went back")
  func times() throws {
    let harness = try harness()
    try harness.execute("UPDATE cloudsync_clock SET last = \(5_000 << 16 | 7)")
    try harness.execute("UPDATE t SET b = 2")
    #expect(CaptureHarness.text(try harness.read()) == ["'x' ~b=2@5000.8"])
    try harness.setTime(6_000)
    try harness.execute("UPDATE t SET b = 3")
    try harness.setTime(500)
    try harness.execute("UPDATE t SET a = 'back'")
    #expect(CaptureHarness.text(try harness.read()) == ["'x' ~b=3@6000.0 ~a=back@6000.2"])
  }

  @Test("The system's clock is that of SQLite, to the millisecond")
  func systemClock() throws {
    let harness = try CaptureHarness(Self.schema)
    let schema = try #require(harness.tables.first).schema
    _ = try CaptureInstallation(connection: harness.connection).install([.init(schema: schema)])
    let now = "CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER)"
    let before = try harness.connection.integer("SELECT \(now)")
    try harness.execute("INSERT INTO t(id) VALUES('x')")
    let after = try harness.connection.integer("SELECT \(now)")
    guard case .inserted(_, let time)? = try harness.read().first?.edits.first else {
      Issue.record("no insert")
      return
    }
    #expect((before...after).contains(time.milliseconds))
  }

  @Test("Updates that change nothing are not captured; ones of type or bytes alone are")
  func unchanged() throws {
    let harness = try CaptureHarness(
      """
      CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, a TEXT COLLATE NOCASE, b, c BLOB, d REAL, e INTEGER);
      INSERT INTO t VALUES('x', 'a', 1, 'text', 2.0, 2)
      """
    )
    try harness.execute("UPDATE t SET id = 'x', a = 'a', b = 1, c = 'text', d = 2, e = '2'")
    #expect(try harness.read() == [])
    try harness.execute("UPDATE t SET a = 'A', b = 1.0, c = x'74657874'")
    #expect(CaptureHarness.text(try harness.read()) == ["'x' ~a=A,b=1.0,c=…@1000.0"])
    // The lowest whole number is the only one beside which a column for numbers keeps the real that is equal to it.
    try harness.execute("UPDATE t SET e = -9223372036854775808")
    #expect(try harness.read().count == 1)
    try harness.execute("UPDATE t SET e = e - 1")
    #expect(CaptureHarness.text(try harness.read()) == ["'x' ~e=-9.223372036854776e+18@1000.4"])
  }

  @Test("A row without a key is captured when it gets one")
  func nullKeys() throws {
    let harness = try CaptureHarness("CREATE TABLE t(a TEXT, b INT, c, PRIMARY KEY(a, b))")
    try harness.execute("INSERT INTO t VALUES(NULL, 1, 'x'); UPDATE t SET c = 'y'")
    #expect(try harness.read() == [])
    try harness.execute("UPDATE t SET a = 'k'")
    #expect(try harness.read().count == 1 && harness.isSame())
    try harness.execute("UPDATE t SET b = NULL; DELETE FROM t")
    #expect(CaptureHarness.text(try harness.read()) == ["'k',1 -@1000.2"])
    #expect(try harness.isSame())
  }
}

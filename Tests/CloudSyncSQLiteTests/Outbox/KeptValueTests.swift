import Testing

@testable import CloudSyncSQLite

@Suite("Values that policies need")
struct KeptValueTests {
  private func harness() throws -> CaptureHarness {
    let harness = try CaptureHarness(
      "CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, n INTEGER, a TEXT)",
      kept: ["n"]
    )
    try harness.execute("INSERT INTO t VALUES('x', 5, 'a')")
    #expect(CaptureHarness.text(try harness.read()) == ["'x' +id=x,n=5,a=a@1000.0"])
    return harness
  }

  @Test("Additions are read one by one, with what there was before and after each")
  func additions() throws {
    let harness = try harness()
    try harness.execute("UPDATE t SET n = n + 1; UPDATE t SET a = 'b'; UPDATE t SET n = n + 2")
    let expected = ["'x' ~n=(5)6@1000.2 ~a=b@1000.4 ~n=(6)8@1000.6"]
    #expect(CaptureHarness.text(try harness.read()) == expected)
  }

  @Test("A batch that ends between two additions counts each once")
  func split() throws {
    let harness = try harness()
    try harness.execute("UPDATE t SET n = n + 1; UPDATE t SET n = n + 2")
    try harness.execute("INSERT INTO t VALUES('y', 1, ''); UPDATE t SET n = 9 WHERE id = 'y'")
    #expect(
      CaptureHarness.text(try harness.read(limit: 1)) == [
        "'x' ~n=(5)6@1000.2", "'x' ~n=(6)8@1000.4", "'y' +id=y,n=1,a=@1000.6",
        "'y' ~n=(1)9@1000.8",
      ]
    )
  }

  @Test("A row that is written over tells what it held")
  func replaced() throws {
    let harness = try harness()
    try harness.execute("REPLACE INTO t VALUES('x', 7, 'b')")
    #expect(CaptureHarness.text(try harness.read()) == ["'x' +id=x,n=(5)7,a=b@1000.4"])
    try harness.execute("DELETE FROM t; INSERT INTO t VALUES('x', 1, 'c')")
    #expect(CaptureHarness.text(try harness.read()) == ["'x' -n=7@1000.6 +id=x,n=1,a=c@1000.8"])
  }

  @Test("An edit that was captured before a column was kept has no former value")
  func laterPolicy() throws {
    let harness = try CaptureHarness(
      "CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, n INTEGER, m INTEGER)",
      kept: ["n"]
    )
    try harness.execute("INSERT INTO t VALUES('x', 1, 1)")
    try harness.read()
    try harness.execute("UPDATE t SET n = 2, m = 2")
    let table = try #require(harness.tables.first)
    let installation = CaptureInstallation(connection: harness.connection, clock: .fixed)
    let later = try installation.install([.init(schema: table.schema, kept: ["m"])])
    #expect(later.first?.kept == ["n", "m"])
    #expect(
      CaptureHarness.text(try harness.reader(later).readBatch(limit: 9).rows)
        == ["'x' ~n=(1)2,m=2@1000.2"]
    )
  }
}

import CloudSyncSQLite
import CloudSyncTestSupport
import Testing

@Suite("Engines with different tables on one file, with row filters")
struct RowFilterEnginesTests {
  private static let schema = """
    CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL, private INTEGER NOT NULL DEFAULT 0);
    CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, list TEXT REFERENCES lists(id));
    CREATE TABLE logs(id TEXT PRIMARY KEY NOT NULL, private INTEGER NOT NULL DEFAULT 0);
    CREATE TABLE tags(id TEXT PRIMARY KEY NOT NULL);
    """
  private static let tables = ["lists", "notes", "logs", "tags"]

  private static func options(_ tables: [String]) -> SyncEngineOptions {
    var options = SyncEngineOptions()
    for table in tables where table != "notes" && table != "tags" {
      options.tables[table] = SyncEngineOptions.Table()
      options.tables[table]?.rowFilter = "private = 0"
    }
    return options
  }

  @Test(
    "Who decides of a row by the same conditions as another one does not look at it anew",
    arguments: SuiteSize.some(2, of: [["logs"], ["lists", "notes"], ["tags"], ["lists", "logs"]])
  )
  func proportional(tables: [String]) throws {
    let (bench, count) = (SyncHarness(), 100)
    let mac = try bench.device(
      "mac",
      Self.schema,
      tables: Self.tables,
      options: Self.options(Self.tables)
    )
    for number in 0..<count {
      try mac.execute(
        """
        INSERT INTO logs VALUES('l\(number)', 1); INSERT INTO lists VALUES('l\(number)', 1);
        INSERT INTO notes VALUES('n\(number)', 'l\(number)')
        """
      )
    }
    try bench.sync(mac)
    let widget = try bench.engine("widget", mac.database, tables, Self.options(tables))
    func steps(of engines: [SyncEngine]) throws -> Int {
      for engine in engines { _ = try engine.retryParked() }
      return try StatementSteps.count(of: { try mac.database.write($0) }) {
        for engine in engines { _ = try engine.retryParked() }
      }
    }
    let alone = try steps(of: [mac.engine, mac.engine])
    let both = try steps(of: [widget, mac.engine])
    #expect(both < alone + count / 2, "\(alone) tens of steps of one engine, \(both) of two")
    let held = "SELECT count(*) FROM cloudsync_pending WHERE filtered_by IS NOT NULL"
    #expect(try mac.lines(held) == ["\(3 * count)"])
  }

  @Test("What an engine decides of a table is kept while others without the table come between")
  func between() throws {
    let bench = SyncHarness()
    let phone = try bench.device("phone", Self.schema, tables: Self.tables)
    let mac = try bench.device(
      "mac",
      Self.schema,
      tables: Self.tables,
      options: Self.options(Self.tables)
    )
    try mac.execute(
      "INSERT INTO lists VALUES('l', 1); INSERT INTO notes VALUES('n', 'l'); INSERT INTO logs VALUES('o', 1)"
    )
    try bench.sync(mac, phone)
    try bench.restart(mac, ["tags", "logs"], Self.options(["logs"]))
    try bench.sync(mac, phone)
    // One that has no condition any more sends what has waited, whoever has been there meanwhile.
    try bench.restart(mac, Self.tables, Self.options(["logs"]))
    try bench.sync(mac, phone)
    #expect(try phone.lines("SELECT * FROM notes") == ["'n'|'l'"])
    #expect(try phone.lines("SELECT id FROM logs") == [])
    try bench.restart(mac, ["logs"])
    try bench.sync(mac, phone)
    #expect(try phone.lines("SELECT id FROM logs") == ["'o'"])
    #expect(try bench.unclean(mac) == [])
  }
}

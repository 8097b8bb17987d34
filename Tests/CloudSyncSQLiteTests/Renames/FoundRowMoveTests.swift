import CloudSyncSQLite
import CloudSyncSimulator
import CloudSyncTestSupport
import Testing

@Suite("Rows that were there before the first sync, whose keys are changed")
struct FoundRowMoveTests {
  /// All rows of before have columns of one time.
  private static let schema = """
    CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, text TEXT, stars INTEGER);
    INSERT INTO notes VALUES('a', 'x', 1), ('b', 'y', 2);
    """

  private static let cases: [(sql: String, rows: [String])] = [
    (
      """
      UPDATE notes SET id = 't' WHERE id = 'a'; UPDATE notes SET id = 'a' WHERE id = 'b';
      UPDATE notes SET id = 'b' WHERE id = 't'
      """,
      ["'a'|'y'|2", "'b'|'x'|1"]
    ),
    (
      "UPDATE notes SET id = 'c' WHERE id = 'b'; UPDATE notes SET id = 'b' WHERE id = 'a'",
      ["'b'|'x'|1", "'c'|'y'|2"]
    ),
    ("DELETE FROM notes WHERE id = 'b'; UPDATE notes SET id = 'b' WHERE id = 'a'", ["'b'|'x'|1"]),
    ("UPDATE OR REPLACE notes SET id = 'b' WHERE id = 'a'", ["'b'|'x'|1"]),
  ]

  @Test(
    "They take their values along to keys that others of them had",
    arguments: SuiteSize.pairs(2, Array(cases.indices), [DeletePolicy.deleteWins, .editWins])
  )
  func values(number: Int, deletes: DeletePolicy) throws {
    var options = SyncEngineOptions()
    options.defaultTable.merging.deletes = deletes
    let bench = SyncHarness()
    let device = { (name: String) in
      try bench.device(name, Self.schema, tables: ["notes"], options: options)
    }
    let (mac, phone) = (try device("mac"), try device("phone"))
    try bench.sync(mac, phone)
    try mac.execute(Self.cases[number].sql)
    try bench.sync(mac, phone)
    let tablet = try device("tablet")
    try bench.sync(tablet, mac, phone)

    for device in [mac, phone] {
      let rows = try device.lines("SELECT * FROM notes ORDER BY id")
      #expect(rows == Self.cases[number].rows, "\(device.name)")
      #expect(try bench.unclean(device) == [], "\(device.name)")
    }
    #expect(try tablet.lines("SELECT * FROM notes ORDER BY id") == Self.cases[number].rows)
  }
}

import CloudSyncSQLiteSupport
import Testing

@testable import CloudSyncSQLite

@Suite("Captured keys")
struct CapturedKeyTests {
  @Test(
    "A key that is spelled anew under its collation is an edit of its column",
    arguments: [
      "UPDATE t SET id = 'TAG'",
      "UPDATE OR REPLACE t SET id = 'TAG' WHERE id = 'tag'",
      "INSERT INTO t VALUES('TAG', 'a') ON CONFLICT DO UPDATE SET id = excluded.id",
      "REPLACE INTO t VALUES('TAG', 'a')",
    ],
    [
      "id TEXT PRIMARY KEY NOT NULL COLLATE NOCASE, a TEXT)",
      "id TEXT NOT NULL, a TEXT, PRIMARY KEY(id COLLATE NOCASE))",
      "id TEXT PRIMARY KEY COLLATE NOCASE, a TEXT) WITHOUT ROWID",
    ]
  )
  func spelling(sql: String, columns: String) throws {
    let harness = try CaptureHarness("CREATE TABLE t(\(columns)")
    try harness.execute("INSERT INTO t VALUES('tag', 'a')")
    try harness.read()
    try harness.execute(sql)
    let rows = try harness.read()
    #expect(rows.count == 1)
    #expect(rows.first?.key == [.text("TAG")])
    #expect(
      CaptureHarness.text(rows).first?.contains("-@") == false,
      "\(CaptureHarness.text(rows))"
    )
    #expect(try harness.isSame())
    // Edits under both spellings are one row's.
    try harness.execute("UPDATE t SET a = 'b'; UPDATE t SET id = 'Tag'; UPDATE t SET a = 'c'")
    #expect(try harness.read().map(\.key) == [[.text("Tag")]])
    #expect(try harness.isSame())
    // The row is found under whatever spelling it has by the time when an edit is read.
    try harness.execute("UPDATE t SET a = 'd'; UPDATE t SET id = 'tAG'")
    let last = try harness.read(limit: 1)
    #expect(last.map(\.key) == [[.text("tAG")], [.text("tAG")]])
    #expect(try harness.isSame())
  }

  @Test("Spaces at the end are no other key under RTRIM, and a number's type is none")
  func otherSpellings() throws {
    let harness = try CaptureHarness(
      "CREATE TABLE t(a TEXT COLLATE RTRIM, b, c, PRIMARY KEY(a, b))"
    )
    try harness.execute("INSERT INTO t VALUES('k', 2, 'x')")
    try harness.read()
    try harness.execute("UPDATE t SET a = 'k  ', b = 2.0")
    #expect(CaptureHarness.text(try harness.read()) == ["'k  ',2.0 ~a=k  ,b=2.0@1000.2"])
    #expect(try harness.isSame())
  }

  private static let values = [
    "CAST(x'6100' AS TEXT)", "CAST(x'610062' AS TEXT)", "CAST(x'ff' AS TEXT)",
    "CAST(x'00' AS TEXT)", "''", "x''", "x'00'", "'1'", "1", "1.5", "-0.0", "9007199254740993",
    "9e999", "1e300", "0.1", "',''\"'", "'\u{e9}'", "'e\u{301}'", "x'ff00'",
  ]

  @Test(
    "Keys of any value are captured as they are: NULs, malformed text, reals, BLOBs",
    arguments: ["k, a INT, PRIMARY KEY(k))", "k, j, a INT, PRIMARY KEY(k, j))"],
    ["", " WITHOUT ROWID"]
  )
  func anyValue(columns: String, rule: String) throws {
    let harness = try CaptureHarness("CREATE TABLE t(\(columns)\(rule)")
    let isCompound = columns.contains("j")
    for (place, value) in Self.values.enumerated() {
      let other = Self.values[(place * 7 + 3) % Self.values.count]
      try harness.execute(
        "INSERT INTO t VALUES(\(value)\(isCompound ? ", \(other)" : ""), \(place))"
      )
    }
    let keys = try harness.read().map(\.key)
    #expect(keys.count == Self.values.count)
    #expect(try harness.isSame())
    let query = try harness.connection.prepare("SELECT * FROM t ORDER BY a")
    var stored: [[SQLiteValue]] = []
    try query.forEachRow {
      stored.append((0..<query.columnCount - 1).map { query.value($0) })
    }
    #expect(stored == keys)

    try harness.execute("UPDATE t SET a = a + 1")
    #expect(try Set(harness.read().map(\.key)) == Set(keys))
    #expect(try harness.isSame())
    try harness.execute("DELETE FROM t WHERE a % 2")
    try harness.read()
    #expect(try harness.isSame())
  }

  @Test("Zero and minus zero are one key; whole numbers keep their type")
  func zeros() throws {
    let harness = try CaptureHarness("CREATE TABLE t(k PRIMARY KEY NOT NULL, a); ")
    try harness.execute("INSERT INTO t VALUES(-0.0, 'zero'), (2.0, 'two')")
    try harness.execute("UPDATE t SET a = 'null' WHERE k = 0; REPLACE INTO t VALUES(2, 'int')")
    #expect(try harness.read().map(\.key) == [[.real(-0.0)], [.integer(2)]])
    #expect(try harness.isSame())
  }

  @Test("Under NOCASE SQLite compares what follows a NUL by its length alone")
  func noCaseNULs() throws {
    let harness = try CaptureHarness(
      "CREATE TABLE t(k TEXT PRIMARY KEY NOT NULL COLLATE NOCASE, a)"
    )
    try harness.execute("INSERT INTO t VALUES(CAST(x'610062' AS TEXT), 1)")
    try harness.execute("INSERT INTO t VALUES(CAST(x'61006262' AS TEXT), 2)")
    try harness.execute("REPLACE INTO t VALUES(CAST(x'410063' AS TEXT), 3)")
    #expect(try harness.read().count == 2)
    #expect(try harness.lines("SELECT count(*) FROM t") == ["2"])
    #expect(try harness.isSame())
  }

  @Test(
    "A row's number is changed by any of its names",
    arguments: ["id", "rowid", "oid", "_rowid_"]
  )
  func rowNumber(name: String) throws {
    let harness = try CaptureHarness("CREATE TABLE t(id INTEGER PRIMARY KEY, a, u UNIQUE)")
    try harness.execute("INSERT INTO t VALUES(1, 'x', 1), (2, 'y', 2)")
    try harness.read()
    try harness.execute("UPDATE t SET \(name) = 7 WHERE id = 1")
    try harness.execute("UPDATE OR REPLACE t SET \(name) = 2 WHERE id = 7")
    try harness.read()
    #expect(try harness.isSame())
  }
}

import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSimulator
import Testing

@Suite("Keys that are spelled in several ways")
struct KeySpellingTests {
  @Test(
    "A key that is spelled anew under its collation stays one row",
    arguments: [
      "UPDATE tags SET name = 'TAG' WHERE name = 'tag'",
      "REPLACE INTO tags VALUES('TAG', 5)",
      "INSERT INTO tags VALUES('TAG', 5) ON CONFLICT(name) DO UPDATE SET name = excluded.name, n = 5",
    ]
  )
  func collation(statement: String) throws {
    let schema = "CREATE TABLE tags(name TEXT COLLATE NOCASE PRIMARY KEY NOT NULL, n INTEGER)"
    let (bench, mac, phone) = try SyncHarness.pair(schema, tables: ["tags"])
    try mac.execute("INSERT INTO tags VALUES('tag', 5)")
    try bench.sync(mac, phone)
    try mac.execute(statement)
    try bench.sync(mac, phone)

    #expect(try mac.lines("SELECT * FROM tags") == ["'TAG'|5"])
    #expect(try phone.lines("SELECT * FROM tags") == ["'TAG'|5"])
    #expect(try bench.cloudNames().count == 1)
    #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [])
  }

  @Test("The same key, spelled otherwise on two devices before they have met, is one row")
  func twoSpellings() throws {
    let schema = "CREATE TABLE tags(name TEXT COLLATE NOCASE PRIMARY KEY NOT NULL, n INTEGER)"
    let (bench, mac, phone) = try SyncHarness.pair(schema, tables: ["tags"])
    try mac.execute("INSERT INTO tags VALUES('Tag', 1)", at: 1_000)
    try phone.execute("INSERT INTO tags VALUES('tAG', 2)", at: 2_000)
    try bench.sync(mac, phone)
    try bench.sync(mac, phone)

    #expect(try mac.lines("SELECT * FROM tags") == ["'tAG'|2"])
    #expect(try phone.lines("SELECT * FROM tags") == mac.lines("SELECT * FROM tags"))
  }

  @Test("NULs in keys, alone and in keys of several columns, and reals and BLOBs come over")
  func strangeKeys() throws {
    let schema = """
      CREATE TABLE one(id TEXT PRIMARY KEY NOT NULL, a INTEGER);
      CREATE TABLE two(x TEXT NOT NULL, y BLOB NOT NULL, a INTEGER, PRIMARY KEY(x, y));
      """
    let (bench, mac, phone) = try SyncHarness.pair(schema, tables: ["one", "two"])
    try mac.execute(
      """
      INSERT INTO one VALUES('a' || char(0) || 'b', 1), ('a', 2), ('', 3);
      INSERT INTO two VALUES('p' || char(0), 1, 1), ('p', 1.5, 2), ('p', x'00ff', 3), ('p', ';', 4);
      """
    )
    try bench.sync(mac, phone)
    try mac.execute("UPDATE one SET a = a + 10; UPDATE two SET a = a + 10")
    try bench.sync(mac, phone)

    for query in [
      "SELECT hex(id), a FROM one ORDER BY 1", "SELECT hex(x), quote(y), a FROM two ORDER BY 3",
    ] {
      #expect(try phone.lines(query) == mac.lines(query))
    }
    #expect(try phone.lines("SELECT sum(a), count(*) FROM one") == ["36|3"])
    #expect(try phone.lines("SELECT sum(a), count(*) FROM two") == ["50|4"])
    #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [])
  }
}

import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSimulator
import Testing

@Suite("Hazards of ordinary use")
struct HazardTests {
  private static let schema =
    "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT, stars INTEGER)"
  private static let query = "SELECT * FROM notes ORDER BY id"

  @Test("A temporary table of the same name hides nothing from the engine")
  func temporaryTable() throws {
    let (bench, mac, phone) = try SyncHarness.pair(Self.schema, tables: ["notes"])
    try mac.execute("INSERT INTO notes VALUES('a', 'A', 1)")
    try bench.sync(mac, phone)
    try mac.execute(
      "CREATE TEMP TABLE notes(id TEXT PRIMARY KEY, other); INSERT INTO temp.notes VALUES('x', 1)"
    )
    try mac.execute("UPDATE main.notes SET stars = 2")
    try phone.execute("UPDATE notes SET title = 'A2'; INSERT INTO notes VALUES('b', 'B', 3)")
    try bench.sync(mac, phone)
    try bench.sync(mac, phone)

    let rows = ["'a'|'A2'|2", "'b'|'B'|3"]
    #expect(try mac.lines("SELECT * FROM main.notes ORDER BY id") == rows)
    #expect(try phone.lines(Self.query) == rows)
    #expect(try mac.lines("SELECT * FROM temp.notes") == ["'x'|1"])
  }

  @Test("Clocks that are years apart: whoever has seen an edit can replace it")
  func clocks() throws {
    let (bench, mac, phone) = try SyncHarness.pair(Self.schema, tables: ["notes"])
    try mac.execute("INSERT INTO notes VALUES('a', 'future', 1)", at: 4_000_000_000_000)
    try bench.sync(mac, phone)
    try phone.execute("UPDATE notes SET title = 'past'", at: 1_000_000_000_000)
    try bench.sync(phone, mac)
    #expect(try mac.lines(Self.query) == ["'a'|'past'|1"])
    try phone.execute("DELETE FROM notes", at: 1_000_000_001_000)
    try bench.sync(phone, mac)

    #expect(try mac.lines(Self.query) == [])
    #expect(try phone.lines(Self.query) == [])
  }

  @Test("A counter of a copied database counts what each copy has added, once")
  func copiedCounters() throws {
    var options = SyncEngineOptions()
    options.defaultTable.merging = TableMergePolicy(columns: ["stars": .counter])
    let (bench, mac, phone) = try SyncHarness.pair(
      Self.schema,
      tables: ["notes"],
      options: options
    )
    try mac.execute("INSERT INTO notes VALUES('a', 'A', 10)")
    try bench.sync(mac, phone)
    for number in 1...3 {
      try mac.execute("UPDATE notes SET stars = stars + \(number)")
      try phone.execute("UPDATE notes SET stars = stars + \(10 * number)")
      if number == 2 { try bench.sync(phone, mac) }
    }
    try bench.sync(mac, phone)
    try bench.sync(mac, phone)

    #expect(try mac.lines(Self.query) == ["'a'|'A'|76"])
    #expect(try phone.lines(Self.query) == ["'a'|'A'|76"])
  }

  @Test("Swapped unique values, and a value that moves along a chain, come over in one piece")
  func swaps() throws {
    var options = SyncEngineOptions()
    options.defaultTable.uniqueKeys = .newest
    let schema = "CREATE TABLE places(id TEXT PRIMARY KEY NOT NULL, rank INTEGER UNIQUE)"
    let (bench, mac, phone) = try SyncHarness.pair(schema, tables: ["places"], options: options)
    try mac.execute("INSERT INTO places VALUES('a', 1), ('b', 2), ('c', 3)")
    try bench.sync(mac, phone)
    try mac.execute(
      """
      UPDATE places SET rank = -1 WHERE id = 'a'; UPDATE places SET rank = 1 WHERE id = 'b';
      UPDATE places SET rank = 2 WHERE id = 'c'; UPDATE places SET rank = 3 WHERE id = 'a';
      """
    )
    try bench.sync(mac, phone)
    try bench.sync(mac, phone)

    let rows = try mac.lines("SELECT * FROM places ORDER BY id")
    #expect(rows == ["'a'|3", "'b'|1", "'c'|2"])
    #expect(try phone.lines("SELECT * FROM places ORDER BY id") == rows)
    #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [])
  }

  @Test(
    "Integer keys without a type's name, WITHOUT ROWID and STRICT tables, reals and dates come back as they were"
  )
  func storage() throws {
    var options = SyncEngineOptions()
    options.defaultTable.hasUniqueIntegerKeys = true
    let schema = """
      CREATE TABLE plain(id INTEGER PRIMARY KEY NOT NULL, a NUMERIC, b REAL, c BLOB, d TEXT);
      CREATE TABLE bare(id TEXT PRIMARY KEY NOT NULL, a NUMERIC, b REAL) WITHOUT ROWID;
      CREATE TABLE tight(id TEXT PRIMARY KEY NOT NULL, a ANY, b REAL, c INTEGER) STRICT;
      """
    let tables = ["plain", "bare", "tight"]
    let (bench, mac, phone) = try SyncHarness.pair(schema, tables: tables, options: options)
    try mac.execute(
      """
      INSERT INTO plain VALUES(1, 1.0, 1, x'00', 5), (2, '1.5', -0.0, 'text', x'ff'),
        (-9223372036854775808, 9223372036854775807, 1e308, NULL, '');
      INSERT INTO bare VALUES('a', '12', 3), ('b', 1e20, 0.1);
      INSERT INTO tight VALUES('a', 1.0, 2.5, 3), ('b', '1.0', 0, -1), ('c', x'', 1e-300, 0);
      """
    )
    try bench.sync(mac, phone)
    try bench.sync(mac, phone)

    for table in tables {
      let columns = table == "tight" ? "id, quote(a), typeof(a), quote(b), c" : "*"
      let query = "SELECT \(columns) FROM \(table) ORDER BY id"
      #expect(try phone.lines(query) == mac.lines(query))
    }
    #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [])
  }

  @Test("Values that differ after a lost zone: all devices agree again")
  func lostZone() throws {
    var options = SyncEngineOptions()
    options.zoneLost = { _ in .uploadAgain }
    let (bench, mac, phone) = try SyncHarness.pair(
      Self.schema,
      tables: ["notes"],
      options: options
    )
    try mac.execute("INSERT INTO notes VALUES('a', 'A', 1), ('b', 'B', 2), ('c', 'C', 3)")
    try bench.sync(mac, phone)
    phone.engine.stop()
    try bench.deleteZone()
    try mac.execute(
      "UPDATE notes SET title = 'A2' WHERE id = 'a'; DELETE FROM notes WHERE id = 'c'"
    )
    try phone.execute("UPDATE notes SET stars = 20 WHERE id = 'b'")
    try bench.sync(mac, phone)
    try bench.sync(mac, phone)

    #expect(try mac.lines(Self.query) == ["'a'|'A2'|1", "'b'|'B'|20"])
    #expect(try phone.lines(Self.query) == mac.lines(Self.query))
    #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [])
  }
}

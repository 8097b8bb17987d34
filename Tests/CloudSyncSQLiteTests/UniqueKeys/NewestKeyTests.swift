import CloudSyncSQLite
import Testing

@Suite("Unique keys: the newest row keeps the value")
struct NewestKeyTests {
  private static let schema = """
    CREATE TABLE tags(id TEXT PRIMARY KEY NOT NULL, name TEXT UNIQUE, color TEXT);
    CREATE TABLE notes(
      id TEXT PRIMARY KEY NOT NULL, tag TEXT REFERENCES tags(id) ON DELETE CASCADE, title TEXT
    );
    """
  private static let query = "SELECT * FROM tags ORDER BY id"
  private static let children = "SELECT * FROM notes ORDER BY id"

  static func options(_ policy: UniqueKeyPolicy?) -> SyncEngineOptions {
    var options = SyncEngineOptions()
    options.defaultTable.uniqueKeys = policy
    return options
  }

  private func pair(
    _ schema: String = schema,
    tables: [String] = ["tags", "notes"]
  ) throws -> (SyncHarness, mac: SyncHarness.Device, phone: SyncHarness.Device) {
    try SyncHarness.pair(schema, tables: tables, options: Self.options(.newest))
  }

  @Test("Without a policy such a table is refused")
  func refused() throws {
    #expect(throws: SyncEngineError.self) {
      _ = try SyncHarness().device("mac", Self.schema, tables: ["tags", "notes"])
    }
  }

  @Test(
    "The row that was set last keeps it, whoever sends first; the other one is parked, and back when it can be"
  )
  func parkedAndBack() throws {
    for isMacFirst in [true, false] {
      let (bench, mac, phone) = try pair()
      try mac.execute("INSERT INTO tags VALUES('a', 'work', 'red')", at: 1_000)
      try phone.execute("INSERT INTO tags VALUES('b', 'work', 'blue')", at: 2_000)
      if isMacFirst { try bench.sync(mac, phone) } else { try bench.sync(phone, mac) }

      for device in [mac, phone] {
        #expect(try device.lines(Self.query) == ["'b'|'work'|'blue'"], "\(device.name)")
        let status = try bench.unclean(device)
        #expect(status.count == 1)
        #expect(
          status.first?.contains("row ''b'' has the same value of the unique key \"name\"")
            == true,
          "\(status)"
        )
      }

      try phone.execute("UPDATE tags SET name = 'play' WHERE id = 'b'", at: 3_000)
      try bench.sync(phone, mac)

      for device in [mac, phone] {
        #expect(try device.lines(Self.query) == ["'a'|'work'|'red'", "'b'|'play'|'blue'"])
        #expect(try bench.unclean(device) == [])
      }
    }
  }

  @Test("Rows that refer to the parked one wait with it, with their edits, and come back")
  func children() throws {
    let (bench, mac, phone) = try pair()
    try mac.execute(
      "INSERT INTO tags VALUES('a', 'work', 'red'); INSERT INTO notes VALUES('n', 'a', 'Tea')",
      at: 1_000
    )
    try phone.execute("INSERT INTO tags VALUES('b', 'work', 'blue')", at: 2_000)
    try bench.sync(phone, mac)
    for device in [mac, phone] {
      #expect(try device.lines(Self.query) == ["'b'|'work'|'blue'"])
      #expect(try device.lines(Self.children) == [])
    }

    try mac.execute("DELETE FROM tags", at: 3_000)
    try bench.sync(mac, phone)

    for device in [mac, phone] {
      #expect(try device.lines(Self.query) == ["'a'|'work'|'red'"])
      #expect(try device.lines(Self.children) == ["'n'|'a'|'Tea'"])
      #expect(try bench.unclean(device) == [])
    }
  }

  @Test("Edits of a parked row that were not sent before are sent, and merged with others'")
  func editsOfParked() throws {
    let (bench, mac, phone) = try pair()
    try mac.execute("INSERT INTO tags VALUES('a', 'one', 'red')", at: 1_000)
    try bench.sync(mac, phone)
    try mac.execute("UPDATE tags SET name = 'work', color = 'pink'", at: 2_000)
    try phone.execute("INSERT INTO tags VALUES('b', 'work', 'blue')", at: 3_000)
    try bench.sync(phone, mac)
    #expect(try mac.lines(Self.query) == ["'b'|'work'|'blue'"])
    #expect(try phone.lines(Self.query) == ["'b'|'work'|'blue'"])

    try phone.execute("DELETE FROM tags WHERE id = 'b'", at: 4_000)
    try bench.sync(phone, mac)

    for device in [mac, phone] {
      #expect(try device.lines(Self.query) == ["'a'|'work'|'pink'"], "\(device.name)")
      #expect(try bench.unclean(device) == [])
    }
  }

  @Test("Rows that swap their values, two or three of them, children included")
  func swap() throws {
    let (bench, mac, phone) = try pair()
    try mac.execute(
      """
      INSERT INTO tags VALUES('a', '1', ''), ('b', '2', ''), ('c', '3', '');
      INSERT INTO notes VALUES('n', 'a', ''), ('m', 'b', '')
      """,
      at: 1_000
    )
    try bench.sync(mac, phone)
    try mac.execute(
      """
      UPDATE tags SET name = 'x' WHERE id = 'a'; UPDATE tags SET name = '1' WHERE id = 'b';
      UPDATE tags SET name = '2' WHERE id = 'c'; UPDATE tags SET name = '3' WHERE id = 'a'
      """,
      at: 2_000
    )
    try bench.sync(mac, phone)

    #expect(try phone.lines(Self.query) == ["'a'|'3'|''", "'b'|'1'|''", "'c'|'2'|''"])
    #expect(try phone.lines(Self.children) == mac.lines(Self.children))
    #expect(try mac.lines(Self.query) == phone.lines(Self.query))
    #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [])
  }

  @Test(
    "NULLs are equal to none; keys of several columns, collations, expressions and some rows only"
  )
  func kinds() throws {
    let schema = """
      CREATE TABLE pairs(id TEXT PRIMARY KEY NOT NULL, a TEXT, b INTEGER, UNIQUE(a, b));
      CREATE TABLE names(id TEXT PRIMARY KEY NOT NULL, name TEXT COLLATE NOCASE UNIQUE);
      CREATE TABLE words(id TEXT PRIMARY KEY NOT NULL, word TEXT, hidden INTEGER);
      CREATE UNIQUE INDEX folded ON words (lower(trim(word)) DESC);
      CREATE TABLE slots(id TEXT PRIMARY KEY NOT NULL, place INTEGER, gone INTEGER);
      CREATE UNIQUE INDEX taken ON slots(place) WHERE gone IS NULL AND place > 0;
      """
    let tables = ["names", "pairs", "slots", "words"]
    let (bench, mac, phone) = try pair(schema, tables: tables)
    try mac.execute(
      """
      INSERT INTO pairs VALUES('a', 'x', 1), ('c', 'x', NULL), ('e', NULL, 1);
      INSERT INTO names VALUES('a', 'Tea'), ('c', NULL);
      INSERT INTO words VALUES('a', ' Tea', 1), ('c', 'Cup', 1);
      INSERT INTO slots VALUES('a', 1, NULL), ('c', 2, 1), ('e', 0, NULL);
      """,
      at: 1_000
    )
    try phone.execute(
      """
      INSERT INTO pairs VALUES('b', 'x', 1), ('d', 'x', NULL), ('f', NULL, 1);
      INSERT INTO names VALUES('b', 'TEA'), ('d', NULL);
      INSERT INTO words VALUES('b', 'tEA ', 2), ('d', 'pot', 1);
      INSERT INTO slots VALUES('b', 1, NULL), ('d', 2, NULL), ('f', 0, NULL);
      """,
      at: 2_000
    )
    try bench.sync(mac, phone)

    for device in [mac, phone] {
      #expect(
        try device.lines("SELECT group_concat(id, '') FROM (SELECT id FROM pairs ORDER BY id)")
          == ["'bcdef'"]
      )
      #expect(
        try device.lines("SELECT group_concat(id, '') FROM (SELECT id FROM names ORDER BY id)")
          == ["'bcd'"]
      )
      #expect(
        try device.lines("SELECT group_concat(id, '') FROM (SELECT id FROM words ORDER BY id)")
          == ["'bcd'"]
      )
      #expect(
        try device.lines("SELECT group_concat(id, '') FROM (SELECT id FROM slots ORDER BY id)")
          == ["'bcdef'"]
      )
      #expect(try bench.unclean(device).count == 4)
    }
    for table in tables { try phone.execute("DELETE FROM \(table) WHERE id = 'b'") }
    try bench.sync(phone, mac)

    for device in [mac, phone] {
      #expect(try bench.unclean(device) == [])
      for table in tables {
        #expect(try device.lines("SELECT id FROM \(table) WHERE id = 'a'") == ["'a'"])
      }
    }
  }

  @Test("Primary keys that SQLite takes for one, though their bytes differ, are one row's")
  func collatedPrimaryKey() throws {
    let schema = "CREATE TABLE tags(id TEXT COLLATE NOCASE PRIMARY KEY NOT NULL, name TEXT)"
    let (bench, mac, phone) = try pair(schema, tables: ["tags"])
    try mac.execute("INSERT INTO tags VALUES('tea', 'mac')", at: 1_000)
    try phone.execute("INSERT INTO tags VALUES('TEA', 'phone')", at: 2_000)
    try bench.sync(mac, phone)

    #expect(try mac.lines("SELECT * FROM tags") == ["'TEA'|'phone'"])
    #expect(try phone.lines("SELECT * FROM tags") == ["'TEA'|'phone'"])
    #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [])

    try phone.execute("DELETE FROM tags")
    try bench.sync(phone, mac)

    #expect(try mac.lines("SELECT * FROM tags") == [] && phone.lines("SELECT * FROM tags") == [])
    #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [])
  }

  @Test("A key on computed columns is refused whatever the policy")
  func computed() throws {
    let schema = """
      CREATE TABLE tags(id TEXT PRIMARY KEY NOT NULL, name TEXT, low TEXT AS (lower(name)) UNIQUE)
      """
    #expect(throws: SyncEngineError.self) {
      _ = try SyncHarness()
        .device("mac", schema, tables: ["tags"], options: Self.options(.newest))
    }
  }
}

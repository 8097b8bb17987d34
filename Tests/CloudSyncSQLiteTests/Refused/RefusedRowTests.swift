import CloudSyncSQLite
import CloudSyncTestSupport
import Testing

@Suite("Rows that SQLite refuses")
struct RefusedRowTests {
  private static let open = """
    CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT, stars, body);
    """
  private static let query = "SELECT id, title, stars, body FROM notes ORDER BY id"

  private func pair(
    _ closed: String
  ) throws -> (SyncHarness, mac: SyncHarness.Device, phone: SyncHarness.Device) {
    var options = SyncEngineOptions()
    options.defaultTable.allowsMissingDefaults = true
    let bench = SyncHarness()
    let mac = try bench.device("mac", Self.open, tables: ["notes"], options: options)
    let phone = try bench.device("phone", closed, tables: ["notes"], options: options)
    return (bench, mac, phone)
  }

  private func restart(_ device: SyncHarness.Device, _ sql: String, in bench: SyncHarness) throws {
    var options = SyncEngineOptions()
    options.defaultTable.allowsMissingDefaults = true
    try bench.restart(device, ["notes"], options, after: sql)
  }

  private static let rules: [(schema: String, words: String)] = [
    (
      "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT, stars INT NOT NULL, body)",
      "NOT NULL constraint failed: notes.stars"
    ),
    (
      "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT, stars CHECK(stars > 0), body)",
      "CHECK constraint failed"
    ),
    (
      """
      CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT, stars INTEGER, body BLOB) STRICT
      """,
      "cannot store TEXT value in BLOB column notes.body"
    ),
    (
      """
      CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT, stars, body);
      CREATE TRIGGER guard BEFORE INSERT ON notes WHEN new.title = 'bad'
        BEGIN SELECT RAISE(ABORT, 'the app says no'); END
      """,
      "the app says no"
    ),
    (
      """
      CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT, stars, body);
      CREATE TRIGGER guard BEFORE INSERT ON notes WHEN new.title = 'bad'
        BEGIN SELECT RAISE(IGNORE); END
      """,
      "a trigger of the table ignores it"
    ),
    (
      """
      CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT, stars, body);
      CREATE TRIGGER guard AFTER INSERT ON notes WHEN new.title = 'bad'
        BEGIN SELECT RAISE(FAIL, 'the app fails'); END
      """,
      "the app fails"
    ),
    (
      """
      CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT, stars, body);
      CREATE TRIGGER guard AFTER INSERT ON notes WHEN new.title = 'bad'
        BEGIN SELECT RAISE(ROLLBACK, 'the app rolls back'); END
      """,
      "the app rolls back"
    ),
  ]

  @Test(
    "A new row that breaks a rule is parked, the rest goes on, and a migration brings it",
    arguments: SuiteSize.some(2, of: Array(rules.indices))
  )
  func inserted(rule: Int) throws {
    let (bench, mac, phone) = try pair(Self.rules[rule].schema)
    try mac.execute(
      "INSERT INTO notes VALUES('a', 'bad', NULL, 'x'), ('b', 'good', 1, NULL)"
    )
    if Self.rules[rule].words.contains("CHECK") {
      try mac.execute("UPDATE notes SET stars = -1 WHERE id = 'a'")
    }
    try bench.sync(mac, phone)

    #expect(try phone.lines(Self.query) == ["'b'|'good'|1|NULL"])
    let status = try bench.unclean(phone)
    #expect(status.count == 1)
    #expect(status.first?.hasPrefix("'a:notes'|'parked'|'record a:notes of table") == true)
    #expect(status.first?.contains(Self.rules[rule].words) == true, "\(status)")

    try restart(
      phone,
      """
      DROP TRIGGER IF EXISTS guard;
      CREATE TABLE new(id TEXT PRIMARY KEY NOT NULL, title TEXT, stars, body);
      INSERT INTO new SELECT * FROM notes; DROP TABLE notes; ALTER TABLE new RENAME TO notes
      """,
      in: bench
    )
    try bench.sync(phone)

    #expect(try phone.lines(Self.query) == mac.lines(Self.query))
    #expect(try bench.unclean(phone) == [])
  }

  @Test("An update that breaks a rule leaves the row as it was; a newer record mends it")
  func updated() throws {
    let (bench, mac, phone) = try pair(Self.rules[1].schema)
    try mac.execute("INSERT INTO notes VALUES('a', 'old', 1, NULL)")
    try bench.sync(mac, phone)
    try mac.execute("UPDATE notes SET stars = -1, title = 'new'")
    try bench.sync(mac, phone)

    #expect(try phone.lines(Self.query) == ["'a'|'old'|1|NULL"])
    #expect(try bench.unclean(phone).count == 1)

    try mac.execute("UPDATE notes SET stars = 2")
    try bench.sync(mac, phone)

    #expect(try phone.lines(Self.query) == ["'a'|'new'|2|NULL"])
    #expect(try bench.unclean(phone) == [])
  }

  @Test("Edits of a row whose newer version is refused are sent all the same, and end the refusal")
  func editedMeanwhile() throws {
    let (bench, mac, phone) = try pair(Self.rules[1].schema)
    try mac.execute("INSERT INTO notes VALUES('a', 'old', 1, NULL)")
    try bench.sync(mac, phone)
    try mac.execute("UPDATE notes SET stars = -1, title = 'new'")
    try bench.sync(mac, phone)

    try phone.execute("UPDATE notes SET body = 'mine'")
    try bench.sync(phone, mac)

    #expect(try mac.lines(Self.query) == ["'a'|'new'|-1|'mine'"])
    #expect(try phone.lines(Self.query) == ["'a'|'old'|1|'mine'"])

    try phone.execute("UPDATE notes SET stars = 3")
    try bench.sync(phone, mac, phone)

    #expect(try mac.lines(Self.query) == ["'a'|'new'|3|'mine'"])
    #expect(try phone.lines(Self.query) == mac.lines(Self.query))
    #expect(try bench.unclean(phone) == [] && bench.unclean(mac) == [])
  }

  @Test("A deletion that a trigger refuses keeps the row, says so, and is made up for later")
  func deleted() throws {
    for action in ["ABORT, 'keep'", "ROLLBACK, 'keep'", "IGNORE"] {
      let (bench, mac, phone) = try pair(
        Self.open
          + """
          CREATE TRIGGER guard BEFORE DELETE ON notes WHEN old.title = 'kept'
            BEGIN SELECT RAISE(\(action)); END
          """
      )
      try mac.execute("INSERT INTO notes VALUES('a', 'kept', 1, NULL), ('b', 'x', 1, NULL)")
      try bench.sync(mac, phone)
      try mac.execute("DELETE FROM notes")
      try bench.sync(mac, phone)

      #expect(try phone.lines(Self.query) == ["'a'|'kept'|1|NULL"])
      #expect(try bench.unclean(phone).count == 1)

      try restart(phone, "DROP TRIGGER guard", in: bench)
      try bench.sync(phone)

      #expect(try phone.lines(Self.query) == [])
      #expect(try bench.unclean(phone) == [])
    }
  }

  @Test("Who edits a row that is gone elsewhere and could not go here makes it anew, whole")
  func editedAfterDeletion() throws {
    let (bench, mac, phone) = try pair(
      Self.open
        + "CREATE TRIGGER guard BEFORE DELETE ON notes BEGIN SELECT RAISE(ABORT, 'keep'); END"
    )
    try mac.execute("INSERT INTO notes VALUES('a', 'kept', 1, 'body')")
    try bench.sync(mac, phone)
    try mac.execute("DELETE FROM notes")
    try bench.sync(mac, phone)
    try phone.execute("UPDATE notes SET stars = 2")
    try bench.sync(phone, mac)

    #expect(try mac.lines(Self.query) == ["'a'|'kept'|2|'body'"])
    #expect(try bench.unclean(phone) == [] && bench.unclean(mac) == [])
  }

  @Test("A row that is deleted while its newer version is refused is gone, and nothing is parked")
  func deletedMeanwhile() throws {
    let schema =
      "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, a INTEGER, b INTEGER, CHECK(a <= b))"
    for deleter in ["mac", "phone"] {
      let (bench, mac, phone) = try SyncHarness.pair(schema, tables: ["notes"])
      try mac.execute("INSERT INTO notes VALUES('x', 1, 10)")
      try bench.sync(mac, phone)
      // Each is allowed, and both together are not.
      try mac.execute("UPDATE notes SET a = 9")
      try phone.execute("UPDATE notes SET b = 5")
      try bench.sync(mac, phone)
      #expect(try bench.unclean(mac).count == 1)
      try (deleter == "mac" ? mac : phone).execute("DELETE FROM notes")
      try bench.sync(mac, phone)

      for device in [mac, phone] {
        #expect(try device.lines("SELECT * FROM notes") == [])
        #expect(try bench.unclean(device) == [], "\(deleter) deletes, \(device.name)")
      }
    }
  }
}

import CloudSyncSQLite
import CloudSyncTestSupport
import Testing

@Suite("Rows whose parents go")
struct OrphanTests {
  private static let schema = """
    CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL, title TEXT);
    CREATE TABLE notes(
      id TEXT PRIMARY KEY NOT NULL, list TEXT NOT NULL REFERENCES lists(id) ON DELETE CASCADE
    );
    CREATE TABLE files(id TEXT PRIMARY KEY NOT NULL, note TEXT REFERENCES notes(id));
    """
  private static let tables = ["lists", "notes", "files"]

  private func devices(
    _ schema: String = schema,
    _ tables: [String] = tables,
    enforced: [Bool],
    options: SyncEngineOptions = SyncEngineOptions()
  ) throws -> (SyncHarness, [SyncHarness.Device]) {
    let bench = SyncHarness()
    let devices = try enforced.enumerated()
      .map { number, isEnforced in
        try bench.device(
          "device-\(number)",
          schema,
          tables: tables,
          options: options,
          enforcesForeignKeys: isEnforced
        )
      }
    return (bench, devices)
  }

  private func expectEqual(
    _ bench: SyncHarness,
    _ devices: [SyncHarness.Device],
    _ tables: [String] = tables
  ) throws {
    for device in devices {
      let unclean = try bench.unclean(device)
      #expect(unclean == [], "\(device.name)")
      #expect(try device.engine.danglingReferences() == [], "\(device.name)")
      for table in tables {
        let all = "SELECT * FROM \(table) ORDER BY 1"
        #expect(try device.lines(all) == devices[0].lines(all), "\(device.name) \(table)")
      }
    }
  }

  @Test(
    "A grandchild that must stay brings back its parent, and the parent of that",
    arguments: SuiteSize.some(
      2,
      of: [[true, true], [true, false], [false, true], [false, false]]
    )
  )
  func grandchild(enforced: [Bool]) throws {
    let (bench, all) = try devices(enforced: enforced)
    let (mac, phone) = (all[0], all[1])
    try mac.execute("INSERT INTO lists VALUES('l', 'Tea'); INSERT INTO notes VALUES('n', 'l')")
    try bench.sync(mac, phone)

    try phone.execute("INSERT INTO files VALUES('f', 'n')")
    try mac.execute("DELETE FROM lists")
    try bench.sync(mac, phone, mac)

    #expect(try mac.lines("SELECT * FROM lists") == ["'l'|'Tea'"])
    #expect(try mac.lines("SELECT * FROM notes") == ["'n'|'l'"])
    #expect(try mac.lines("SELECT * FROM files") == ["'f'|'n'"])
    try expectEqual(bench, all)
  }

  @Test("Children that go by the policy take their own children along", arguments: [true, false])
  func deletedGrandchildren(isEnforced: Bool) throws {
    var options = SyncEngineOptions()
    options.tables["files", default: .init()].orphans = .deleteChildren
    let (bench, all) = try devices(enforced: [isEnforced, !isEnforced], options: options)
    try all[0].execute("INSERT INTO lists VALUES('l', 'Tea'); INSERT INTO notes VALUES('n', 'l')")
    try bench.sync(all[0], all[1])

    try all[1].execute("INSERT INTO files VALUES('f', 'n')")
    try all[0].execute("DELETE FROM lists")
    try bench.sync(all[1], all[0], all[1])

    for table in Self.tables { #expect(try all[0].lines("SELECT * FROM \(table)") == []) }
    try expectEqual(bench, all)
  }

  @Test("A child and its parent that are deleted together, the parent first, are both gone")
  func deferred() throws {
    let schema = """
      CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL);
      CREATE TABLE notes(
        id TEXT PRIMARY KEY NOT NULL, list TEXT REFERENCES lists(id) DEFERRABLE INITIALLY DEFERRED
      );
      """
    for isEnforced in [true, false] {
      let (bench, all) = try devices(
        schema,
        ["lists", "notes"],
        enforced: [isEnforced, !isEnforced, true]
      )
      try all[0].execute("INSERT INTO lists VALUES('l'); INSERT INTO notes VALUES('n', 'l')")
      try bench.sync(all[0], all[1], all[2])

      try all[0].execute("BEGIN; DELETE FROM lists; DELETE FROM notes; COMMIT")
      try bench.sync(all[0], all[1], all[2], all[0])

      #expect(try all[0].lines("SELECT id FROM lists UNION SELECT id FROM notes") == [])
      try expectEqual(bench, all, ["lists", "notes"])
    }
  }

  @Test("A reference chosen after its parent's deletion was made is not lost to that deletion")
  func newerReference() throws {
    let schema = """
      CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL);
      CREATE TABLE notes(
        id TEXT PRIMARY KEY NOT NULL, list TEXT REFERENCES lists(id) ON DELETE SET NULL
      );
      """
    for enforced in [[true, false, true], [false, true, false]] {
      let (bench, all) = try devices(schema, ["lists", "notes"], enforced: enforced)
      try all[0]
        .execute(
          "INSERT INTO lists VALUES('l'), ('m'); INSERT INTO notes VALUES('n', 'l')",
          at: 1_000
        )
      try bench.sync(all[0], all[1], all[2])

      try all[1].execute("UPDATE notes SET list = 'm'", at: 5_000)
      try all[0].execute("DELETE FROM lists WHERE id = 'l'", at: 4_000)
      try all[2].execute("SELECT 1", at: 9_000)
      try bench.sync(all[0], all[2], all[1], all[2], all[0])

      #expect(try all[0].lines("SELECT list FROM notes") == ["'m'"])
      try expectEqual(bench, all, ["lists", "notes"])
    }
  }

  @Test(
    "Who deletes a parent without enforcement gets it back, with what was not sent yet",
    arguments: OrphanPolicy.allCases
  )
  func departed(policy: OrphanPolicy) throws {
    var options = SyncEngineOptions()
    options.tables["files", default: .init()].orphans = policy
    let (bench, all) = try devices(enforced: [false, true], options: options)
    try all[0].execute("INSERT INTO lists VALUES('l', 'Tea'); INSERT INTO notes VALUES('n', 'l')")
    try all[0].execute("INSERT INTO files VALUES('f', 'n')")
    try bench.sync(all[0], all[1])

    try all[0].execute("INSERT INTO lists VALUES('m', 'New'); UPDATE notes SET list = 'm'")
    try all[0].execute("DELETE FROM notes")
    try bench.sync(all[0], all[1], all[0])

    let notes = policy == .restoreParent ? ["'n'|'m'"] : []
    let files: [String] =
      switch policy {
      case .restoreParent: ["'f'|'n'"]
      case .deleteChildren: []
      case .detachChildren: ["'f'|NULL"]
      }
    #expect(try all[0].lines("SELECT * FROM notes") == notes)
    #expect(try all[0].lines("SELECT * FROM files") == files)
    try expectEqual(bench, all)
  }

  /// The long run has a longer chain; SQLite's own cascades end at 1,000.
  @Test("A long chain of rows goes with its head, where it is enforced and where not")
  func chain() throws {
    let count = SuiteSize.count(120, long: 10_000)
    let schema = """
      CREATE TABLE folders(
        id TEXT PRIMARY KEY NOT NULL, up TEXT REFERENCES folders(id) ON DELETE CASCADE
      );
      CREATE INDEX folders_up ON folders(up);
      """
    for enforced in [[true, false], [false, true]] {
      let (bench, all) = try devices(schema, ["folders"], enforced: enforced)
      try all[0].execute("INSERT INTO folders VALUES('f0', NULL)")
      try bench.sync(all[0], all[1])

      try all[1]
        .execute(
          """
          WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT \(count))
          INSERT INTO folders SELECT 'f' || i, 'f' || (i - 1) FROM n
          """
        )
      try all[0].execute("DELETE FROM folders")
      try bench.sync(all[0])
      if !all[1].engine.isRunning { try all[1].engine.start() }
      all[1].engine.fetchChanges()
      try bench.sync(all[1], all[0])

      #expect(try all[0].lines("SELECT count(*) FROM folders") == ["0"])
      try expectEqual(bench, all, ["folders"])
    }
  }

  @Test("A row whose parent never comes is shown, and kept until it does, over restarts")
  func dangling() throws {
    let (bench, all) = try devices(enforced: [false, true])
    let (mac, phone) = (all[0], all[1])
    try mac.execute("INSERT INTO notes VALUES('n', 'later')")
    try bench.sync(mac, phone)

    #expect(
      try mac.engine.danglingReferences().map(\.description) == [
        "row 'n' of notes refers by list to no row of lists"
      ]
    )
    #expect(try bench.unclean(phone) == ["'n:notes'|'waiting'|NULL"])
    #expect(try phone.lines("SELECT * FROM notes") == [])

    phone.engine.stop()
    phone.engine = try bench.engine("phone", phone.database, Self.tables)
    phone.listen()
    try mac.execute("INSERT INTO lists VALUES('later', 'Here')")
    try bench.sync(mac, phone)

    #expect(try phone.lines("SELECT * FROM notes") == ["'n'|'later'"])
    try expectEqual(bench, all)
  }

  @Test("What waited for parents is there when foreign keys are not enforced any more")
  func enforcementGoes() throws {
    let (bench, all) = try devices(enforced: [false, true])
    let (mac, phone) = (all[0], all[1])
    try mac.execute("INSERT INTO notes VALUES('n', 'never')")
    try bench.sync(mac, phone)

    phone.engine.stop()
    try phone.execute("PRAGMA foreign_keys = OFF")
    phone.engine = try bench.engine("device-1", phone.database, Self.tables)
    phone.listen()
    try bench.sync(phone, mac)

    #expect(try phone.lines("SELECT * FROM notes") == ["'n'|'never'"])
    #expect(try bench.unclean(phone) == [])
  }

  @Test(
    "Rows that refer by another unique key follow when it changes elsewhere",
    arguments: SuiteSize.some(2, of: ["CASCADE", "SET NULL", "NO ACTION", "RESTRICT"])
  )
  func otherKey(action: String) throws {
    let schema = """
      CREATE TABLE places(id TEXT PRIMARY KEY NOT NULL, code TEXT NOT NULL DEFAULT '' UNIQUE);
      CREATE TABLE pins(
        id TEXT PRIMARY KEY NOT NULL, code TEXT REFERENCES places(code) ON UPDATE \(action)
      );
      """
    for enforced in [[true, false], [false, true]] {
      var options = SyncEngineOptions()
      options.defaultTable.uniqueKeys = .newest
      let (bench, all) = try devices(
        schema,
        ["places", "pins"],
        enforced: enforced,
        options: options
      )
      try all[0].execute("INSERT INTO places VALUES('p', 'one')")
      try bench.sync(all[0], all[1])

      try all[1].execute("INSERT INTO pins VALUES('x', 'one')")
      try all[0].execute("UPDATE places SET code = 'two'")
      try bench.sync(all[0], all[1], all[0])

      let code = action == "SET NULL" ? "NULL" : "'two'"
      #expect(try all[0].lines("SELECT * FROM pins") == ["'x'|\(code)"])
      try expectEqual(bench, all, ["places", "pins"])
    }
  }

  @Test("Columns of one foreign key are taken from one side, the one that was edited last")
  func columnGroups() throws {
    let schema = """
      CREATE TABLE places(x TEXT NOT NULL, y TEXT NOT NULL, PRIMARY KEY(x, y));
      CREATE TABLE pins(
        id TEXT PRIMARY KEY NOT NULL, x TEXT, y TEXT, title TEXT,
        FOREIGN KEY(x, y) REFERENCES places(x, y)
      );
      """
    for enforced in [[true, false], [false, true]] {
      let (bench, all) = try devices(schema, ["places", "pins"], enforced: enforced)
      try all[0]
        .execute(
          """
          INSERT INTO places VALUES('1', '1'), ('1', '2'), ('2', '1');
          INSERT INTO pins VALUES('p', '1', '1', 'Old')
          """,
          at: 1_000
        )
      try bench.sync(all[0], all[1])

      try all[0].execute("UPDATE pins SET x = '2', title = 'New'", at: 2_000)
      try all[1].execute("UPDATE pins SET y = '2'", at: 3_000)
      try bench.sync(all[0], all[1], all[0])

      #expect(try all[0].lines("SELECT * FROM pins") == ["'p'|'1'|'2'|'New'"])
      try expectEqual(bench, all, ["places", "pins"])
    }
  }

  @Test(
    "A row that refers to itself, and rows that refer to each other, come over",
    arguments: [true, false]
  )
  func circles(isEnforced: Bool) throws {
    let schema = """
      CREATE TABLE teams(id TEXT PRIMARY KEY NOT NULL, lead TEXT REFERENCES people(id));
      CREATE TABLE people(
        id TEXT PRIMARY KEY NOT NULL, team TEXT REFERENCES teams(id) ON DELETE CASCADE,
        boss TEXT REFERENCES people(id)
      );
      """
    let (bench, all) = try devices(schema, ["teams", "people"], enforced: [false, isEnforced])
    try all[0]
      .execute(
        "INSERT INTO people VALUES('a', 't', 'a'), ('b', 't', 'a'); INSERT INTO teams VALUES('t', 'b')"
      )
    try bench.sync(all[0], all[1])
    #expect(try all[1].lines("SELECT * FROM people") == ["'a'|'t'|'a'", "'b'|'t'|'a'"])

    try all[0].execute("UPDATE teams SET lead = NULL; DELETE FROM teams")
    try bench.sync(all[0], all[1], all[0])

    #expect(try all[1].lines("SELECT id FROM people UNION SELECT id FROM teams") == [])
    try expectEqual(bench, all, ["teams", "people"])
  }
}

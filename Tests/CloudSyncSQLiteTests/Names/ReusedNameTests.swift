import CloudSyncSQLite
import CloudSyncSimulator
import Testing

@Suite("Names that a migration gives anew")
struct ReusedNameTests {
  /// A migration that gives a name anew, and how it goes on without that.
  struct Migration: Sendable, CustomTestStringConvertible {
    let sql: String
    let reason: String
    /// What an app does about it.
    let repair: String
    let query: String
    let rows: [String]

    var testDescription: String { sql }
  }

  private static let tables = ["notes", "pages"]
  private static let schema = """
    CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, a TEXT, b TEXT);
    CREATE TABLE pages(id TEXT PRIMARY KEY NOT NULL, a TEXT, b TEXT);
    """

  private static let migrations = [
    Migration(
      sql: "ALTER TABLE notes RENAME COLUMN a TO x; ALTER TABLE notes RENAME COLUMN b TO a",
      reason: "Column \"a\" of table \"notes\" has the name of another one, which is \"x\" now.",
      repair: "ALTER TABLE notes RENAME COLUMN a TO y",
      query: "SELECT id, x, y FROM notes ORDER BY id",
      rows: ["'1'|'edited'|'B'", "'2'|'A'|'edited'"]
    ),
    Migration(
      sql: "ALTER TABLE notes RENAME COLUMN a TO x; ALTER TABLE notes ADD COLUMN a TEXT",
      reason: "Column \"a\" of table \"notes\" has the name of another one, which is \"x\" now.",
      repair: "ALTER TABLE notes RENAME COLUMN a TO y",
      query: "SELECT id, x, b, y FROM notes ORDER BY id",
      rows: ["'1'|'edited'|'B'|NULL", "'2'|'A'|'edited'|NULL"]
    ),
    Migration(
      sql: """
        ALTER TABLE notes RENAME COLUMN a TO x; ALTER TABLE notes RENAME COLUMN b TO a;
        ALTER TABLE notes RENAME COLUMN x TO b
        """,
      reason: "Column \"a\" of table \"notes\" has the name of another one, which is \"b\" now.",
      repair: """
        ALTER TABLE notes RENAME COLUMN a TO y; ALTER TABLE notes RENAME COLUMN b TO x
        """,
      query: "SELECT id, x, y FROM notes ORDER BY id",
      rows: ["'1'|'edited'|'B'", "'2'|'A'|'edited'"]
    ),
    Migration(
      sql: """
        ALTER TABLE notes RENAME TO old;
        CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, a TEXT, b TEXT)
        """,
      reason: "Table \"notes\" has the name of another one, which is \"old\" now.",
      repair: "ALTER TABLE notes RENAME TO memos",
      query: "SELECT * FROM old ORDER BY id",
      rows: ["'1'|'edited'|'B'", "'2'|'A'|'edited'"]
    ),
    Migration(
      sql: """
        ALTER TABLE notes RENAME TO x; ALTER TABLE pages RENAME TO notes;
        ALTER TABLE x RENAME TO pages
        """,
      reason: "Table \"notes\" has the name of another one, which is \"pages\" now.",
      repair: "ALTER TABLE notes RENAME TO leaves; ALTER TABLE pages RENAME TO old",
      query: "SELECT * FROM old ORDER BY id",
      rows: ["'1'|'edited'|'B'", "'2'|'A'|'edited'"]
    ),
  ]

  private func pair() throws -> (SyncHarness, mac: SyncHarness.Device, phone: SyncHarness.Device) {
    let (bench, mac, phone) = try SyncHarness.pair(Self.schema, tables: Self.tables)
    try mac.execute("INSERT INTO notes VALUES('1', 'A', 'B'), ('2', 'A', 'B')")
    try bench.sync(mac, phone)
    mac.engine.stop()
    phone.engine.stop()
    return (bench, mac, phone)
  }

  private func names(in device: SyncHarness.Device) throws -> [String] {
    try SyncEngine.tableNames(in: device.database)
  }

  @Test(
    "No engine starts, nothing changes, and all edits are sent under other names",
    arguments: migrations
  )
  func refused(migration: Migration) async throws {
    let (bench, mac, phone) = try pair()
    try mac.execute("UPDATE notes SET a = 'edited' WHERE id = '1'")
    try phone.execute("UPDATE notes SET b = 'edited' WHERE id = '2'")
    for device in [mac, phone] {
      try device.execute(migration.sql)
      let before = try device.lines("SELECT * FROM cloudsync_outbox")
      let error = #expect(throws: SyncEngineError.self) {
        try bench.restart(device, try names(in: device))
      }
      #expect(error?.code == .schema)
      #expect(error?.reason.hasPrefix(migration.reason) == true, "\(error?.reason ?? "")")
      #expect(try device.lines("SELECT * FROM cloudsync_outbox") == before)
    }
    for device in [mac, phone] {
      try device.execute(migration.repair)
      try bench.restart(device, try names(in: device))
      try bench.sync(device)
    }
    try bench.sync(mac, phone)

    for device in [mac, phone] {
      #expect(try device.lines(migration.query) == migration.rows, "\(device.name)")
      #expect(try bench.unclean(device) == [], "\(device.name)")
      #expect(try await device.engine.verify().differences == [], "\(device.name)")
    }
  }

  @Test(
    "What stands for the former table or column has its name",
    arguments: [
      """
      ALTER TABLE notes RENAME TO aside; CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, a TEXT, b TEXT);
      INSERT INTO notes SELECT * FROM aside
      """,
      """
      ALTER TABLE notes RENAME COLUMN b TO aside; ALTER TABLE notes ADD COLUMN b BLOB;
      UPDATE notes SET b = CAST(aside AS BLOB)
      """,
    ]
  )
  func setAside(migration: String) throws {
    let (bench, mac, phone) = try pair()
    try mac.execute("UPDATE notes SET a = 'edited' WHERE id = '1'")
    for device in [mac, phone] {
      try bench.restart(device, Self.tables, after: migration)
      try bench.sync(device)
    }
    try bench.sync(mac, phone)

    for device in [mac, phone] {
      let rows = try device.lines("SELECT id, a, CAST(b AS TEXT) FROM notes ORDER BY id")
      #expect(rows == ["'1'|'edited'|'B'", "'2'|'A'|'B'"], "\(device.name)")
      #expect(try bench.unclean(device) == [], "\(device.name)")
    }
  }

  /// Of each: what two releases of an app do, the refusal, and a rename that is none.
  private static let releases = [
    [
      "ALTER TABLE notes RENAME TO old", "ALTER TABLE pages RENAME TO notes",
      "Table \"notes\" has the name of another one, which is \"old\" now.",
      "ALTER TABLE notes RENAME TO pages; ALTER TABLE old RENAME TO notes",
    ],
    [
      "ALTER TABLE notes RENAME TO old", "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, z TEXT)",
      "Table \"notes\" has the name of another one, which is \"old\" now.",
      "DROP TABLE notes; ALTER TABLE old RENAME TO notes",
    ],
    [
      "ALTER TABLE notes RENAME COLUMN a TO x", "ALTER TABLE notes RENAME COLUMN b TO a",
      "Column \"a\" of table \"notes\" has the name of another one, which is \"x\" now.",
      "ALTER TABLE notes RENAME COLUMN a TO b; ALTER TABLE notes RENAME COLUMN x TO a",
    ],
    [
      "ALTER TABLE notes RENAME COLUMN a TO x", "ALTER TABLE notes ADD COLUMN a TEXT",
      "Column \"a\" of table \"notes\" has the name of another one, which is \"x\" now.",
      "ALTER TABLE notes DROP COLUMN a; ALTER TABLE notes RENAME COLUMN x TO a",
    ],
  ]

  @Test(
    "A name is not given anew by a later release either, and may be taken back",
    arguments: releases
  )
  func later(release: [String]) throws {
    let (bench, mac, phone) = try pair()
    for device in [mac, phone] {
      try device.execute(release[0])
      try bench.restart(device, try names(in: device))
      try bench.sync(device)
    }
    try mac.execute(release[1])
    let error = #expect(throws: SyncEngineError.self) {
      try bench.restart(mac, try names(in: mac))
    }
    #expect(error?.reason.hasPrefix(release[2]) == true, "\(error?.reason ?? "")")
    try mac.execute(release[3])
    try phone.execute(release[3].split(separator: ";").last.map(String.init) ?? "")
    for device in [mac, phone] {
      try bench.restart(device, try names(in: device))
      try bench.sync(device)
    }
    try bench.sync(mac, phone)
    for device in [mac, phone] {
      #expect(try device.lines("SELECT id, a, b FROM notes") == ["'1'|'A'|'B'", "'2'|'A'|'B'"])
      #expect(try bench.unclean(device) == [], "\(device.name)")
    }
  }

  @Test(
    "What one start has taken for another table or column every later one does",
    arguments: [
      [
        "ALTER TABLE notes RENAME COLUMN b TO aside",
        "ALTER TABLE notes ADD COLUMN b BLOB; UPDATE notes SET b = CAST(aside AS BLOB)",
      ],
      [
        "DELETE FROM notes; ALTER TABLE notes RENAME COLUMN a TO x",
        "ALTER TABLE notes ADD COLUMN a TEXT",
      ],
      [
        "ALTER TABLE pages RENAME TO leaves",
        "CREATE TABLE pages(id TEXT PRIMARY KEY NOT NULL, a TEXT, b TEXT)",
      ],
    ]
  )
  func startedAgain(release: [String]) throws {
    let (bench, mac, _) = try pair()
    for sql in release {
      try bench.restart(mac, try names(in: mac), after: "")
      try bench.sync(mac)
      mac.engine.stop()
      try mac.execute(sql)
      for _ in 0..<3 {
        try bench.restart(mac, try names(in: mac))
        try bench.sync(mac)
      }
    }
    #expect(try bench.unclean(mac) == [])
  }
}

import CloudSyncSQLite
import CloudSyncSimulator
import Testing

@Suite("Columns that are dropped and added again between two starts")
struct ReaddedColumnTests {
  private static let schema = """
    CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT, stars INTEGER, color TEXT);
    """
  private static let migration = """
    PRAGMA legacy_alter_table = ON;
    ALTER TABLE notes DROP COLUMN color; ALTER TABLE notes ADD COLUMN color TEXT;
    """
  private static let rows = "SELECT * FROM notes ORDER BY id"

  private func pair(
    _ schema: String = schema
  ) throws -> (SyncHarness, mac: SyncHarness.Device, phone: SyncHarness.Device) {
    let (bench, mac, phone) = try SyncHarness.pair(schema, tables: ["notes"])
    try mac.execute(
      "INSERT INTO notes(id, title, stars, color) VALUES('a', 'A', 1, 'red'), ('b', 'B', 2, 'blue')"
    )
    try bench.sync(mac, phone)
    return (bench, mac, phone)
  }

  private func expect(
    _ rows: [String],
    of devices: SyncHarness.Device...,
    in bench: SyncHarness
  ) async throws {
    for device in devices {
      #expect(try device.lines(Self.rows) == rows, "\(device.name)")
      #expect(try bench.unclean(device) == [], "\(device.name)")
      #expect(try await device.engine.verify().differences == [], "\(device.name)")
    }
  }

  @Test(
    "The cloud's values come back, with whatever type and default the column is added",
    arguments: ["TEXT", "INTEGER", "TEXT NOT NULL DEFAULT 'none'"]
  )
  func comesBack(type: String) async throws {
    let (bench, mac, phone) = try pair()
    let migration = Self.migration.replacing("color TEXT", with: "color \(type)")
    try bench.restart(mac, ["notes"], after: migration)
    try bench.sync(mac)
    try bench.restart(phone, ["notes"], after: migration)
    try bench.sync(phone, mac)

    try await expect(["'a'|'A'|1|'red'", "'b'|'B'|2|'blue'"], of: mac, phone, in: bench)
  }

  @Test("So they do if it stood elsewhere before, and several columns are added again")
  func severalColumns() async throws {
    let (bench, mac, phone) = try pair(
      "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, color TEXT, title TEXT, stars INTEGER)"
    )
    try bench.restart(
      mac,
      ["notes"],
      after: """
        PRAGMA legacy_alter_table = ON;
        ALTER TABLE notes DROP COLUMN color; ALTER TABLE notes ADD COLUMN color TEXT;
        ALTER TABLE notes DROP COLUMN stars; ALTER TABLE notes ADD COLUMN stars INTEGER;
        """
    )
    try bench.sync(mac)

    #expect(
      try mac.lines("SELECT id, title, stars, color FROM notes ORDER BY id")
        == ["'a'|'A'|1|'red'", "'b'|'B'|2|'blue'"]
    )
    #expect(try await mac.engine.verify().differences == [])
    #expect(try bench.unclean(mac) == [])
    withExtendedLifetime(phone) {}
  }

  @Test("Edits from before the next start stay, in the column itself too")
  func edited() async throws {
    let (bench, mac, phone) = try pair()
    mac.engine.stop()
    try mac.execute("UPDATE notes SET title = 'A2' WHERE id = 'a'")
    let later = "UPDATE notes SET color = 'green', stars = 7 WHERE id = 'b'"
    try bench.restart(mac, ["notes"], after: Self.migration + later)
    try bench.sync(mac, phone)

    try await expect(["'a'|'A2'|1|'red'", "'b'|'B'|7|'green'"], of: mac, phone, in: bench)
  }

  @Test("An edit to the default stays that was not sent when the schema became another one")
  func editedToDefault() async throws {
    let (bench, mac, phone) = try pair()
    mac.engine.stop()
    try mac.execute("UPDATE notes SET color = NULL")
    try bench.restart(mac, ["notes"], after: "CREATE INDEX stars ON notes(stars)")
    try bench.sync(mac, phone)

    try await expect(["'a'|'A'|1|NULL", "'b'|'B'|2|NULL"], of: mac, phone, in: bench)
  }

  @Test("Another schema alone has nothing fetched anew, though the last column is empty")
  func unchanged() throws {
    let (bench, mac, phone) = try pair()
    try mac.execute("UPDATE notes SET color = NULL")
    try bench.sync(mac, phone)
    try bench.restart(mac, ["notes"], after: "CREATE INDEX stars ON notes(stars); VACUUM")

    let facts = "SELECT key FROM cloudsync_facts WHERE key IN ('fetchAll', 'unreconciled')"
    #expect(try mac.lines(facts) == [])
    try bench.restart(phone, ["notes"], after: Self.migration)
    #expect(try phone.lines(facts) == [])
  }

  @Test(
    "A column is dropped beside the triggers, and another renamed that others have under its new name",
    arguments: [true, false]
  )
  func droppedBesideRenaming(isEdited: Bool) async throws {
    let (bench, mac, phone) = try pair()
    let rename = "ALTER TABLE notes RENAME COLUMN title TO name;"
    try bench.restart(mac, ["notes"], after: rename)
    try bench.sync(mac)
    try mac.execute("UPDATE notes SET name = 'A2' WHERE id = 'a'")
    // The phone keeps the new name's values beside its table.
    try bench.sync(mac, phone)
    phone.engine.stop()
    if isEdited { try phone.execute("UPDATE notes SET color = 'green' WHERE id = 'b'") }
    let drop = "PRAGMA legacy_alter_table = ON; ALTER TABLE notes DROP COLUMN stars;"
    try bench.restart(phone, ["notes"], after: rename + drop)
    try phone.execute("UPDATE notes SET name = 'B2' WHERE id = 'b'")
    try bench.sync(phone, mac)

    for device in [mac, phone] {
      let rows = try device.lines("SELECT id, name, color FROM notes ORDER BY id")
      #expect(rows == ["'a'|'A2'|'red'", "'b'|'B2'|'\(isEdited ? "green" : "blue")'"])
      #expect(try bench.unclean(device) == [], "\(device.name)")
      #expect(try await device.engine.verify().differences == [], "\(device.name)")
    }
    #expect(try mac.lines("SELECT stars FROM notes ORDER BY id") == ["1", "2"])
  }

  @Test("A rescan finds what an edit of the same row has hidden")
  func hidden() async throws {
    let (bench, mac, phone) = try pair()
    mac.engine.stop()
    // As somebody does who has turned the triggers off.
    try mac.execute(
      "UPDATE notes SET color = 'unseen' WHERE id = 'a'; DELETE FROM cloudsync_outbox"
    )
    try mac.execute("UPDATE notes SET title = 'A2' WHERE id = 'a'")
    try bench.sync(mac, phone)
    #expect(try phone.lines(Self.rows) == ["'a'|'A2'|1|'red'", "'b'|'B'|2|'blue'"])
    try mac.engine.rescan()
    try bench.sync(mac, phone)

    try await expect(["'a'|'A2'|1|'unseen'", "'b'|'B'|2|'blue'"], of: mac, phone, in: bench)
  }

  @Test(
    "A rebuild leaves a column out that the same migration adds again: its values come back, edits stay",
    arguments: [true, false],
    [true, false]
  )
  func rebuilt(isLast: Bool, isEdited: Bool) async throws {
    try await rebuilt(isLast: isLast, isEdited: isEdited, initial: " DEFAULT 'none'")
  }

  @Test("So they do where it was the last, and is declared as it was")
  func rebuiltAlike() async throws { try await rebuilt(isLast: true, isEdited: false, initial: "") }

  private func rebuilt(isLast: Bool, isEdited: Bool, initial: String) async throws {
    let columns = isLast ? "title TEXT, color TEXT" : "color TEXT, title TEXT"
    let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, \(columns))"
    let (bench, mac, phone) = try SyncHarness.pair(schema, tables: ["notes"])
    try mac.execute(
      """
      INSERT INTO notes(id, title, color)
      VALUES('a', 'A', 'red'), ('b', 'B', 'blue'), ('c', 'C', 'grey')
      """
    )
    try bench.sync(mac, phone)
    try phone.execute("UPDATE notes SET color = 'black' WHERE id = 'c'")
    // Where it was the last, an edit in it hides that it was added again.
    let edit = isEdited && !isLast ? "UPDATE notes SET color = 'green' WHERE id = 'b'" : ""
    try bench.restart(
      mac,
      ["notes"],
      after: """
        CREATE TABLE fresh(id TEXT PRIMARY KEY NOT NULL, title TEXT);
        INSERT INTO fresh SELECT id, title FROM notes; DROP TABLE notes;
        ALTER TABLE fresh RENAME TO notes;
        ALTER TABLE notes ADD COLUMN color TEXT\(initial);
        UPDATE notes SET title = 'A2' WHERE id = 'a'; \(edit)
        """
    )
    for _ in 0..<2 { try bench.sync(mac, phone) }

    let second = edit.isEmpty ? "blue" : "green"
    for device in [mac, phone] {
      #expect(
        try device.lines("SELECT id, title, color FROM notes ORDER BY id")
          == ["'a'|'A2'|'red'", "'b'|'B'|'\(second)'", "'c'|'C'|'black'"],
        "\(device.name)"
      )
      #expect(try bench.unclean(device) == [], "\(device.name)")
      #expect(try await device.engine.verify().differences == [], "\(device.name)")
    }
  }

  @Test(
    "A value that is set to the default after a rebuild stays so, wherever its column stands",
    arguments: [
      ("id, title, done", "done = 0 WHERE id = 'a'"),
      ("id, done, title", "title = NULL WHERE id = 'a'"), ("id, done, title", "done = 0"),
    ]
  )
  func setToDefault(columns: String, edit: String) async throws {
    let declarations = [
      "id": "id TEXT PRIMARY KEY NOT NULL", "title": "title TEXT",
      "done": "done INTEGER NOT NULL DEFAULT 0",
    ]
    let schema =
      "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT, done INTEGER NOT NULL DEFAULT 0)"
    let (bench, mac, phone) = try SyncHarness.pair(schema, tables: ["notes"])
    try mac.execute("INSERT INTO notes VALUES('a', 'A', 1), ('b', 'B', 1)")
    try bench.sync(mac, phone)
    let list = columns.split(separator: ", ").compactMap { declarations[String($0)] }
      .joined(separator: ", ")
    try bench.restart(
      mac,
      ["notes"],
      after: """
        CREATE TABLE fresh(\(list)); INSERT INTO fresh SELECT \(columns) FROM notes;
        DROP TABLE notes; ALTER TABLE fresh RENAME TO notes; UPDATE notes SET \(edit)
        """
    )
    let expected = try mac.lines("SELECT id, title, done FROM notes ORDER BY id")
    for _ in 0..<2 { try bench.sync(mac, phone) }

    for device in [mac, phone] {
      let rows = try device.lines("SELECT id, title, done FROM notes ORDER BY id")
      #expect(rows == expected, "\(device.name)")
      #expect(try bench.unclean(device) == [], "\(device.name)")
    }
  }
}

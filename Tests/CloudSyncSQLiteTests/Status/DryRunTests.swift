import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSimulator
import Testing

@Suite("SyncEngine.dryRun")
struct DryRunTests {
  private static let schema = """
    CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL, title TEXT);
    CREATE TABLE notes(
      id TEXT PRIMARY KEY NOT NULL, list TEXT REFERENCES lists(id) ON DELETE CASCADE, title TEXT
    );
    """
  private static let tables = ["lists", "notes"]

  private func preview(
    _ name: String,
    _ database: DatabaseFile,
    in bench: SyncHarness,
    tables: [String] = Self.tables
  ) async throws -> SyncPreview {
    try await SyncEngine.dryRun(
      database: database,
      tables: tables,
      zoneID: bench.zoneID,
      operationHandler: bench.cloud.connect(
        device: name,
        account: AccountIdentity("owner"),
        zoneID: bench.zoneID
      ),
      environment: bench.world.environment
    )
  }

  /// Everything that is in a database, the engine's tables too.
  private func everything(_ database: DatabaseFile) throws -> [String] {
    try database.lines("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
      .flatMap { name in
        try database.lines("SELECT * FROM \(name.dropFirst().dropLast())").map { "\(name): \($0)" }
      }
  }

  private func words(_ changes: [SyncPreview.Change]) -> [String] {
    changes.map { change in
      switch change.action {
      case .insert: "insert \(change.table) \(change.key)"
      case .update(let columns):
        "update \(change.table) \(change.key) \(columns.joined(separator: ","))"
      case .delete: "delete \(change.table) \(change.key)"
      }
    }
  }

  @Test("On a database without an engine it tells what an engine would do, and leaves no trace")
  func fresh() async throws {
    let bench = SyncHarness()
    let mac = try bench.device("mac", Self.schema, tables: Self.tables)
    try mac.execute("INSERT INTO lists VALUES('l', 'List'), ('m', 'More')")
    try bench.sync(mac)
    let phone = try DatabaseFile(path: ":memory:")
    try phone.execute(Self.schema + "INSERT INTO lists VALUES('m', 'More'), ('mine', 'Mine')")
    let before = try everything(phone)

    let preview = try await self.preview("phone", phone, in: bench)

    #expect(words(preview.sent) == ["insert lists 'mine'"])
    #expect(words(preview.applied) == ["insert lists 'l'"])
    #expect(preview.refused == [] && preview.waiting == [] && preview.hasZone)
    #expect(try everything(phone) == before)
  }

  @Test("It tells edits, deletions, merges, refusals and what waits, as they come then")
  func edits() async throws {
    let bench = SyncHarness()
    let mac = try bench.device("mac", Self.schema, tables: Self.tables)
    let phone = try bench.device("phone", Self.schema, tables: Self.tables)
    try mac.execute(
      """
      INSERT INTO lists VALUES('l', 'List'), ('m', 'More'), ('n', 'None'), ('o', 'Old');
      INSERT INTO notes VALUES('a', 'l', 'Tea')
      """
    )
    try bench.sync(mac, phone)
    phone.engine.stop()
    try mac.execute("UPDATE notes SET title = 'Cup'; DELETE FROM lists WHERE id = 'm'")
    try mac.execute(
      "INSERT INTO lists VALUES('bad', 'Bad'); UPDATE lists SET title = 'N' WHERE id = 'n'"
    )
    try bench.sync(mac)
    try phone.execute(
      """
      CREATE TRIGGER guard BEFORE INSERT ON lists WHEN new.id = 'bad'
      BEGIN SELECT RAISE(ABORT, 'not here'); END;
      UPDATE notes SET list = 'n'; INSERT INTO notes VALUES('b', NULL, NULL);
      DELETE FROM lists WHERE id = 'o';
      """
    )
    let before = try everything(phone.database)

    let preview = try await phone.engine.dryRun()

    #expect(
      words(preview.sent) == ["delete lists 'o'", "update notes 'a' list", "insert notes 'b'"]
    )
    #expect(
      Set(words(preview.applied)) == [
        "update notes 'a' title", "delete lists 'm'", "update lists 'n' title",
      ]
    )
    #expect(preview.refused.map(\.key) == ["'bad'"])
    #expect(preview.refused.first?.reason.contains("not here") == true)
    #expect(try everything(phone.database) == before)

    try bench.sync(phone, mac)
    #expect(
      try phone.lines("SELECT * FROM notes ORDER BY id") == ["'a'|'n'|'Cup'", "'b'|NULL|NULL"]
    )
    #expect(try phone.lines("SELECT * FROM lists") == ["'l'|'List'", "'n'|'N'"])
    #expect(try await self.preview("phone", phone.database, in: bench).isEmpty)
  }

  @Test("Rows that were there before and that others have deleted are counted, and go")
  func ended() async throws {
    let bench = SyncHarness()
    let mac = try bench.device("mac", Self.schema, tables: Self.tables)
    try mac.execute("INSERT INTO lists VALUES('l', 'List'), ('m', 'More'), ('n', 'New')")
    try bench.sync(mac)
    try mac.execute("DELETE FROM lists WHERE id <> 'n'")
    try bench.sync(mac)
    let old = Self.schema + "INSERT INTO lists VALUES('l', 'List'), ('n', 'Old');"
    let phone = try bench.device("phone", old, tables: Self.tables)
    phone.engine.stop()

    let preview = try await phone.engine.dryRun()

    #expect(preview.endedRows == 1 && preview.sent == [])
    #expect(words(preview.applied).sorted() == ["delete lists 'l'", "update lists 'n' title"])
    try bench.sync(phone, mac)
    #expect(try phone.lines("SELECT * FROM lists") == ["'n'|'New'"])
    #expect(try bench.unclean(phone) == [])
  }

  @Test("What was edited before the first synchronization is newer than what the cloud has")
  func editedBefore() async throws {
    let bench = SyncHarness()
    let mac = try bench.device("mac", Self.schema, tables: Self.tables)
    try mac.execute("INSERT INTO lists VALUES('l', 'List')", at: 1_000_000)
    try bench.sync(mac)
    let old = Self.schema + "INSERT INTO lists VALUES('l', 'Old'), ('m', 'Old');"
    let phone = try bench.device("phone", old, tables: Self.tables)
    try phone.execute("UPDATE lists SET title = 'New'", at: 2_000_000)

    let preview = try await phone.engine.dryRun()

    #expect(words(preview.sent) == ["update lists 'l' title", "insert lists 'm'"])
    try bench.sync(phone, mac)
    #expect(try mac.lines("SELECT * FROM lists ORDER BY id") == ["'l'|'New'", "'m'|'New'"])
  }

  @Test("What follows from foreign keys and unique keys is told too")
  func consequences() async throws {
    let bench = SyncHarness()
    let mac = try bench.device("mac", Self.schema, tables: Self.tables)
    let phone = try bench.device("phone", Self.schema, tables: Self.tables)
    try mac.execute(
      "INSERT INTO lists VALUES('l', 'List'); INSERT INTO notes VALUES('a', 'l', 'Tea')"
    )
    try bench.sync(mac, phone)
    phone.engine.stop()
    try mac.execute("PRAGMA foreign_keys = ON; DELETE FROM lists")
    try bench.sync(mac)
    let before = try everything(phone.database)

    let preview = try await phone.engine.dryRun()

    #expect(Set(words(preview.applied)) == ["delete lists 'l'", "delete notes 'a'"])
    #expect(preview.sent == [] && preview.endedRows == 0)
    #expect(try everything(phone.database) == before)
  }

  @Test("A schema that stands in the way is told, and nothing else is looked at")
  func forbidden() async throws {
    let bench = SyncHarness()
    let database = try DatabaseFile(path: ":memory:")
    try database.execute("CREATE TABLE a(id INTEGER PRIMARY KEY, b); INSERT INTO a VALUES(1, 2)")

    let preview = try await self.preview("mac", database, in: bench, tables: ["a"])

    #expect(preview.isForbidden && preview.isEmpty)
    #expect(preview.violations.map(\.code) == [.integerPrimaryKey])
  }

  @Test("A cloud that has no zone yet, or cannot be asked, is no secret")
  func cloud() async throws {
    let bench = SyncHarness()
    let database = try DatabaseFile(path: ":memory:")
    try database.execute(Self.schema + "INSERT INTO lists VALUES('l', 'List')")
    let preview = try await self.preview("mac", database, in: bench)
    #expect(!preview.hasZone && words(preview.sent) == ["insert lists 'l'"])

    try bench.cloud.setAccountStatus(.temporarilyUnavailable, account: AccountIdentity("owner"))
    await #expect(throws: SyncError.self) {
      try await self.preview("mac", database, in: bench)
    }
  }
}

import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import CloudSyncSimulator
import Foundation
import Testing

@Suite("Metadata in a file of its own")
struct AttachedMetadataTests {
  private static let schema =
    "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT, stars INTEGER);"
  private static let notes = "SELECT * FROM notes ORDER BY id"
  private static let bulk = """
    SELECT name FROM main.sqlite_schema
    WHERE name IN ('cloudsync_rows', 'cloudsync_journal', 'cloudsync_strangers', 'cloudsync_facts')
    """

  private func options(_ folder: TestFolder, accepts: Bool = false) -> SyncEngineOptions {
    var options = SyncEngineOptions()
    options.metadata = .attached(path: folder.file("meta.sqlite"))
    options.acceptsLostMetadata = accepts
    return options
  }

  private func engine(
    _ bench: SyncHarness,
    _ database: FragileDatabase,
    _ options: SyncEngineOptions
  ) throws -> SyncEngine {
    try bench.engine("mac", database, ["notes"], options)
  }

  private func run(_ bench: SyncHarness, _ engine: SyncEngine) throws {
    try engine.start()
    for _ in 0..<2 {
      engine.sendChanges()
      engine.fetchChanges()
      bench.world.advance(by: .seconds(60))
    }
  }

  private func make(
    _ name: String
  ) throws -> (SyncHarness, TestFolder, FragileDatabase, SyncHarness.Device) {
    let bench = SyncHarness()
    let folder = try TestFolder(name)
    let database = try FragileDatabase(
      path: folder.file("data.sqlite"),
      metadataPath: folder.file("meta.sqlite"),
      schema: Self.schema
    )
    return (bench, folder, database, try bench.device("phone", Self.schema, tables: ["notes"]))
  }

  @Test("The bulk is in the other file; edits go both ways; tearing down removes every trace")
  func basics() throws {
    let (bench, folder, database, phone) = try make("basics")
    try database.execute("INSERT INTO notes VALUES('a', 'A', 1), ('b', 'B', 2)")
    let before = try database.lines("SELECT sql FROM sqlite_schema ORDER BY name")
    let engine = try engine(bench, database, options(folder))
    try run(bench, engine)
    try bench.sync(phone)
    try phone.execute("UPDATE notes SET stars = 9 WHERE id = 'a'; DELETE FROM notes WHERE id = 'b'")
    try bench.sync(phone)
    try run(bench, engine)

    #expect(try database.lines(Self.notes) == ["'a'|'A'|9"])
    #expect(try database.lines(Self.bulk) == [])
    #expect(
      try database.lines("SELECT record_name FROM cloudsync_metadata.cloudsync_rows") == [
        "'a:notes'"
      ]
    )
    #expect(
      try database.lines("SELECT table_name, status FROM cloudsync_status") == ["'notes'|'clean'"]
    )
    #expect(try database.lines("SELECT * FROM cloudsync_outbox") == [])

    // Another connection finds it by itself.
    database.close()
    let metadata = try #require(try SyncMetadata.read(from: database))
    #expect(metadata.counts.clean == 1 && metadata.counts.pending == 0)

    try engine.tearDown()
    #expect(try database.lines("SELECT sql FROM sqlite_schema ORDER BY name") == before)
    database.close()
    #expect(try folder.names.filter { $0.hasPrefix("meta") } == [])
  }

  @Test("The host may open its connection again at any time")
  func reopened() throws {
    let (bench, folder, database, phone) = try make("reopened")
    let engine = try engine(bench, database, options(folder))
    try run(bench, engine)
    for number in 0..<5 {
      database.close()
      try database.execute("INSERT INTO notes VALUES('\(number)', 'x', 0)")
      engine.sendChanges()
      bench.world.advance(by: .seconds(10))
    }
    try bench.sync(phone)
    #expect(try phone.lines(Self.notes).count == 5)
    #expect(engine.isRunning)
  }

  @Test("Metadata is moved out of the database and back, with edits that are not sent yet")
  func moves() throws {
    let (bench, folder, database, phone) = try make("moves")
    try database.execute("INSERT INTO notes VALUES('a', 'A', 1), ('b', 'B', 2)")
    try run(bench, try engine(bench, database, SyncEngineOptions()))
    var sent = try bench.cloud.records(account: AccountIdentity("owner"), zone: bench.zoneID)
    let tags = sent.map(\.changeTag)
    try database.execute("UPDATE notes SET title = 'A2' WHERE id = 'a'")
    database.close()
    _ = try engine(bench, database, options(folder))
    #expect(try database.lines(Self.bulk) == [])
    try database.execute("UPDATE notes SET stars = 7 WHERE id = 'a'")
    database.close()
    let back = try engine(bench, database, SyncEngineOptions())
    #expect(try database.lines(Self.bulk).count == 4)
    #expect(try folder.names == ["data.sqlite", "data.sqlite-shm", "data.sqlite-wal"])
    try run(bench, back)
    try bench.sync(phone)

    #expect(try phone.lines(Self.notes) == ["'a'|'A2'|7", "'b'|'B'|2"])
    #expect(try database.lines("SELECT * FROM cloudsync_status WHERE status <> 'clean'") == [])
    // What had not changed was not sent again.
    sent = try bench.cloud.records(account: AccountIdentity("owner"), zone: bench.zoneID)
    #expect(sent.map(\.changeTag)[1] == tags[1] && sent.map(\.changeTag)[0] != tags[0])
  }

  @Test(
    "A file that is missing, an older copy or another database's is an error, unless accepted",
    arguments: ["missing", "older", "foreign"]
  )
  func lost(how: String) throws {
    let (bench, folder, database, phone) = try make(how)
    try database.execute("INSERT INTO notes VALUES('a', 'A', 1), ('b', 'B', 2)")
    let first = try engine(bench, database, options(folder))
    try run(bench, first)
    first.stop()
    database.close()
    let file = folder.file("meta.sqlite")
    let old = try Data(contentsOf: URL(fileURLWithPath: file))
    try run(bench, first)
    try database.execute("UPDATE notes SET stars = 5 WHERE id = 'b'")
    try run(bench, first)
    first.stop()
    try database.execute("UPDATE notes SET title = 'edited' WHERE id = 'a'")
    try phone.execute("INSERT INTO notes VALUES('c', 'C', 3)")
    try bench.sync(phone)
    database.close()
    try FileManager.default.removeItem(atPath: file)
    switch how {
    case "older": try old.write(to: URL(fileURLWithPath: file))
    case "foreign":
      let other = try FragileDatabase(
        path: folder.file("other.sqlite"),
        metadataPath: file,
        schema: Self.schema
      )
      _ = try engine(bench, other, options(folder))
      other.close()
    default: break
    }

    let error = try #require(throws: SyncEngineError.self) {
      _ = try engine(bench, database, options(folder))
    }
    #expect(error.code == .lostMetadata)
    #expect(error.path == file)
    #expect(error.reason.contains("acceptsLostMetadata"))
    database.close()

    let again = try engine(bench, database, options(folder, accepts: true))
    try run(bench, again)
    try bench.sync(phone)
    try run(bench, again)
    let expected = ["'a'|'edited'|1", "'b'|'B'|5", "'c'|'C'|3"]
    #expect(try database.lines(Self.notes) == expected)
    #expect(try phone.lines(Self.notes) == expected)
    #expect(try database.lines("SELECT * FROM cloudsync_status WHERE status <> 'clean'") == [])
  }

  @Test("A dry run of a database without an engine makes no file")
  func dryRun() async throws {
    let (bench, folder, database, _) = try make("dryrun")
    try database.execute("INSERT INTO notes VALUES('a', 'A', 1)")
    let preview = try await SyncEngine.dryRun(
      database: database,
      tables: ["notes"],
      zoneID: bench.zoneID,
      operationHandler: bench.cloud.connect(
        device: "mac",
        account: AccountIdentity("owner"),
        zoneID: bench.zoneID
      ),
      options: options(folder),
      environment: bench.world.environment
    )
    #expect(preview.sent.count == 1)
    #expect(try folder.names.filter { $0.hasPrefix("meta") } == [])
  }
}

import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import Testing

@testable import CloudSyncChangesets

/// A clone has the schema of its original, all of it, or it is said why that cannot be.
@Suite struct CloneSchemaTests {
  private static let schema = """
    CREATE TABLE people(
      id TEXT PRIMARY KEY NOT NULL COLLATE NOCASE, name TEXT COLLATE NOCASE, low INTEGER, high INTEGER,
      mail TEXT, width INTEGER GENERATED ALWAYS AS (high - low) VIRTUAL,
      made TEXT DEFAULT (lower('ABC')), CONSTRAINT ordered CHECK(low <= high));
    CREATE UNIQUE INDEX mails ON people(lower(mail)) WHERE mail IS NOT NULL;
    CREATE INDEX names ON people(name);
    CREATE TABLE settings(name TEXT PRIMARY KEY NOT NULL, value);
    CREATE VIRTUAL TABLE words USING fts5(name, content='');
    CREATE VIEW tall AS SELECT id FROM people WHERE high > 10;
    CREATE TRIGGER indexed AFTER INSERT ON people BEGIN
      INSERT INTO words(rowid, name) VALUES(new.rowid, new.name);
    END;
    CREATE TRIGGER strict BEFORE UPDATE OF low ON people WHEN new.low < 0 BEGIN
      SELECT RAISE(ABORT, 'too low');
    END;
    """

  private static func clone(
    _ cloud: LocalCloud,
    into database: DatabaseFile
  ) async throws -> ChangesetRepository {
    try await ChangesetRemote.clone(
      into: database,
      from: RemoteBench.handler(cloud, device: "phone"),
      zoneID: RemoteBench.zone,
      options: HistoryBench.options(replica: "phone")
    )
  }

  private static let declarations = """
    SELECT type, name, sql FROM sqlite_schema
    WHERE name NOT LIKE 'changesets%' AND name NOT LIKE 'sqlite%' ORDER BY rowid
    """

  @Test func aTableWithAutoincrementIsCloned() async throws {
    let cloud = LocalCloud()
    let desk = try HistoryBench(
      """
      CREATE TABLE marks(id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT);
      CREATE TABLE people(id TEXT PRIMARY KEY NOT NULL, name TEXT);
      """,
      tables: ["people"]
    )
    try desk.commit("INSERT INTO people VALUES('a', 'Ada')")
    try await RemoteBench.remote(desk, cloud).sync()
    let database = try DatabaseFile(path: ":memory:", createsFile: true)
    _ = try await Self.clone(cloud, into: database)
    #expect(try database.rows(Self.declarations) == desk.rows(Self.declarations))
    #expect(try database.rows("SELECT name FROM people") == ["'Ada'"])
  }

  @Test func aCloneHasAllDeclarationsInTheirOrder() async throws {
    let cloud = LocalCloud()
    let desk = try HistoryBench(Self.schema, tables: ["people"])
    try desk.commit(
      "INSERT INTO people(id, name, low, high, mail) VALUES('a', 'Ada', 1, 20, 'Ada@x')"
    )
    try await RemoteBench.remote(desk, cloud).sync()
    let database = try DatabaseFile(path: ":memory:", createsFile: true)
    let repository = try await Self.clone(cloud, into: database)
    #expect(try database.rows(Self.declarations) == desk.rows(Self.declarations))
    let row = "SELECT id, name, low, high, width, mail, made FROM people"
    #expect(try database.rows(row) == desk.rows(row))
    #expect(try database.rows("SELECT id FROM tall") == ["'a'"])
    #expect(try database.rows("SELECT count(*) FROM words WHERE words MATCH 'ada'") == ["1"])
    #expect(try repository.verify().problems == [])
    // What the original refuses the clone refuses too.
    for sql in [
      "INSERT INTO people(id, low, high) VALUES('b', 5, 1)",
      "INSERT INTO people(id) VALUES('A')",
      "INSERT INTO people(id, mail) VALUES('c', 'aDA@X')",
      "UPDATE people SET low = -1",
    ] {
      #expect(throws: (any Error).self, "\(sql)") { try database.execute(sql) }
      #expect(throws: (any Error).self, "\(sql)") { try desk.database.execute(sql) }
    }
    // What was cloned is told by its own commits too, and a clone of the clone is the same.
    try database.execute("UPDATE people SET name = 'Ada L.'")
    let remote = try ChangesetRemote(
      repository,
      operationHandler: RemoteBench.handler(cloud, device: "phone"),
      zoneID: RemoteBench.zone
    )
    try await remote.sync()
    let other = try DatabaseFile(path: ":memory:", createsFile: true)
    _ = try await Self.clone(cloud, into: other)
    #expect(try other.rows(Self.declarations) == desk.rows(Self.declarations))
    #expect(try other.rows("SELECT name FROM people") == ["'Ada L.'"])
  }

  @Test func anIndexThatIsMadeLaterIsToldWithTheNextCommit() async throws {
    let cloud = LocalCloud()
    let desk = try HistoryBench()
    try desk.commit("INSERT INTO people(id) VALUES('a')")
    try await RemoteBench.remote(desk, cloud).sync()
    try desk.database.execute("CREATE INDEX late ON people(score)")
    try desk.commit("UPDATE people SET score = 1")
    try await RemoteBench.remote(desk, cloud).sync()
    let size = try #require(try RemoteBench.packs(cloud).last?.data?.count)
    let database = try DatabaseFile(path: ":memory:", createsFile: true)
    _ = try await Self.clone(cloud, into: database)
    #expect(try database.rows(Self.declarations).count == 2)
    // It is told once: packs stay small.
    try desk.commit("UPDATE people SET score = 2")
    try await RemoteBench.remote(desk, cloud).sync()
    let sizes = try RemoteBench.packs(cloud).compactMap { $0.data?.count }
    #expect(try #require(sizes.min()) < size)
    #expect(try Pack(Array(try #require(RemoteBench.packs(cloud).last?.data))).entries.count == 1)
  }

  @Test func whatTheProcessLacksIsNamedAndNothingIsMade() async throws {
    let cloud = LocalCloud()
    let desk = try HistoryBench()
    try desk.commit("INSERT INTO people(id) VALUES('a')")
    try await RemoteBench.remote(desk, cloud).sync()
    // As if the app had a collation of its own.
    let pack = try #require(try RemoteBench.packs(cloud).first)
    var read = try Pack(Array(try #require(pack.data)))
    for bad in [
      "CREATE INDEX n ON people(name COLLATE phonebook)",
      "CREATE TABLE more AS SELECT 1 AS one",
      "CREATE INDEX n ON people(name); DROP TABLE people",
      "CREATE TEMP TABLE more(a)",
      "CREATE TABLE changesets_more(a)",
      "CREATE VIRTUAL TABLE more USING csv(filename='/etc/passwd')",
      "DROP TABLE people",
      "SELECT 1",
    ] {
      let zone = LocalCloud()
      read.schemas[0].declarations = [HistoryBench.people, bad]
      try await RemoteBench.write(read.bytes, as: Pack.name(of: read.bytes), zone)
      let database = try DatabaseFile(path: ":memory:", createsFile: true)
      let error = await #expect(throws: ChangesetError.self, "\(bad)") {
        _ = try await Self.clone(zone, into: database)
      }
      #expect(error?.code == .schema, "\(bad)")
      let start = bad.split(separator: " ").prefix(2).joined(separator: " ")
      #expect(error?.reason.contains(start) == true, "\(bad): \(error?.reason ?? "")")
      #expect(try database.rows("SELECT name FROM sqlite_schema") == [], "\(bad)")
    }
  }

  /// A pack of before this has no declarations: the tables are made from what it says of columns.
  @Test func aSchemaWithoutDeclarationsIsMadeOfItsColumns() async throws {
    let cloud = LocalCloud()
    let desk = try HistoryBench()
    try desk.commit("INSERT INTO people(id, name) VALUES('a', 'Ada')")
    let zone = LocalCloud()
    try await RemoteBench.remote(desk, zone).sync()
    var read = try Pack(Array(try #require(RemoteBench.packs(zone).first?.data)))
    #expect(read.schemas[0].declarations.count == 1)
    read.schemas[0].declarations = []
    try await RemoteBench.write(read.bytes, as: Pack.name(of: read.bytes), cloud)
    let database = try DatabaseFile(path: ":memory:", createsFile: true)
    _ = try await Self.clone(cloud, into: database)
    #expect(try database.rows("SELECT id, name FROM people") == ["'a', 'Ada'"])
  }

  @Test func aCloneThatFailsLeavesNeitherViewsNorVirtualTables() throws {
    let database = try DatabaseFile(path: ":memory:", createsFile: true)
    try Cloning.begin(in: database, options: HistoryBench.options(replica: "phone"))
    try database.execute(Self.schema)
    try Cloning.undo(in: database)
    #expect(try database.rows("SELECT name FROM sqlite_schema") == [])
  }
}

extension Record {
  /// The bytes of a small pack.
  fileprivate var data: [UInt8]? {
    if case .data(let data)? = self["data"] { Array(data) } else { nil }
  }
}

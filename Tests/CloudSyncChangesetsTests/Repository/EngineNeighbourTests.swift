import CloudSyncChangesets
import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import Testing

/// A history and a `SyncEngine` in one database: on different tables, never on one.
@Suite struct EngineNeighbourTests {
  private static let schema = """
    CREATE TABLE people(id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL DEFAULT '');
    CREATE TABLE pets(
      id TEXT PRIMARY KEY NOT NULL, owner TEXT REFERENCES people(id), name TEXT NOT NULL DEFAULT '');
    CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, text TEXT NOT NULL DEFAULT '');
    """

  private static func engine(_ database: DatabaseFile, _ tables: [String]) throws -> SyncEngine {
    let zone = ZoneID(name: "Rows")
    let handler = LocalCloud()
      .connect(device: "desk", account: AccountIdentity("ada"), zoneID: zone)
    return try SyncEngine(
      database: database,
      tables: tables,
      zoneID: zone,
      operationHandler: handler
    )
  }

  @Test func theSameTableIsRefusedByWhoeverComesSecond() throws {
    let first = try HistoryBench(Self.schema, tables: ["people", "pets"])
    let error = #expect(throws: SyncEngineError.self) {
      try Self.engine(first.database, ["people"]).start()
    }
    #expect(error?.reason.contains("history") == true)
    let second = try DatabaseFile(path: ":memory:", createsFile: true)
    try second.execute(Self.schema)
    let engine = try Self.engine(second, ["people", "pets"])
    try engine.start()
    defer { engine.stop() }
    let refusal = #expect(throws: ChangesetError.self) {
      try ChangesetRepository(second, tables: ["people"])
    }
    #expect(refusal?.reason.contains("SyncEngine") == true)
  }

  @Test func otherTablesOfTheDatabaseMayHaveAnEngine() throws {
    let bench = try HistoryBench(Self.schema, tables: ["people", "pets"])
    let engine = try Self.engine(bench.database, ["notes"])
    try engine.start()
    defer { engine.stop() }
    try bench.commit("INSERT INTO people(id) VALUES('a'); INSERT INTO notes(id) VALUES('n')")
    #expect(try bench.repository.show("HEAD").changes.map(\.table) == ["people"])
    #expect(try bench.repository.verify().problems == [])
  }

  @Test func observersHearOfRowsAndHeadsAlone() throws {
    let bench = try HistoryBench(Self.schema, tables: ["people", "pets"])
    try bench.commit("INSERT INTO people(id) VALUES('a')")
    try bench.commit("INSERT INTO people(id) VALUES('b')")
    let written = Locked<[String]>([])
    let repository = try ChangesetRepository(
      ObservedDatabase(file: bench.database, written: written),
      options: HistoryBench.options()
    )
    written.withLock { $0 = [] }
    try repository.checkout("HEAD~1")
    #expect(written.withLock { $0 } == ["changesets_heads", "people"])
  }

  /// A database whose host wants to know what was written.
  private struct ObservedDatabase: SyncDatabase {
    let file: DatabaseFile
    let written: Locked<[String]>

    func write<Value: Sendable>(_ body: @Sendable (OpaquePointer) throws -> Value) throws -> Value {
      try file.write { handle in
        let (value, tables) = try WrittenTables.recording(on: handle) { try body(handle) }
        written.withLock { $0 += tables.names }
        return value
      }
    }
  }
}

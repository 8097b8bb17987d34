import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import CloudSyncSimulator
import Testing

@Suite("WrittenTables")
struct WrittenTablesTests {
  private static let schema = """
    CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL, title TEXT);
    CREATE TABLE notes(
      id TEXT PRIMARY KEY NOT NULL, list TEXT REFERENCES lists(id) ON DELETE CASCADE
    );
    CREATE TABLE log(line TEXT);
    CREATE TABLE tags(name TEXT PRIMARY KEY NOT NULL, note TEXT) WITHOUT ROWID;
    CREATE TRIGGER lists_log AFTER UPDATE ON lists BEGIN INSERT INTO log VALUES('updated'); END;
    INSERT INTO lists VALUES('a', 'A'), ('b', 'B');
    INSERT INTO notes VALUES('n', 'a');
    """

  /// What statements on a fresh database write to.
  private func written(_ sql: String) throws -> WrittenTables {
    let database = try DatabaseFile(path: ":memory:")
    try database.execute(Self.schema)
    return try database.write { handle in
      try WrittenTables.recording(on: handle) {
        try SQLiteConnection(borrowing: handle).execute(sql)
      }
      .written
    }
  }

  @Test(
    "Statements, their triggers and the actions of foreign keys count; a read does not",
    arguments: [
      ("SELECT * FROM lists", []),
      ("UPDATE lists SET title = 'C' WHERE id = 'b'", ["lists", "log"]),
      ("DELETE FROM lists WHERE id = 'a'", ["lists", "notes"]),
      ("DELETE FROM lists WHERE id = 'b'", ["lists"]),
      ("INSERT INTO tags VALUES('t', 'n')", ["tags"]),
      ("REPLACE INTO notes VALUES('n', 'b')", ["notes"]),
    ] as [(String, [String])]
  )
  func tells(sql: String, names: [String]) throws {
    let written = try written(sql)

    #expect(written.names == names)
    #expect(!written.isSchemaChanged)
  }

  @Test("A change of the schema is told, and rows that it moves")
  func tellsOfSchema() throws {
    let written = try written("CREATE TABLE more AS SELECT * FROM lists; DROP TABLE log")

    #expect(written.isSchemaChanged)
  }

  @Test("What a block throws is thrown, and the next block is recorded as ever")
  func throwsTheBlocksError() throws {
    let database = try DatabaseFile(path: ":memory:")
    try database.execute(Self.schema)

    #expect(throws: SQLiteError.self) {
      try database.write { handle in
        _ = try WrittenTables.recording(on: handle) {
          try SQLiteConnection(borrowing: handle).execute("INSERT INTO nothing VALUES(1)")
        }
      }
    }

    let names = try database.write { handle in
      try WrittenTables.recording(on: handle) {
        try SQLiteConnection(borrowing: handle).execute("INSERT INTO log VALUES('x')")
      }
      .written.names
    }
    #expect(names == ["log"])
  }

  @Test("Of an engine's blocks those are told that write to a table or to its status")
  func tellsOfAnEngine() throws {
    let bench = SyncHarness()
    let mac = try bench.device("mac", Self.schema, tables: ["lists", "notes"])
    let recorder = RecordingDatabase(try DatabaseFile(path: ":memory:"))
    try recorder.database.execute(Self.schema + "DELETE FROM lists;")
    let engine = try bench.engine("phone", recorder, ["lists", "notes"])
    #expect(recorder.take() == [["cloudsync_tables"]])
    try bench.sync(mac)

    try engine.start()
    bench.world.advance(by: .seconds(60))

    let blocks = recorder.take()
    #expect(blocks.contains { $0.contains("lists") && $0.contains("notes") })
    #expect(blocks.contains { $0.contains("cloudsync_known") })
    #expect(blocks.allSatisfy { !$0.contains("cloudsync_facts") })
    engine.fetchChanges()
    engine.sendChanges()
    bench.world.advance(by: .seconds(60))
    #expect(recorder.take() == [])
  }
}

/// A database that notes what every block writes to, if it writes.
private final class RecordingDatabase: SyncDatabase {
  let database: DatabaseFile
  private let blocks = Locked<[[String]]>([])

  init(_ database: DatabaseFile) { self.database = database }

  func take() -> [[String]] {
    blocks.withLock { blocks in
      defer { blocks = [] }
      return blocks
    }
  }

  func write<Value: Sendable>(
    _ body: @Sendable (OpaquePointer) throws -> Value
  ) throws -> Value {
    try database.write { handle in
      let (value, written) = try WrittenTables.recording(on: handle) { try body(handle) }
      if !written.names.isEmpty { blocks.withLock { $0.append(written.names) } }
      return value
    }
  }
}

import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import CloudSyncSimulator
import Foundation
import Testing

@Suite("Queries, and databases that are lent")
struct QueryTests {
  private static let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title, stars, data)"

  private func database() throws -> DatabaseFile {
    let database = try DatabaseFile(path: ":memory:")
    try database.execute(Self.schema)
    return database
  }

  @Test("Values are bound and read back as they are")
  func values() throws {
    let database = try database()
    let values: [FieldValue] = [
      .string("a"), .string("Ü' \0 x"), .int64(.min), .data(Data([0, 255])),
    ]
    #expect(try database.query("INSERT INTO notes VALUES(?, ?, ?, ?)", values) == [])
    try database.query("INSERT INTO notes(id, stars) VALUES(?1, ?2)", ["b", 1.5])

    let rows = try database.query("SELECT * FROM notes ORDER BY id")
    #expect(rows.map(\.columns) == Array(repeating: ["id", "title", "stars", "data"], count: 2))
    #expect(rows[0].values == values)
    #expect(rows[0].string("TITLE") == "Ü' \0 x" && rows[0].int64("stars") == .min)
    #expect(rows[0].data("data") == Data([0, 255]) && rows[0]["none"] == nil)
    #expect(rows[1]["title"] == .null && rows[1].string("title") == nil)
    #expect("\(rows[1])" == #"[id: "b", title: NULL, stars: 1.5, data: NULL]"#)
    #expect(rows[1].double("stars") == 1.5 && rows[1].int64("stars") == nil)
    #expect(
      try database.query("SELECT count(*) n FROM notes WHERE id = ?", ["b"])[0].int64("n") == 1
    )
  }

  @Test(
    "An error has the statement and the path",
    arguments: [
      ("SELECT * FROM none", [], "no such table"),
      ("SELECT ?", [], "takes 1 values, and 0 were given"),
      ("SELECT 1", ["a"], "takes 0 values, and 1 were given"),
      ("SELECT 1; DELETE FROM notes", [], "more than one statement"),
      (
        "INSERT INTO notes VALUES('a', ?, 1, 1)", [.timestamp(Timestamp(nanoseconds: 0))],
        "timestamp"
      ),
      ("INSERT INTO notes(id) VALUES(NULL)", [], "NOT NULL constraint failed"),
    ] as [(String, [FieldValue], String)]
  )
  func errors(sql: String, values: [FieldValue], reason: String) throws {
    let database = try database()
    let error = #expect(throws: SyncEngineError.self) { try database.query(sql, values) }
    #expect(error?.reason.contains(reason) == true, "\(error?.description ?? "")")
    #expect(error?.reason.contains(sql) == true && error?.path == ":memory:")
    #expect(try database.query("SELECT 1;  \n").count == 1)
  }

  @Test("A handle of the app's own is lent, and an engine works on it")
  func lent() throws {
    let bench = SyncHarness()
    let owner = try SQLiteConnection(path: ":memory:")
    try owner.execute(Self.schema)
    let uses = Locked(0)
    let lock = NSRecursiveLock()
    let database = LentDatabase(owner.handle) { work in
      lock.lock()
      defer { lock.unlock() }
      uses.withLock { $0 += 1 }
      try work()
    }
    let engine = try bench.engine("mac", database, ["notes"])
    let phone = try bench.device("phone", Self.schema, tables: ["notes"])
    try owner.execute("INSERT INTO notes(id, title) VALUES('a', 'A')")
    try engine.start()
    bench.world.advance(by: .seconds(30))
    try bench.sync(phone)
    #expect(try phone.lines("SELECT id, title FROM notes") == ["'a'|'A'"])
    #expect(uses.withLock { $0 } > 3)
    engine.stop()
    try engine.tearDown()
  }

  @Test("Who lends a database and does not do the work is told")
  func idleLender() throws {
    let owner = try SQLiteConnection(path: ":memory:")
    let database = LentDatabase(owner.handle) { _ in }
    let error = #expect(throws: SyncEngineError.self) { try database.dataVersion() }
    #expect(error?.reason.contains("the work was not done") == true)
  }
}

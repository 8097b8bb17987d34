import CloudSyncCore
import CloudSyncSQLiteSupport
import CloudSyncSimulator
import Testing

@testable import CloudSyncSQLite

@Suite("A full disk and a locked device")
struct StorageFaultTests {
  private static let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT);"
  private static let notes = "SELECT * FROM notes ORDER BY id"

  @Test("A disk that fills up while rows come and go is waited for, and nothing is lost")
  func fullDisk() throws {
    let bench = SyncHarness()
    let database = try DatabaseFile(path: ":memory:")
    try database.execute(Self.schema)
    let engine = try bench.engine("mac", database, ["notes"])
    let phone = try bench.device("phone", Self.schema, tables: ["notes"])
    let codes = Locked<[SyncEngineError.Code]>([])
    engine.errors.sink { [codes] error in codes.withLock { $0.append(error.code) } }
    try engine.start()
    bench.world.advance(by: .seconds(60))
    // Edits that find room, and must be sent without any being left.
    for number in 1...5 { try database.execute("INSERT INTO notes VALUES('m\(number)', 'mac')") }
    for number in 1...200 {
      try phone.execute("INSERT INTO notes VALUES('p\(number)', hex(zeroblob(500)))")
    }
    try bench.sync(phone)

    // SQLite sets it to the present size, and says that the disk is full.
    try database.execute("PRAGMA max_page_count = 1")
    engine.sendChanges()
    engine.fetchChanges()
    bench.world.advance(by: .seconds(3_600))
    #expect(engine.isRunning)
    #expect(codes.withLock { $0.count } > 10)
    #expect(codes.withLock { $0.allSatisfy { $0 == .full } })
    #expect(try database.lines(Self.notes).count == 5)

    try database.execute("PRAGMA max_page_count = 1000000")
    bench.world.advance(by: .seconds(120))
    engine.sendChanges()
    bench.world.advance(by: .seconds(60))
    try bench.sync(phone)
    #expect(try database.lines(Self.notes) == phone.lines(Self.notes))
    #expect(try database.lines(Self.notes).count == 205)
    #expect(try database.lines("SELECT * FROM cloudsync_status WHERE status <> 'clean'") == [])
  }

  @Test(
    "What file protection and failing storage make of SQLite's calls is waited for",
    arguments: [10, 10 | 1 << 8, 10 | 3 << 8, 10 | 4 << 8, 14, 14 | 2 << 8, 23] as [Int32]
  )
  func unavailable(code: Int32) {
    let error = SyncEngineError(SQLiteError(code: code, message: "no"))

    #expect(error.code == .unavailable)
    #expect(error.isPassing)
  }

  @Test("A file that cannot be opened by its path is an error at once")
  func wrongPath() {
    let error = SyncEngineError(SQLiteError(code: 14, message: "no"), path: "/nowhere/a.sqlite")

    #expect(error.code == .cannotAccess)
    #expect(!error.isPassing)
  }
}

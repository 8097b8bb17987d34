import CloudSyncGRDB
import CloudSyncSQLite
import CloudSyncSession
import CloudSyncSimulator
import GRDB
import GRDBSQLite
import Synchronization
import Testing

@testable import shopping

@Suite("A connection that the engine shares")
struct ConnectionTests {
  @Test("A long read of a pool sees nothing of what the engine does meanwhile, and hinders nothing")
  func longRead() throws {
    let bench = try ShoppingHarness()
    let (phone, laptop) = (try bench.device("phone", .queue), try bench.device("laptop", .pool))
    try bench.sync(phone, laptop)
    try phone.insert("Bread")

    try laptop.writer.read { db in
      let sql = "SELECT count(*) FROM item"
      #expect(try Int.fetchOne(db, sql: sql) == 0)
      try bench.sync(phone, laptop)
      #expect(laptop.engine.isRunning)
      #expect(try Int.fetchOne(db, sql: sql) == 0)
    }

    #expect(try laptop.titles() == ["Bread"])
  }

  @Test(
    "Where GRDB waits for nobody, the engine says that the database is busy, and goes on when it is not"
  )
  func busy() throws {
    let bench = try ShoppingHarness()
    let impatient = try bench.writer("phone", .pool) { $0.busyMode = .immediateError }
    let phone = try bench.device("phone", impatient)
    try bench.sync(phone)
    try phone.insert("Bread")
    let other = try DatabaseQueue(
      path: bench.path("phone"),
      configuration: ShoppingHarness.configuration("other")
    )

    try other.inTransaction(.immediate) { db in
      try Item(title: "Milk").insert(db)
      bench.settle()
      let failures = bench.failures()
      #expect(Set(failures) == ["another connection is writing to it; try again"])
      #expect(phone.engine.isRunning)
      return .commit
    }
    try bench.sync(phone)

    #expect(try bench.recordCount() == 2)
  }

  @Test("Where GRDB waits, so does the engine, and nothing fails")
  func waits() throws {
    let bench = try ShoppingHarness()
    let other = try bench.writer("phone", .queue) { $0.allowsUnsafeTransactions = true }
    let isWaitedFor = Mutex(false)
    // SQLite asks again at once: the other one commits when it is waited for.
    let patient = try bench.writer("phone", .pool) {
      $0.busyMode = .callback { _ in
        let isFirst = isWaitedFor.withLock { isWaitedFor in
          defer { isWaitedFor = true }
          return !isWaitedFor
        }
        if isFirst { other.asyncWriteWithoutTransaction { try? $0.commit() } }
        return true
      }
    }
    let phone = try bench.device("phone", patient)
    try bench.sync(phone)
    try phone.insert("Bread")
    try other.unsafeReentrantWrite { db in
      try db.beginTransaction(.immediate)
      try Item(id: "other-1", title: "Milk").insert(db)
    }

    bench.settle()

    #expect(bench.failures() == [])
    #expect(isWaitedFor.withLock { $0 })
    try bench.sync(phone)
    #expect(try bench.recordCount() == 2)
  }

  @Test("A database can be closed under the engine; it says so, and loses nothing")
  func closes() throws {
    let bench = try ShoppingHarness()
    let phone = try bench.device("phone", .pool)
    try bench.sync(phone)
    phone.engine.stop()
    try phone.insert("Bread")
    try phone.engine.start()

    try phone.writer.close()
    bench.settle()

    let failures = bench.failures()
    #expect(failures.count == 1)
    #expect(failures.first?.contains("the database is closed") == true)
    #expect(!phone.engine.isRunning)
    try bench.sync(try bench.device("phone", .queue))
    #expect(try bench.recordCount() == 1)
  }

  @Test("A migration of the app's is taken up when the engine is made anew")
  func migrates() throws {
    let bench = try ShoppingHarness()
    let writer = try bench.writer("phone", .pool)
    try Shopping.migrator.migrate(writer, upTo: "lists and items")
    let old = try SyncEngine(
      database: GRDBDatabase(writer: writer),
      tables: Shopping.tables,
      zoneID: Device.zoneID,
      operationHandler: bench.handler("phone"),
      environment: bench.world.environment
    )
    try old.start()
    let laptop = try bench.device("laptop", .queue)
    try laptop.writer.write { try Item(title: "Eggs", amount: 12).insert($0) }
    try bench.sync(laptop)
    old.fetchChanges()
    bench.settle()
    old.stop()

    let phone = try bench.device("phone", writer)
    try bench.sync(phone, laptop)

    #expect(try phone.writer.read { try Item.fetchAll($0) }.map(\.amount) == [12])
  }

  @Test("GRDB takes the engine's tables for a change of the schema: never let it erase over that")
  func schemaChanges() throws {
    let bench = try ShoppingHarness()
    let phone = try bench.device("phone", .queue)

    #expect(try phone.writer.read { try Shopping.migrator.hasSchemaChanges($0) })
    try phone.engine.tearDown()
    #expect(try !phone.writer.read { try Shopping.migrator.hasSchemaChanges($0) })
  }
}

extension DatabaseFile {
  /// Runs statements with a handle, as somebody does who knows nothing of GRDB.
  static func execute(_ sql: String, on handle: OpaquePointer) throws {
    let code = sqlite3_exec(handle, sql, nil, nil, nil)
    if code != SQLITE_OK { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
  }
}

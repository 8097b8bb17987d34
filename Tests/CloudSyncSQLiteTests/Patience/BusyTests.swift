import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import CloudSyncSimulator
import CloudSyncTestSupport
import Testing

/// A database that refuses to be written for a while, as another connection's lock makes it.
private final class StubbornDatabase: SyncDatabase {
  let file: DatabaseFile
  private let refusals = Locked<(next: [SyncEngineError], count: Int)>(([], 0))

  init(_ file: DatabaseFile) { self.file = file }

  /// Refuses the next writes so.
  func refuse(_ error: SyncEngineError, times: Int) {
    refusals.withLock { $0.next = Array(repeating: error, count: times) }
  }

  var count: Int { refusals.withLock { $0.count } }

  func write<Value: Sendable>(
    _ body: @Sendable (OpaquePointer) throws -> Value
  ) throws -> Value {
    let error = refusals.withLock { refusals -> SyncEngineError? in
      if refusals.next.isEmpty { return nil }
      refusals.count += 1
      return refusals.next.removeFirst()
    }
    if let error { throw error }
    return try file.write(body)
  }
}

@Suite("A database that cannot be written for a while")
struct BusyTests {
  private static let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT);"
  private static let notes = "SELECT * FROM notes ORDER BY id"
  private static let busy = SyncEngineError(.busy, "another connection is writing")

  private func pair() throws -> (SyncHarness, StubbornDatabase, SyncEngine, SyncHarness.Device) {
    let bench = SyncHarness()
    let database = StubbornDatabase(try DatabaseFile(path: ":memory:"))
    try database.file.execute(Self.schema)
    let engine = try bench.engine("mac", database, ["notes"])
    return (bench, database, engine, try bench.device("phone", Self.schema, tables: ["notes"]))
  }

  @Test(
    "It is tried again until it works, whatever it was about; nothing is lost",
    arguments: 0..<SuiteSize.count(4, long: 240)
  )
  func passes(seed: Int) throws {
    let codes: [SyncEngineError.Code] = [.busy, .unavailable, .full, .interrupted]
    let busy = SyncEngineError(codes[seed % codes.count], "it cannot be written now")
    let (bench, database, engine, phone) = try pair()
    let errors = Locked<[SyncEngineError]>([])
    engine.errors.sink { [errors] error in errors.withLock { $0.append(error) } }
    var random = SeededRandom(seed: UInt64(seed))
    try database.file.execute("INSERT INTO notes VALUES('0', 'before')")
    try engine.start()
    for number in 1...6 {
      try database.file.execute("INSERT INTO notes VALUES('\(number)', 'mac')")
      try phone.execute("INSERT INTO notes VALUES('p\(number)', 'phone')")
      try phone.execute("UPDATE notes SET title = 'by phone' WHERE id = '\(number - 1)'")
      if random.chance(1, in: 2) {
        try database.file.execute("UPDATE notes SET title = 'by mac' WHERE id = '\(number - 1)'")
      }
      if number > 1 { database.refuse(busy, times: random.within(1...4)) }
      engine.sendChanges()
      engine.fetchChanges()
      bench.world.advance(by: .milliseconds(random.within(0...2_000)))
      try bench.sync(phone)
    }
    bench.world.advance(by: .seconds(120))
    for _ in 0..<2 {
      engine.sendChanges()
      engine.fetchChanges()
      bench.world.advance(by: .seconds(60))
      try bench.sync(phone)
    }

    #expect(engine.isRunning)
    #expect(try database.file.lines(Self.notes) == phone.lines(Self.notes))
    #expect(try database.file.lines(Self.notes).count == 13)
    #expect(
      try database.file.lines("SELECT * FROM cloudsync_status WHERE status <> 'clean'") == []
    )
    #expect(errors.withLock { $0.count } == database.count)
    #expect(errors.withLock { $0.allSatisfy { $0 == busy } })
    // What is in the journal can be restored.
    engine.stop()
    try engine.start()
    bench.world.advance(by: .seconds(60))
    #expect(engine.isRunning)
  }

  @Test("The waits grow, to a minute at most")
  func waits() throws {
    let (bench, database, engine, _) = try pair()
    try engine.start()
    bench.world.advance(by: .seconds(60))
    try database.file.execute("INSERT INTO notes VALUES('a', 'A')")
    database.refuse(Self.busy, times: 1_000_000)
    engine.sendChanges()
    bench.world.advance(by: .seconds(3_600))

    #expect((50...90).contains(database.count))
    database.refuse(Self.busy, times: 0)
    bench.world.advance(by: .seconds(120))
    #expect(
      try database.file.lines("SELECT * FROM cloudsync_status WHERE status <> 'clean'") == []
    )
  }

  @Test(
    "What does not pass stops the engine and is published",
    arguments: [SyncEngineError.Code.damaged, .cannotAccess, .statement]
  )
  func stops(code: SyncEngineError.Code) throws {
    let (bench, database, engine, phone) = try pair()
    let errors = Locked<[SyncEngineError]>([])
    engine.errors.sink { [errors] error in errors.withLock { $0.append(error) } }
    try engine.start()
    bench.world.advance(by: .seconds(60))
    try database.file.execute("INSERT INTO notes VALUES('a', 'A')")
    database.refuse(SyncEngineError(code, "no"), times: 1)
    engine.sendChanges()
    bench.world.advance(by: .seconds(60))
    #expect(!engine.isRunning)
    #expect(errors.withLock { $0.map(\.code) } == [code])

    try engine.start()
    bench.world.advance(by: .seconds(60))
    try bench.sync(phone)
    #expect(try phone.lines(Self.notes) == ["'a'|'A'"])
  }
}

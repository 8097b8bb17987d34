import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSession
import CloudSyncSimulator
import Foundation

/// An engine over a database of notes, driven without threads.
final class EngineBenchmarks {
  static let zoneID = ZoneID(name: "Notes")
  let world = SimulatedEnvironment()
  let database: PlainDatabase
  let engine: SyncEngine

  init(_ database: PlainDatabase, _ handler: any OperationHandler) throws {
    self.database = database
    engine = try SyncEngine(
      database: database.file,
      tables: ["notes"],
      zoneID: Self.zoneID,
      operationHandler: handler,
      environment: world.environment
    )
  }

  /// Runs until nothing is to be done any more.
  func run() throws {
    world.advance(by: .seconds(3_600))
    guard try database.count("SELECT count(*) FROM cloudsync_status WHERE status <> 'clean'") == 0
    else { throw SyncError(.internalError, "rows are not clean") }
  }

  /// Runs until the session rests.
  func runOnce() { world.advance(by: .seconds(60)) }

  // MARK: What is measured

  /// Times of inserting rows with the triggers and without, in pairs.
  static func inserts(_ keys: [String], pairs: Int) throws -> [(with: Double, without: Double)] {
    try (0..<pairs)
      .map { _ in
        let folder = try ScratchFolder()
        let plain = try PlainDatabase(path: folder.path("plain.sqlite"))
        let without = try plain.insert(keys)
        let captured = try PlainDatabase(path: folder.path("captured.sqlite"))
        let bench = try EngineBenchmarks(captured, BenchmarkHandler(answersAtOnce: true))
        return (try withExtendedLifetime(bench) { try captured.insert(keys) }, without)
      }
  }

  /// Times of updating one row in a transaction of its own, with the triggers and without.
  static func updates(_ keys: [String], pairs: Int) throws -> [(with: Double, without: Double)] {
    let folder = try ScratchFolder()
    let plain = try PlainDatabase(path: folder.path("plain.sqlite"))
    let captured = try PlainDatabase(path: folder.path("captured.sqlite"))
    let bench = try EngineBenchmarks(captured, BenchmarkHandler(answersAtOnce: true))
    try plain.insert(keys)
    try captured.insert(keys)
    return try withExtendedLifetime(bench) {
      try (0..<pairs)
        .map { round in
          let without = try plain.update(keys, round: round)
          return (try captured.update(keys, round: round), without)
        }
    }
  }

  /// Times of applying fetched records and of inserting the same rows, in pairs.
  static func applies(_ keys: [String], pairs: Int) throws -> [(with: Double, without: Double)] {
    let pages = try pages(keys)
    return try (0..<pairs)
      .map { _ in
        let folder = try ScratchFolder()
        let plain = try PlainDatabase(path: folder.path("plain.sqlite"))
        let without = try plain.insert(keys, perTransaction: 200)
        let database = try PlainDatabase(path: folder.path("applied.sqlite"))
        let handler = PageHandler(pages)
        let bench = try EngineBenchmarks(database, handler)
        let start = ProcessorTime.now
        try bench.engine.start()
        bench.runOnce()
        let time = ProcessorTime.now - start
        guard try database.count("SELECT count(*) FROM notes") == Int64(keys.count) else {
          throw SyncError(.internalError, "not everything was applied")
        }
        return (time, without)
      }
  }

  /// The pages in which a cloud tells of rows that another device has sent.
  static func pages(_ keys: [String]) throws -> [FetchOperation.Response] {
    let cloud = LocalCloud(now: { Timestamp(nanoseconds: 1_700_000_000_000_000_000) })
    func connection(_ name: String) -> LocalCloudConnection {
      cloud.connect(device: name, account: AccountIdentity("somebody"), zoneID: zoneID)
    }
    let database = try PlainDatabase()
    let bench = try EngineBenchmarks(database, connection("first"))
    try database.insert(keys)
    try bench.engine.start()
    try bench.run()
    let reader = PageReader(connection("second"))
    return try reader.pages()
  }
}

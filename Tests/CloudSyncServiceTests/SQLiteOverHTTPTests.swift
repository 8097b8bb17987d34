import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import CloudSyncService
import CloudSyncTestSupport
import CloudSyncWebServices
import Foundation
import Testing

@Suite("SQLite databases over HTTP")
struct SQLiteOverHTTPTests {
  private static let schema = """
    CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL, title TEXT);
    CREATE TABLE notes(
      id TEXT PRIMARY KEY NOT NULL, list TEXT REFERENCES lists(id), stars INTEGER, size REAL, photo BLOB
    );
    """
  private static let dump = """
    SELECT id, title, NULL, NULL FROM lists UNION ALL
    SELECT id, list, stars || '/' || size, hex(photo) FROM notes ORDER BY 1
    """

  private struct Device {
    let database: DatabaseFile
    let engine: SyncEngine
  }

  private static func device(
    _ name: String,
    in world: ServiceWorld,
    folder: String
  ) throws -> Device {
    let database = try DatabaseFile(path: ":memory:")
    try database.execute(schema)
    var options = SyncEngineOptions()
    options.configuration.firstWait = .milliseconds(1)
    options.configuration.longestWait = .milliseconds(20)
    options.assets = AssetOptions(folder: "\(folder)/\(name)-sent", threshold: 1_000)
    let cache = AssetCache(folder: "\(folder)/\(name)-received")
    let engine = try SyncEngine(
      database: database,
      tables: ["lists", "notes"],
      zoneID: ServiceWorld.zoneID,
      operationHandler: try world.handler(name, assets: cache),
      options: options
    )
    return Device(database: database, engine: engine)
  }

  /// Edits two databases, and expects that both hold the same in the end: what one of them alone
  /// has edited, too.
  private static func run(seed: UInt64, faults: InProcessTransport.Script?) async throws {
    let base = TestPath.folder
    let folder = "\(base)/cloudsync-http-\(ProcessInfo.processInfo.processIdentifier)-\(seed)"
    try? FileManager.default.removeItem(atPath: folder)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let world = ServiceWorld(assetFolder: folder + "/cloud") { $0.pageSize = 20 }
    let devices = [
      try device("mac", in: world, folder: folder), try device("phone", in: world, folder: folder),
    ]
    if let faults { world.transport.onRequest(faults) }
    for device in devices { try device.engine.start() }
    var random = SplitMix64(seed: seed)
    var last: [String: String] = [:]
    for round in 0..<12 {
      for (number, device) in devices.enumerated() {
        for _ in 0..<10 { try device.database.execute(statement(&random)) }
        // Nobody else has a say in these rows: what is missing of them in the end was lost.
        let (own, gone) = ("own\(number)-\(round % 6)", "own\(number)-\((round + 4) % 6)")
        try device.database.execute(
          "INSERT INTO lists VALUES('\(own)', 'R\(round)')"
            + " ON CONFLICT(id) DO UPDATE SET title = excluded.title"
        )
        last[own] = "R\(round)"
        if round % 4 == 3 {
          try device.database.execute("DELETE FROM lists WHERE id = '\(gone)'")
          last[gone] = nil
        }
      }
      for device in devices { _ = await device.engine.syncChanges(upTo: .seconds(60)) }
    }
    for device in devices + devices {
      let outcome = await device.engine.syncChanges(upTo: .seconds(60))
      guard case .done = outcome else {
        Issue.record("\(outcome)")
        continue
      }
    }
    for device in devices { device.engine.stop() }
    let rows = try devices.map { try lines(of: $0.database) }
    #expect(rows[0] == rows[1] && rows[0].count > 5)
    let own = rows[0].filter { $0.hasPrefix("'own") }
    let expected = last.map { id, title in "'\(id)'|'\(title)'|NULL|NULL" }
    // The last round has deleted one of the six rows of each.
    #expect(own.sorted() == expected.sorted() && own.count == 10)
  }

  private static func statement(_ random: inout SplitMix64) -> String {
    let note = "n\(random.below(25))"
    let list = "l\(random.below(4))"
    switch random.below(6) {
    case 0: return "INSERT OR IGNORE INTO lists VALUES('\(list)', 'L\(random.below(99))')"
    case 1: return "UPDATE lists SET title = 'M\(random.below(99))' WHERE id = '\(list)'"
    case 2: return "DELETE FROM notes WHERE id = '\(note)'"
    case 3:
      let count = 900 + random.below(3_000)
      return "UPDATE notes SET photo = zeroblob(\(count)) WHERE id = '\(note)'"
    case 4: return "UPDATE notes SET stars = \(random.below(5)), size = 0.1 WHERE id = '\(note)'"
    default:
      return
        "INSERT OR IGNORE INTO notes(id, list, stars, size) VALUES('\(note)', NULL, 9007199254740993, -0.5)"
    }
  }

  private static func lines(of database: DatabaseFile) throws -> [String] {
    try database.write { handle in
      let query = try SQLiteConnection(borrowing: handle).prepare(dump)
      var lines: [String] = []
      try query.forEachRow {
        lines.append((0..<query.columnCount).map { query.value($0).literal }.joined(separator: "|"))
      }
      return lines
    }
  }

  @Test(
    "55. Two databases meet through the bytes of HTTP, BLOBs too",
    arguments: SuiteSize.some(1, of: Array(UInt64(1)...3))
  )
  func meet(seed: UInt64) async throws {
    try await Self.run(seed: seed, faults: nil)
  }

  @Test(
    "55. They meet although every fourth request or answer is lost",
    arguments: UInt64(11)...UInt64(SuiteSize.count(11, long: 14))
  )
  func meetWithFaults(seed: UInt64) async throws {
    try await Self.run(seed: seed) { (_, number) throws(HTTPTransportError) in
      switch number % 12 {
      case 3: throw HTTPTransportError(.notSent, "no connection")
      case 7:
        return .alter { (_) throws(HTTPTransportError) in
          throw HTTPTransportError(.sent, "the connection was lost")
        }
      case 11: return .answer(HTTPResponse(status: 503, "{}"))
      default: return nil
      }
    }
  }
}

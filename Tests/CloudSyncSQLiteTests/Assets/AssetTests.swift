import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import CloudSyncSimulator
import Foundation
import Testing

@Suite("Large BLOBs")
struct AssetTests {
  private static let schema = """
    CREATE TABLE photos(id TEXT PRIMARY KEY NOT NULL, title TEXT, small BLOB, large BLOB);
    """

  private func device(
    _ name: String,
    _ bench: SyncHarness,
    _ folder: TestFolder?
  ) throws -> SyncHarness.Device {
    var options = SyncEngineOptions()
    options.assets = folder.map { AssetOptions(folder: "\($0.path)/\(name)", threshold: 1_000) }
    return try bench.device(name, Self.schema, tables: ["photos"], options: options)
  }

  private func record(_ bench: SyncHarness) throws -> Record {
    let owner = AccountIdentity("owner")
    let record = try bench.cloud.records(account: owner, zone: bench.zoneID).first
    return try #require(record)
  }

  @Test("A BLOB over the threshold comes over in a file, a smaller one in the record")
  func bothWays() throws {
    let folder = try TestFolder("bothWays")
    let bench = SyncHarness(assetFolder: folder.path + "/cloud")
    let mac = try device("mac", bench, folder)
    let phone = try device("phone", bench, folder)
    try mac.execute("INSERT INTO photos VALUES('a', 'Sea', zeroblob(1000), randomblob(5000))")
    try bench.sync(mac, phone)

    let query = "SELECT id, title, length(small), hex(large) FROM photos"
    #expect(try phone.lines(query) == mac.lines(query))
    let record = try record(bench)
    guard case .data? = record["small"], case .asset(let asset)? = record["cloudsync_asset_large"]
    else {
      Issue.record("\(record)")
      return
    }
    #expect(asset.byteCount == 5_000)
    // What has arrived needs no file of the sender's any more.
    #expect(try folder.names(in: "mac") == [] && folder.names(in: "cloud").count == 1)

    try phone.execute("UPDATE photos SET large = zeroblob(10)")
    try bench.sync(phone, mac)

    #expect(
      try mac.lines("SELECT hex(large) FROM photos") == ["'\(String(repeating: "00", count: 10))'"]
    )
    #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [])
  }

  @Test("A BLOB is not sent again with other columns")
  func unchanged() throws {
    let folder = try TestFolder("unchanged")
    let bench = SyncHarness(assetFolder: folder.path + "/cloud")
    let mac = try device("mac", bench, folder)
    try mac.execute("INSERT INTO photos VALUES('a', 'Sea', NULL, zeroblob(5000))")
    try bench.sync(mac)
    for file in try folder.names(in: "cloud") {
      try FileManager.default.removeItem(atPath: "\(folder.path)/cloud/\(file)")
    }

    try mac.execute("UPDATE photos SET title = 'Lake'")
    try bench.sync(mac)

    // Nothing has been copied there since.
    #expect(try folder.names(in: "cloud") == [] && bench.unclean(mac) == [])
    #expect(try record(bench)["title"] == .string("Lake"))
  }

  @Test(
    "The cloud is asked again for a record whose file is missing, ever more rarely, until it is there"
  )
  func missingForAWhile() throws {
    let folder = try TestFolder("missingForAWhile")
    let bench = SyncHarness(assetFolder: folder.path + "/cloud")
    let mac = try device("mac", bench, folder)
    let phone = try device("phone", bench, folder)
    try mac.execute("INSERT INTO photos VALUES('a', 'Sea', NULL, zeroblob(5000))")
    try bench.sync(mac)
    let file = try #require(try folder.names(in: "cloud").first)
    let (cloud, away) = ("\(folder.path)/cloud/\(file)", "\(folder.path)/away")
    try FileManager.default.moveItem(atPath: cloud, toPath: away)
    try bench.sync(phone)
    let attempts = "SELECT attempts FROM cloudsync_unfetched"
    bench.world.advance(by: .seconds(300))

    #expect(try phone.lines("SELECT id FROM photos") == [])
    #expect(try phone.lines("SELECT status FROM cloudsync_status") == ["'parked'"])
    let first = try #require(Int(try phone.lines(attempts).first ?? ""))
    #expect((5...12).contains(first))

    // Where it lies now only the cloud tells.
    try FileManager.default.moveItem(atPath: away, toPath: cloud)
    bench.world.advance(by: .seconds(600))

    #expect(try phone.lines("SELECT id, length(large) FROM photos") == ["'a'|5000"])
    #expect(try bench.unclean(phone) == [] && phone.lines(attempts) == [])
  }

  @Test("A row whose file is missing waits with its reason, and is whole when the file is there")
  func missing() throws {
    let folder = try TestFolder("missing")
    let bench = SyncHarness(assetFolder: folder.path + "/cloud")
    let mac = try device("mac", bench, folder)
    let phone = try device("phone", bench, folder)
    try mac.execute(
      "INSERT INTO photos VALUES('a', 'Sea', NULL, zeroblob(5000)), ('b', 'Tea', NULL, NULL)"
    )
    try bench.sync(mac)
    try FileManager.default.moveItem(
      atPath: folder.path + "/cloud",
      toPath: folder.path + "/away"
    )
    try bench.sync(phone)

    #expect(try phone.lines("SELECT id FROM photos") == ["'b'"])
    let parked = try phone.lines("SELECT key, error FROM cloudsync_status WHERE status = 'parked'")
    #expect(parked.count == 1 && parked[0].contains("column large"))

    try FileManager.default.moveItem(
      atPath: folder.path + "/away",
      toPath: folder.path + "/cloud"
    )
    try phone.engine.retryParked()
    try bench.sync(phone)

    #expect(
      try phone.lines("SELECT id, length(large) FROM photos ORDER BY id") == [
        "'a'|5000", "'b'|NULL",
      ]
    )
    #expect(try bench.unclean(phone) == [])
  }

  @Test("Without a folder every BLOB stays in its record, and one that is too large is set aside")
  func inline() throws {
    let bench = SyncHarness()
    let mac = try device("mac", bench, nil)
    try mac.execute(
      "INSERT INTO photos VALUES('a', 'Sea', NULL, zeroblob(5000)), ('b', 'Sky', NULL, zeroblob(2000000))"
    )
    try bench.sync(mac)

    #expect(try bench.unclean(mac).count == 1)
    #expect(try mac.lines("SELECT length(large) FROM photos ORDER BY id") == ["5000", "2000000"])
    guard case .data? = try record(bench)["large"] else {
      Issue.record("the BLOB is not in the record")
      return
    }
  }

  @Test(
    "What was stored before the app's container moved finds its files after",
    arguments: [0, 1]
  )
  func moves(baseIsContainer: Int) throws {
    let folder = try TestFolder("moves\(baseIsContainer)")
    let bench = SyncHarness(assetFolder: folder.path + "/cloud")
    func options(_ container: String) -> SyncEngineOptions {
      var assets = AssetOptions(folder: "\(folder.path)/\(container)/assets", threshold: 1_000)
      if baseIsContainer == 1 { assets.base = "\(folder.path)/\(container)" }
      var options = SyncEngineOptions()
      options.assets = assets
      return options
    }
    let phone = try device("phone", bench, folder)
    let database = try DatabaseFile(path: ":memory:")
    try database.execute(Self.schema)
    let outage = OutageHandler(
      bench.cloud.connect(
        device: "mac",
        account: AccountIdentity("owner"),
        zoneID: bench.zoneID
      )
    )
    func engine(_ container: String) throws -> SyncEngine {
      try SyncEngine(
        database: database,
        tables: ["photos"],
        zoneID: bench.zoneID,
        operationHandler: outage,
        options: options(container),
        environment: bench.world.environment
      )
    }

    let before = try engine("old")
    try before.start()
    bench.world.advance(by: .seconds(60))
    outage.isOut.withLock { $0 = true }
    try database.execute("INSERT INTO photos VALUES('a', 'Sea', NULL, randomblob(5000))")
    before.sendChanges()
    bench.world.advance(by: .seconds(60))
    before.stop()
    #expect(try folder.names(in: "old/assets").count == 1)
    let stored = try database.lines("SELECT hex(state) FROM cloudsync_pending")
    let path = folder.path.utf8.map { Hexadecimal.text(of: [$0]) }.joined().uppercased()
    #expect(!stored.isEmpty && !stored.contains { $0.contains(path) })

    try FileManager.default.moveItem(
      atPath: folder.path + "/old",
      toPath: folder.path + "/new"
    )
    outage.isOut.withLock { $0 = false }
    let after = try engine("new")
    try after.start()
    bench.world.advance(by: .seconds(1_200))
    after.sendChanges()
    bench.world.advance(by: .seconds(60))
    try bench.sync(phone)

    let query = "SELECT id, hex(large) FROM photos"
    #expect(try phone.lines(query) == database.lines(query))
    #expect(try phone.lines(query).count == 1)
  }
}

/// A cloud that cannot be reached now and then.
private final class OutageHandler: WorkHandler {
  let isOut = Locked(false)
  private let handler: any OperationHandler

  init(_ handler: any OperationHandler) { self.handler = handler }

  func handle(_ work: SyncWork, context: RequestContext, completion: @escaping Completion) {
    if isOut.withLock({ $0 }) { return completion(.failure(SyncError(.networkUnavailable))) }
    handler.perform(work, context: context, completion: completion)
  }
}

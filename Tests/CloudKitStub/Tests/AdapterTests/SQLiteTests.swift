import CloudKit
import CloudSyncCloudKit
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSession
import CloudSyncSimulator
import Foundation
import StubCloud
import Testing

@Suite("SQLite databases over CloudKit")
struct SQLiteTests {
  private let world = StubWorld(options: { $0.pageSize = 7 })

  private struct Device {
    let stub: StubCloud
    let database: DatabaseFile
    let engine: SyncEngine

    /// Whether a condition holds in the database: a table that refuses what does not hold says it.
    func holds(_ condition: String) -> Bool {
      let sql = "INSERT INTO temp.holds SELECT CASE WHEN (\(condition)) THEN 1 END"
      return (try? database.execute(sql)) != nil
    }

    func sync() async {
      let outcome = await engine.syncChanges(upTo: .seconds(300))
      if case .done = outcome { return }
      Issue.record("\(outcome)")
    }
  }

  private func device(_ name: String) throws -> Device {
    let stub = world.stub(name)
    let database = try DatabaseFile(path: ":memory:")
    try database.execute(
      """
      CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL, title TEXT);
      CREATE TABLE notes(
        id TEXT PRIMARY KEY NOT NULL, list TEXT REFERENCES lists(id), stars INTEGER, size REAL, photo BLOB
      );
      CREATE TEMP TABLE holds(x NOT NULL)
      """
    )
    var options = SyncEngineOptions()
    options.configuration.firstWait = .milliseconds(1)
    options.configuration.longestWait = .milliseconds(20)
    options.assets = AssetOptions(folder: "\(world.folder)/\(name)-sent", threshold: 1_000)
    let handler = CloudKitOperationHandler(
      database: stub.container.privateCloudDatabase,
      zoneID: CKRecordZone.ID(zoneName: StubWorld.zoneName),
      systemFields: try SystemFieldsFile(path: "\(world.folder)/\(name).fields"),
      assets: AssetCache(folder: "\(world.folder)/\(name)-received")
    )
    let engine = try SyncEngine(
      database: database,
      tables: ["lists", "notes"],
      zoneID: handler.zoneID,
      operationHandler: handler,
      options: options
    )
    try engine.start()
    return Device(stub: stub, database: database, engine: engine)
  }

  private func devices() throws -> (mac: Device, phone: Device) {
    try FileManager.default.createDirectory(atPath: world.folder, withIntermediateDirectories: true)
    return (try device("mac"), try device("phone"))
  }

  @Test("A deleted row empties its record's files on the server, and goes on the other device")
  func tombstones() async throws {
    let (mac, phone) = try devices()
    try mac.database.execute(
      "INSERT INTO notes(id, stars, photo) VALUES('a', 9007199254740993, zeroblob(3000)), ('b', 2, NULL)"
    )
    await mac.sync()
    let before = try world.cloud.records(account: StubWorld.alice, zone: StubWorld.zoneID)
    #expect(before.contains { $0.fields.contains { $0.value.assetValue?.byteCount == 3_000 } })
    await phone.sync()
    #expect(phone.holds("(SELECT length(photo) FROM notes WHERE id = 'a') = 3000"))
    #expect(phone.holds("(SELECT stars FROM notes WHERE id = 'a') = 9007199254740993"))

    try phone.database.execute("DELETE FROM notes WHERE id = 'a'")
    await phone.sync()
    await mac.sync()

    let after = try world.cloud.records(account: StubWorld.alice, zone: StubWorld.zoneID)
    #expect(after.count == before.count)
    #expect(!after.contains { $0.fields.contains { $0.value.assetValue != nil } })
    #expect(mac.holds("(SELECT count(*) FROM notes) = 1"))
    mac.engine.stop()
    phone.engine.stop()
    // Its folder goes with it.
    withExtendedLifetime(world) {}
  }

  @Test("Two databases meet although every fourth request fails, or its response is lost")
  func faults() async throws {
    let (mac, phone) = try devices()
    for (number, device) in [mac, phone].enumerated() {
      let count = Shared(number)
      device.stub.setFault { _ in
        switch count.with({ count in
          count += 1
          return count % 12
        }) {
        case 3: .fail(StubErrors.network(-1009))
        case 7: .failAfter(items: 1, StubErrors.network(-1005))
        case 11: .fail(StubErrors.error(7, userInfo: [CKErrorRetryAfterKey: 0.002]))
        default: nil
        }
      }
    }
    for round in 0..<10 {
      for (name, device) in [("m", mac), ("p", phone)] {
        try device.database.execute(
          """
          INSERT OR IGNORE INTO lists VALUES('l\(round % 3)', '\(name)');
          INSERT OR IGNORE INTO notes(id, stars, size) VALUES('\(name)\(round)', \(round), 0.1);
          UPDATE notes SET stars = stars + 1 WHERE id = 'm\(round / 2)';
          UPDATE notes SET photo = zeroblob(1500 + \(round)) WHERE id = 'p\(round / 3)';
          DELETE FROM notes WHERE id = '\(name)\(round - 4)'
          """
        )
      }
      await mac.sync()
      await phone.sync()
    }
    for device in [mac, phone, mac, phone] { await device.sync() }

    let dump =
      "(SELECT group_concat(x, ';') FROM (SELECT id || ifnull(list, '') || stars || size || ifnull(length(photo), '') AS x FROM notes ORDER BY id))"
    let text = try Self.value(of: dump, in: mac.database, folder: world.folder)
    #expect(text == (try Self.value(of: dump, in: phone.database, folder: world.folder)))
    #expect(text.contains("m9"))
    mac.engine.stop()
    phone.engine.stop()
    // Its folder goes with it.
    withExtendedLifetime(world) {}
  }

  /// The text that an expression gives: as the name of a table in a copy, which is a file that can be read.
  private static func value(
    of expression: String,
    in database: DatabaseFile,
    folder: String
  ) throws -> String {
    let path = "\(folder)/value"
    // The connection creates no files; one without bytes is an empty database.
    try Data().write(to: URL(filePath: path))
    try database.execute(
      "ATTACH '\(path)' AS told; CREATE TABLE told.t AS SELECT '<<' || \(expression) || '>>' AS x; DETACH told"
    )
    let bytes = try Data(contentsOf: URL(filePath: path))
    let text = String(decoding: bytes, as: UTF8.self)
    let begin = try #require(text.range(of: "<<", options: .backwards))
    let end = try #require(text.range(of: ">>", options: .backwards))
    return String(text[begin.upperBound..<end.lowerBound])
  }
}

import CloudSyncCore
import CloudSyncSQLite
import Foundation
import CloudSyncTestSupport
import Testing

@Suite("Unique keys of rows with large BLOBs")
struct UniqueKeyAssetTests {
  private static let schema =
    "CREATE TABLE photos(id TEXT PRIMARY KEY NOT NULL, title TEXT UNIQUE, body BLOB)"

  private func check(_ policy: UniqueKeyPolicy, _ name: String, isMacFirst: Bool) throws -> [String]
  {
    let manager = FileManager.default
    let folder =
      "\(TestPath.folder)/cloudsync-unique-\(ProcessInfo.processInfo.processIdentifier)-\(name)-\(isMacFirst)"
    if manager.fileExists(atPath: folder) { try manager.removeItem(atPath: folder) }
    let bench = SyncHarness(assetFolder: folder + "/cloud")
    let devices = try ["mac", "phone"]
      .map { device in
        var options = SyncEngineOptions()
        options.defaultTable.uniqueKeys = policy
        options.assets = AssetOptions(folder: "\(folder)/\(device)", threshold: 1_000)
        return try bench.device(device, Self.schema, tables: ["photos"], options: options)
      }
    let (mac, phone) = (devices[0], devices[1])
    try mac.execute("INSERT INTO photos VALUES('a', 'Sea', zeroblob(5000))", at: 1_000)
    try phone.execute("INSERT INTO photos VALUES('b', 'Sea', CAST('b' AS BLOB))", at: 2_000)
    if isMacFirst { try bench.sync(mac, phone) } else { try bench.sync(phone, mac) }
    let query = "SELECT id, title, length(body) FROM photos ORDER BY id"
    #expect(try mac.lines(query) == phone.lines(query))
    try phone.execute("UPDATE photos SET title = 'Lake' WHERE id = 'b'", at: 3_000)
    try bench.sync(phone, mac, phone)
    #expect(try mac.lines(query) == phone.lines(query))
    #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [])
    let rows = try mac.lines(query)
    // A row that was merged before it was sent has needed no file.
    if manager.fileExists(atPath: folder) { try manager.removeItem(atPath: folder) }
    return rows
  }

  @Test("A row keeps its BLOB beside the table, is sent from there, and brings it back")
  func newest() throws {
    for isMacFirst in [true, false] {
      #expect(
        try check(.newest, "newest", isMacFirst: isMacFirst) == ["'a'|'Sea'|5000", "'b'|'Lake'|1"]
      )
    }
  }

  @Test("A row that gets another value keeps its BLOB")
  func rename() throws {
    for isMacFirst in [true, false] {
      let policy = UniqueKeyPolicy.rename { _ in [.string("Other")] }
      #expect(
        try check(policy, "rename", isMacFirst: isMacFirst) == ["'a'|'Other'|5000", "'b'|'Lake'|1"]
      )
    }
  }

  @Test("Of two BLOBs the newer one is the merged row's")
  func merge() throws {
    for isMacFirst in [true, false] {
      #expect(try check(.merge, "merge", isMacFirst: isMacFirst) == ["'a'|'Sea'|1"])
    }
  }
}

import CloudSyncSQLite
import CloudSyncTestSupport
import Testing

/// Where edits win a deleted row may come back: with all that was edited of it.
@Suite("Large BLOBs of deleted rows")
struct DeletedAssetTests {
  private static let schema = """
    CREATE TABLE photos(id TEXT PRIMARY KEY NOT NULL, title TEXT, large BLOB)
    """

  private func pair(
    _ folder: TestFolder
  ) throws -> (SyncHarness, mac: SyncHarness.Device, phone: SyncHarness.Device) {
    let bench = SyncHarness(assetFolder: folder.path + "/cloud")
    func device(_ name: String) throws -> SyncHarness.Device {
      var options = SyncEngineOptions()
      options.assets = AssetOptions(folder: "\(folder.path)/\(name)", threshold: 1_000)
      options.defaultTable.merging.deletes = .editWins
      return try bench.device(name, Self.schema, tables: ["photos"], options: options)
    }
    return (bench, try device("mac"), try device("phone"))
  }

  @Test(
    "What was stored before a deletion comes back with the row; of a life of its own nothing does",
    arguments: [
      ("UPDATE photos SET large = zeroblob(60000)", ["'a'|'edited'|60000"]),
      ("DELETE FROM photos; INSERT INTO photos VALUES('a', 'again', zeroblob(60000))", []),
    ],
    [false, true]
  )
  func deleted(edit: (sql: String, rows: [String]), isSentLast: Bool) throws {
    let folder = try TestFolder("deleted")
    let (bench, mac, phone) = try pair(folder)
    try mac.execute("INSERT INTO photos VALUES('a', 'first', zeroblob(10))")
    try bench.sync(mac, phone)

    mac.engine.stop()
    phone.engine.stop()
    try phone.execute(edit.sql, at: 5_000_000)
    try phone.execute("DELETE FROM photos", at: 6_000_000)
    try mac.execute("UPDATE photos SET title = 'edited'", at: 7_000_000)
    try isSentLast ? bench.sync(mac, phone) : bench.sync(phone, mac)
    try bench.sync(mac, phone)

    for device in [mac, phone] {
      #expect(try device.lines("SELECT id, title, length(large) FROM photos") == edit.rows)
      #expect(try bench.unclean(device) == [])
    }
  }

  @Test("A row that is made anew without one has none")
  func remade() throws {
    let folder = try TestFolder("remade")
    let (bench, mac, phone) = try pair(folder)
    try phone.execute("INSERT INTO photos VALUES('a', 'first', zeroblob(60000))")
    try bench.sync(phone, mac)
    try phone.execute("UPDATE photos SET title = 'edited'; DELETE FROM photos", at: 5_000_000)
    try bench.sync(phone)
    try phone.execute("INSERT INTO photos(id, title) VALUES('a', 'again')", at: 6_000_000)
    try bench.sync(phone, mac)

    for device in [mac, phone] {
      let rows = try device.lines("SELECT id, title, length(large) FROM photos")
      #expect(rows == ["'a'|'again'|NULL"], "\(device.name)")
    }
  }
}

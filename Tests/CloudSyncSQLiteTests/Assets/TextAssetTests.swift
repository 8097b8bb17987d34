import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSimulator
import Testing

@Suite("Large texts")
struct TextAssetTests {
  private static let schema =
    "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT, body TEXT, any)"
  private static let query =
    "SELECT id, title, typeof(body), body, typeof(any), any FROM notes ORDER BY id"

  private let folder: TestFolder
  private let bench: SyncHarness

  init() throws {
    folder = try TestFolder("texts")
    bench = SyncHarness(assetFolder: folder.path + "/cloud")
  }

  /// A device on which texts of so many bytes stay in their records; nil for one on which all do.
  private func device(_ name: String, upTo threshold: Int?) throws -> SyncHarness.Device {
    var options = SyncEngineOptions()
    if let threshold {
      var assets = AssetOptions(folder: "\(folder.path)/\(name)", threshold: 1_000)
      assets.textThreshold = threshold
      options.assets = assets
    }
    return try bench.device(name, Self.schema, tables: ["notes"], options: options)
  }

  private func record() throws -> Record {
    let owner = AccountIdentity("owner")
    return try #require(try bench.cloud.records(account: owner, zone: bench.zoneID).first)
  }

  private func check(_ devices: SyncHarness.Device...) throws {
    let rows = try devices[0].lines(Self.query)
    for device in devices {
      #expect(try device.lines(Self.query) == rows, "\(device.name)")
      #expect(try bench.unclean(device) == [])
    }
  }

  @Test("A text over the threshold comes over in a file, as text, whatever its column's type")
  func bothWays() throws {
    let (mac, phone) = (try device("mac", upTo: 2_000), try device("phone", upTo: 2_000))
    let long = "printf('%.*c', 1500, 'é')"
    try mac.execute(
      """
      INSERT INTO notes VALUES
        ('a', printf('%.*c', 1900, 'x'), \(long), \(long)), ('b', NULL, zeroblob(3000), 1)
      """
    )
    try bench.sync(mac, phone)

    try check(mac, phone)
    let record = try record()
    #expect(record["title"]?.stringValue?.count == 1_900)
    #expect(record["cloudsync_textasset_body"]?.assetValue?.byteCount == 3_000)
    #expect(record["body"] == nil && record["cloudsync_asset_body"] == nil)
    // What has arrived needs no file of the sender's any more.
    #expect(try folder.names(in: "mac") == [])
  }

  @Test("It becomes short, another type, NULL and long again: only one field has it")
  func changes() throws {
    let (mac, phone) = (try device("mac", upTo: 2_000), try device("phone", upTo: 2_000))
    try mac.execute("INSERT INTO notes(id) VALUES('a')")
    try bench.sync(mac, phone)
    let values = [
      "printf('%.*c', 3000, 'x')", "'short'", "printf('%.*c', 4000, 'y')", "zeroblob(5000)",
      "printf('%.*c', 5000, 'z')", "NULL", "char(97, 0, 98) || printf('%.*c', 3000, 'n')",
    ]
    for (number, value) in values.enumerated() {
      let writer = number % 2 == 0 ? mac : phone
      try writer.execute("UPDATE notes SET body = \(value), any = \(value)")
      try bench.sync(mac, phone, mac)
      try check(mac, phone)
      for column in ["body", "any"] {
        let fields = try record().fields
          .filter {
            $0.name.hasSuffix(column) && !$0.value.isNull
          }
        #expect(fields.count == (value == "NULL" ? 0 : 1), "\(value): \(fields.map(\.name))")
      }
    }
  }

  @Test("Devices with other thresholds take the same text for no change, and agree of two")
  func thresholds() throws {
    let (mac, phone) = (try device("mac", upTo: 2_000), try device("phone", upTo: 100_000))
    let tablet = try device("tablet", upTo: 0)
    try mac.execute("INSERT INTO notes VALUES('a', 'one', printf('%.*c', 3000, 'x'), 1)")
    try bench.sync(mac, phone, tablet)
    try phone.execute("UPDATE notes SET title = 'two'")
    try bench.sync(phone, mac, tablet)
    try check(mac, phone, tablet)

    // At one moment, so that the values decide.
    let time: Int64 = 1_800_000_000_000
    try mac.execute("UPDATE notes SET body = printf('%.*c', 1500, 'm')", at: time)
    try phone.execute("UPDATE notes SET body = printf('%.*c', 1500, 'p')", at: time)
    for _ in 0..<2 { try bench.sync(mac, phone, tablet) }
    try check(mac, phone, tablet)
  }

  @Test("A row that has to wait for another one, and is deleted here, keeps its text")
  func kept() throws {
    let bench = SyncHarness(assetFolder: folder.path + "/cloud")
    let schema = """
      CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL);
      CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, list TEXT REFERENCES lists(id), body TEXT)
      """
    let devices = try ["mac", "phone"]
      .map { name in
        var options = SyncEngineOptions()
        options.defaultTable.merging.deletes = .editWins
        var assets = AssetOptions(folder: "\(folder.path)/\(name)", threshold: 1_000)
        assets.textThreshold = 2_000
        options.assets = assets
        return try bench.device(name, schema, tables: ["lists", "notes"], options: options)
      }
    let (mac, phone) = (devices[0], devices[1])
    try mac.execute(
      "INSERT INTO lists VALUES('l'); INSERT INTO notes VALUES('n', 'l', printf('%.*c', 3000, 'x'))"
    )
    try bench.sync(mac, phone)
    try phone.execute("UPDATE notes SET list = NULL WHERE id = 'n'")
    try mac.execute("DELETE FROM notes WHERE id = 'n'")
    for _ in 0..<2 { try bench.sync(mac, phone) }

    for device in devices {
      #expect(try device.lines("SELECT id, list, length(body) FROM notes") == ["'n'|NULL|3000"])
      #expect(try bench.unclean(device) == [])
    }
  }

  @Test(
    "So does a text with a NUL, and one that is no UTF-8, also beside devices that keep none in files"
  )
  func unusualBytes() throws {
    let (mac, phone) = (try device("mac", upTo: 2_000), try device("phone", upTo: 4_000))
    try mac.execute(
      """
      INSERT INTO notes VALUES
        ('a', 'NUL', CAST(x'6100' || printf('%.*c', 1500, 'é') AS TEXT), 1),
        ('b', 'no UTF-8', CAST(x'ff' || zeroblob(3000) AS TEXT), 2),
        ('c', 'small', CAST(x'ff00' AS TEXT), 3)
      """
    )
    try bench.sync(mac, phone)
    try check(mac, phone)
    let owner = AccountIdentity("owner")
    let records = try bench.cloud.records(account: owner, zone: bench.zoneID)
    #expect(records.count { $0["cloudsync_textasset_body"]?.assetValue != nil } == 2)

    // The phone keeps texts of this length in their records: the two hold the same all the same.
    try phone.execute("UPDATE notes SET title = title || '!', body = body || CAST(x'fe' AS TEXT)")
    try bench.sync(phone, mac)
    try check(mac, phone)
    try mac.execute("UPDATE notes SET any = 7")
    try bench.sync(mac, phone)
    try check(mac, phone)
    #expect(try mac.lines("SELECT length(CAST(body AS BLOB)) FROM notes") == ["3003", "3002", "3"])
  }
}

import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSimulator
import Testing

@Suite("Edits of rows whose keys others change", .serialized)
struct MovedRowTests {
  private static let schema = """
    CREATE TABLE users(
      id TEXT PRIMARY KEY NOT NULL, name TEXT, email TEXT UNIQUE, n INTEGER NOT NULL DEFAULT 0,
      photo BLOB);
    """
  private static let start: Int64 = 1_700_000_000_000

  private let bench: SyncHarness
  private let folder: TestFolder
  /// The device that changes keys, and others.
  private let mac: SyncHarness.Device
  private let phone: SyncHarness.Device
  private let tablet: SyncHarness.Device

  init() throws {
    let folder = try TestFolder("moved")
    let bench = SyncHarness(assetFolder: folder.path + "/cloud")
    let device = { (name: String) in
      var options = SyncEngineOptions()
      options.defaultTable.merging.columns["n"] = .counter
      options.defaultTable.uniqueKeys = .newest
      options.assets = AssetOptions(folder: "\(folder.path)/\(name)", threshold: 1_000)
      return try bench.device(name, Self.schema, tables: ["users"], options: options)
    }
    (self.bench, self.folder) = (bench, folder)
    (mac, phone, tablet) = (try device("mac"), try device("phone"), try device("tablet"))
    try mac.execute(
      """
      INSERT INTO users(id, name, email) VALUES('a', 'Ann', 'ann@x'), ('b', 'Bob', 'bob@x')
      """,
      at: Self.start
    )
    try bench.sync(mac, phone, tablet)
  }

  /// Has devices synchronize, one after the other, and tells what all of them have then.
  private func rows(
    _ columns: String,
    afterSyncOf devices: [SyncHarness.Device]
  ) throws -> [String] {
    for device in devices + devices { try bench.sync(device) }
    let query = "SELECT \(columns) FROM users ORDER BY id"
    let rows = try mac.lines(query)
    for device in devices {
      #expect(try device.lines(query) == rows, "\(device.name)")
      #expect(try bench.unclean(device) == [])
    }
    return rows
  }

  @Test("Two rows swap their keys in one transaction", arguments: [true, false])
  func swap(isFirst: Bool) throws {
    try mac.execute(
      """
      BEGIN; UPDATE users SET id = 'none' WHERE id = 'a'; UPDATE users SET id = 'a' WHERE id = 'b';
      UPDATE users SET id = 'b' WHERE id = 'none'; COMMIT
      """,
      at: Self.start + 1_000
    )
    try phone.execute("UPDATE users SET name = 'Anna' WHERE id = 'a'", at: Self.start + 2_000)
    try phone.execute("UPDATE users SET n = n + 1 WHERE id = 'b'")
    let rows = try rows("id, name, email, n", afterSyncOf: isFirst ? [mac, phone] : [phone, mac])

    #expect(rows == ["'a'|'Bob'|'bob@x'|1", "'b'|'Anna'|'ann@x'|0"])
  }

  @Test("A key goes on from device to device while a third one edits", arguments: [true, false])
  func chain(isFirst: Bool) throws {
    try tablet.execute(
      "UPDATE users SET name = 'Anna', n = n + 5 WHERE id = 'a'",
      at: Self.start + 500
    )
    if isFirst { try bench.sync(tablet) }
    try mac.execute("UPDATE users SET id = 'k' WHERE id = 'a'", at: Self.start + 1_000)
    try bench.sync(mac)
    try bench.sync(phone)
    try phone.execute("UPDATE users SET id = 'l', n = n + 2 WHERE id = 'k'", at: Self.start + 2_000)
    let rows = try rows("id, name, n", afterSyncOf: [phone, tablet, mac])

    #expect(rows == ["'b'|'Bob'|0", "'l'|'Anna'|7"])
  }

  @Test("A key is changed, and changed back", arguments: [true, false])
  func back(isSentBetween: Bool) throws {
    try phone.execute(
      "UPDATE users SET name = 'Anna', n = n + 5 WHERE id = 'a'",
      at: Self.start + 500
    )
    try mac.execute("UPDATE users SET id = 'k', n = n + 1 WHERE id = 'a'", at: Self.start + 1_000)
    if isSentBetween { try bench.sync(mac) }
    try mac.execute("UPDATE users SET id = 'a', n = n + 2 WHERE id = 'k'", at: Self.start + 2_000)
    let rows = try rows("id, name, email, n", afterSyncOf: [mac, phone, tablet])

    #expect(rows == ["'a'|'Anna'|'ann@x'|8", "'b'|'Bob'|'bob@x'|0"])
  }

  @Test(
    "A unique value goes along, and so does one that another device gives",
    arguments: [true, false]
  )
  func uniqueValue(isFirst: Bool) throws {
    try mac.execute("UPDATE users SET id = 'k' WHERE id = 'a'", at: Self.start + 1_000)
    try phone.execute("UPDATE users SET email = 'anna@x' WHERE id = 'a'", at: Self.start + 2_000)
    // The value is free for another row then.
    try phone.execute("UPDATE users SET email = 'ann@x' WHERE id = 'b'", at: Self.start + 3_000)
    let rows = try rows("id, email", afterSyncOf: isFirst ? [mac, phone] : [phone, mac])

    #expect(rows == ["'b'|'ann@x'", "'k'|'anna@x'"])
  }

  @Test("What all have added to a counter is counted once", arguments: [true, false])
  func counter(isFirst: Bool) throws {
    try mac.execute("UPDATE users SET n = n + 1 WHERE id = 'a'", at: Self.start + 1_000)
    try mac.execute("UPDATE users SET id = 'k', n = n + 10 WHERE id = 'a'", at: Self.start + 2_000)
    try mac.execute("UPDATE users SET n = n + 100 WHERE id = 'k'", at: Self.start + 3_000)
    try phone.execute("UPDATE users SET n = n + 1000 WHERE id = 'a'", at: Self.start + 4_000)
    let rows = try rows(
      "id, n",
      afterSyncOf: isFirst ? [mac, phone, tablet] : [phone, mac, tablet]
    )

    #expect(rows == ["'b'|0", "'k'|1111"])
  }

  @Test(
    "A large value goes along, and so does one that another device gives",
    arguments: [true, false]
  )
  func asset(isFirst: Bool) throws {
    try mac.execute("UPDATE users SET photo = zeroblob(2000) WHERE id = 'b'", at: Self.start + 500)
    try bench.sync(mac, phone)
    try mac.execute("UPDATE users SET id = 'k' || id", at: Self.start + 1_000)
    try phone.execute(
      "UPDATE users SET photo = zeroblob(3000) WHERE id = 'a'",
      at: Self.start + 2_000
    )
    let order = isFirst ? [mac, phone, tablet] : [phone, mac, tablet]
    let rows = try rows("id, length(photo)", afterSyncOf: order)

    #expect(rows == ["'ka'|3000", "'kb'|2000"])
  }
}

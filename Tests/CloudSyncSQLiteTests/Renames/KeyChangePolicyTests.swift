import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSimulator
import Testing

@Suite("Changed keys, whether deletions win or edits")
struct KeyChangePolicyTests {
  private static let schema =
    "CREATE TABLE users(id TEXT PRIMARY KEY NOT NULL, name TEXT, n INTEGER);"
  private static let start: Int64 = 1_700_000_000_000
  private static let policies: [DeletePolicy] = [.deleteWins, .editWins]

  private let bench = SyncHarness()

  /// Devices that have two rows, and are in step.
  private func devices(
    _ names: String...,
    where deletes: DeletePolicy
  ) throws -> [SyncHarness.Device] {
    var options = SyncEngineOptions()
    options.defaultTable.merging.deletes = deletes
    let devices = try names.map { name in
      try bench.device(name, Self.schema, tables: ["users"], options: options)
    }
    try devices[0]
      .execute(
        "INSERT INTO users VALUES('a', 'Ann', 1), ('b', 'Bob', 2)",
        at: Self.start
      )
    for device in devices { try bench.sync(device) }
    return devices
  }

  /// Has devices synchronize in turn, and tells what all of them have then.
  private func rows(afterSyncOf devices: [SyncHarness.Device]) throws -> [String] {
    for device in devices + devices { try bench.sync(device) }
    let query = "SELECT * FROM users ORDER BY id"
    let rows = try devices[0].lines(query)
    for device in devices {
      #expect(try device.lines(query) == rows, "\(device.name)")
      #expect(try bench.unclean(device) == [])
    }
    return rows
  }

  @Test(
    "A key that was changed stays, whatever others have sent of the row meanwhile",
    arguments: policies
  )
  func keyStays(deletes: DeletePolicy) throws {
    let devices = try devices("mac", "phone", where: deletes)
    let (mac, phone) = (devices[0], devices[1])
    try phone.execute("UPDATE users SET name = 'Anna' WHERE id = 'a'", at: Self.start + 1_000)
    try bench.sync(phone)
    try mac.execute("UPDATE users SET id = 'k', n = 7 WHERE id = 'a'", at: Self.start + 2_000)

    let rows = try rows(afterSyncOf: [mac, phone])
    #expect(rows == ["'b'|'Bob'|2", "'k'|'Anna'|7"])
  }

  @Test("Where edits win, an edit that nobody had seen comes into the row that took the key")
  func unseenEdit() throws {
    let devices = try devices("mac", "phone", where: .editWins)
    let (mac, phone) = (devices[0], devices[1])
    try phone.execute("UPDATE users SET n = 9 WHERE id = 'b'", at: Self.start + 1_000)
    try mac.execute("DELETE FROM users WHERE id = 'b'", at: Self.start + 2_000)
    try mac.execute("UPDATE users SET id = 'b' WHERE id = 'a'", at: Self.start + 3_000)

    let rows = try rows(afterSyncOf: [mac, phone])
    #expect(rows == ["'b'|'Ann'|9"])
  }
}

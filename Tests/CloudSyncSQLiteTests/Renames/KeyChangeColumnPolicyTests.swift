import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSimulator
import CloudSyncTestSupport
import Testing

/// What one device has set alone is no conflict for a policy, whatever keys the row was given meanwhile.
@Suite("Edits of columns with a policy, in rows whose keys two devices change")
struct KeyChangeColumnPolicyTests {
  private static let start: Int64 = 1_700_000_000_000

  /// When the first device sets the columns, and whether it hears of that before it changes the key.
  enum Order: String, CaseIterable, Sendable {
    case afterTheMove, beforeTheMove, longBeforeTheMove
  }

  private func edit(_ mac: SyncHarness.Device, key: String) throws {
    try mac.execute(
      "UPDATE notes SET tags = '[\"a\"]', high = 3, theirs = 'mine' WHERE id = '\(key)'",
      at: Self.start + 2_000
    )
  }

  @Test(
    "What one device has set alone stays, and what both have set is decided by the policy",
    arguments: SuiteSize.pairs(2, Order.allCases, [false, true])
  )
  func stays(order: Order, isEditedByBoth: Bool) throws {
    let bench = SyncHarness()
    var options = SyncEngineOptions()
    options.defaultTable.merging = TableMergePolicy(
      columns: ["tags": .setUnion, "high": .maximum, "theirs": .server]
    )
    let devices = try ["mac", "phone"]
      .map { name in
        try bench.device(
          name,
          "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, tags TEXT, high INTEGER, theirs TEXT)",
          tables: ["notes"],
          options: options
        )
      }
    let (mac, phone) = (devices[0], devices[1])
    try mac.execute("INSERT INTO notes VALUES('k', '[\"a\",\"b\"]', 5, 'x')", at: Self.start)
    try bench.sync(mac, phone)

    if order != .afterTheMove { try edit(mac, key: "k") }
    // The edit is heard of, and nothing is sent.
    if order == .longBeforeTheMove { try bench.restart(mac, ["notes"], options) }
    try mac.execute("UPDATE notes SET id = 'k2'", at: Self.start + 3_000)
    if order == .afterTheMove { try edit(mac, key: "k2") }
    if isEditedByBoth {
      try phone.execute(
        "UPDATE notes SET tags = '[\"a\",\"b\",\"c\"]', high = 4, theirs = 'theirs'",
        at: Self.start + 4_000
      )
    }
    try phone.execute("UPDATE notes SET id = 'k3'", at: Self.start + 5_000)
    for device in [phone, mac, phone, mac] { try bench.sync(device) }

    // What a set had before is known under the key that it had then: of two edits both sets are kept.
    let expected =
      isEditedByBoth
      ? "'k3'|'[\"a\",\"b\",\"c\"]'|4|'theirs'" : "'k3'|'[\"a\"]'|3|'mine'"
    for device in devices {
      let rows = try device.lines("SELECT * FROM notes")
      #expect(rows == [expected], "\(device.name)")
      #expect(try bench.unclean(device) == [], "\(device.name)")
    }
  }
}

import CloudSyncSQLite
import CloudSyncTestSupport
import Testing

@Suite("Rows in a circle of references")
struct CircleTests {
  @Test(
    "Rows of a circle that leave their tables for a while are not deleted for others",
    arguments: SuiteSize.some(
      2,
      of: [
        "up TEXT REFERENCES folders(id) ON DELETE CASCADE",
        "up TEXT REFERENCES folders(id) ON DELETE RESTRICT",
        "up TEXT REFERENCES folders(id) ON DELETE SET NULL",
        "up TEXT NOT NULL REFERENCES folders(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED",
      ]
    )
  )
  func displaced(up: String) throws {
    var options = SyncEngineOptions()
    options.defaultTable.uniqueKeys = .newest
    let schema = "CREATE TABLE folders(id TEXT PRIMARY KEY NOT NULL, name TEXT UNIQUE, \(up))"
    let (bench, mac, phone) = try SyncHarness.pair(schema, tables: ["folders"], options: options)
    try mac.execute(
      """
      BEGIN; PRAGMA defer_foreign_keys = ON;
      INSERT INTO folders VALUES('a', 'A', 'c'), ('b', 'B', 'a'), ('c', 'C', 'b'); COMMIT
      """,
      at: 1_000
    )
    try bench.sync(mac, phone)
    mac.engine.stop()
    phone.engine.stop()
    // A newer row takes the name of one of them, so all leave the table: whoever refers to it, too.
    try mac.execute("UPDATE folders SET name = 'B2' WHERE id = 'b'", at: 2_000)
    try phone.execute(
      "BEGIN; PRAGMA defer_foreign_keys = ON; INSERT INTO folders VALUES('z', 'B2', 'z'); COMMIT",
      at: 3_000
    )
    try bench.sync(mac, phone)
    try bench.sync(mac, phone)
    for device in [mac, phone] {
      #expect(try device.lines("SELECT id FROM folders") == ["'z'"], "\(device.name)")
      #expect(try device.lines("SELECT count(*) FROM cloudsync_outbox") == ["0"])
    }
    #expect(try bench.cloudNames().count == 4)

    try phone.execute("UPDATE folders SET name = 'Z' WHERE id = 'z'", at: 4_000)
    try bench.sync(phone, mac)
    try bench.sync(phone, mac)
    for device in [mac, phone] {
      #expect(
        try device.lines("SELECT * FROM folders ORDER BY 1")
          == ["'a'|'A'|'c'", "'b'|'B2'|'a'", "'c'|'C'|'b'", "'z'|'Z'|'z'"],
        "\(device.name)"
      )
      #expect(try bench.unclean(device) == [], "\(device.name)")
    }
  }
}

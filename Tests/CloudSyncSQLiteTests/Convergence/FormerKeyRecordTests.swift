import CloudSyncSQLite
import CloudSyncSimulator
import Testing

@Suite("Records of rows whose table has another key now")
struct FormerKeyRecordTests {
  @Test(
    "They are not parked for ever on every device",
    arguments: [
      // The key gets a collation, and one row is spelled in capitals; the key gets a second column.
      "CREATE TABLE fresh(id TEXT PRIMARY KEY NOT NULL COLLATE NOCASE, n INTEGER NOT NULL DEFAULT 0)",
      "CREATE TABLE fresh(id TEXT NOT NULL, n INTEGER NOT NULL DEFAULT 0, PRIMARY KEY(id, n))",
    ]
  )
  func parked(fresh: String) throws {
    let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, n INTEGER NOT NULL DEFAULT 0)"
    let (bench, mac, phone) = try SyncHarness.pair(schema, tables: ["notes"])
    try mac.execute("INSERT INTO notes VALUES('A', 1)")
    try bench.sync(mac, phone)
    let migration =
      "\(fresh); INSERT INTO fresh SELECT * FROM notes; DROP TABLE notes;"
      + "ALTER TABLE fresh RENAME TO notes"
    for device in [mac, phone] { try bench.restart(device, ["notes"], after: migration) }
    try bench.sync(mac, phone)
    try bench.sync(mac, phone)

    #expect(try mac.lines("SELECT * FROM notes") == ["'A'|1"])
    #expect(try bench.unclean(mac) == [])
    #expect(try bench.unclean(phone) == [])
  }
}

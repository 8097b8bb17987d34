import CloudSyncSQLite
import CloudSyncSimulator
import Testing

@Suite("A database in UTF-16")
struct EncodingTests {
  @Test("Text that it cannot hold is said to be so")
  func malformed() throws {
    let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT)"
    let bench = SyncHarness()
    let mac = try bench.device("mac", "PRAGMA encoding = 'UTF-16'; \(schema)", tables: ["notes"])
    let phone = try bench.device("phone", schema, tables: ["notes"])
    try phone.execute(
      "INSERT INTO notes VALUES('a', CAST(x'ff' AS TEXT)), (CAST(x'fe' AS TEXT), 'b'), (CAST(x'fd' AS TEXT), 'c')"
    )
    try bench.sync(phone, mac)

    let isEqual = try mac.lines("SELECT * FROM notes") == phone.lines("SELECT * FROM notes")
    #expect(try isEqual || !bench.unclean(mac).isEmpty)
  }

  @Test(
    "Rows with keys of several columns travel, and are listed, compared and found after a rebuild",
    arguments: ["UTF-16le", "UTF-16be", "UTF-8"]
  )
  func compoundKeys(encoding: String) async throws {
    let table =
      "(a TEXT NOT NULL, b INTEGER NOT NULL, c BLOB NOT NULL, v TEXT, PRIMARY KEY(a, b, c))"
    let bench = SyncHarness()
    let mac = try bench.device(
      "mac",
      "PRAGMA encoding = '\(encoding)'; CREATE TABLE t\(table)",
      tables: ["t"]
    )
    let phone = try bench.device("phone", "CREATE TABLE t\(table)", tables: ["t"])
    let keys = ["'x', 1, x'79'", "'é;~0', 2, x'3b'", "'🙂~1', 3, x''", "'it''s', 4, x'00'"]
    for key in keys { try mac.execute("INSERT INTO t VALUES(\(key), 'mac')") }
    try bench.sync(mac, phone)
    let query = "SELECT a, b, c, v FROM t ORDER BY b"
    #expect(try phone.lines(query).count == keys.count)
    #expect(try phone.lines(query) == mac.lines(query))
    let listed = "SELECT key FROM cloudsync_status"
    #expect(try mac.lines(listed).sorted() == phone.lines(listed).sorted())
    mac.engine.stop()
    try phone.execute("UPDATE t SET v = 'phone' WHERE b = 2; DELETE FROM t WHERE b = 4")
    try bench.sync(phone)
    try bench.restart(
      mac,
      ["t"],
      after: """
        CREATE TABLE fresh\(table); INSERT INTO fresh SELECT * FROM t; DROP TABLE t;
        ALTER TABLE fresh RENAME TO t; UPDATE t SET v = 'mac 3' WHERE b = 3
        """
    )
    for _ in 0..<2 { try bench.sync(mac, phone) }

    for device in [mac, phone] {
      #expect(
        try device.lines("SELECT b, v FROM t ORDER BY b")
          == ["1|'mac'", "2|'phone'", "3|'mac 3'"],
        "\(device.name)"
      )
      #expect(try bench.unclean(device) == [])
      #expect(try await device.engine.verify().differences == [])
    }
  }
}

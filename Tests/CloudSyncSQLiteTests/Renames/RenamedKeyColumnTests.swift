import CloudSyncCore
import CloudSyncSQLite
import CloudSyncTestSupport
import Testing

/// A version of the app that calls the key's column otherwise, beside one that does not.
@Suite("Keys whose column is renamed")
struct RenamedKeyColumnTests {
  private static let old = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, text TEXT)"
  private static let new = "CREATE TABLE notes(k TEXT PRIMARY KEY NOT NULL, text TEXT)"
  private static let renaming = "ALTER TABLE notes RENAME COLUMN id TO k"
  private static let rows = "SELECT * FROM notes ORDER BY 1"

  @Test("A row to which the old version gives another key stays, whoever begins with the new one")
  func otherKey() throws {
    let (bench, mac, phone) = try SyncHarness.pair(Self.old, tables: ["notes"])
    try mac.execute("INSERT INTO notes VALUES('a', 'one'), ('b', 'two')", at: 1_000)
    try bench.sync(mac, phone)
    try bench.restart(mac, ["notes"], after: Self.renaming)
    try bench.sync(mac)
    try phone.execute("UPDATE notes SET id = 'z' WHERE id = 'a'", at: 2_000)
    for _ in 0..<2 { try bench.sync(phone, mac) }
    let other = try bench.device("other", Self.new, tables: ["notes"])
    try bench.sync(other)
    for device in [mac, phone, other] {
      #expect(try device.lines(Self.rows) == ["'b'|'two'", "'z'|'one'"])
      #expect(try bench.unclean(device) == [])
    }
    // Each edits it then, and gives it further keys.
    try mac.execute("UPDATE notes SET text = 'three' WHERE k = 'z'", at: 3_000)
    for _ in 0..<2 { try bench.sync(mac, phone, other) }
    try phone.execute("UPDATE notes SET id = 'y' WHERE id = 'z'", at: 4_000)
    for _ in 0..<2 { try bench.sync(phone, other, mac) }
    try other.execute("UPDATE notes SET k = 'x' WHERE k = 'y'", at: 5_000)
    for _ in 0..<2 { try bench.sync(other, phone, mac) }
    try bench.restart(phone, ["notes"], after: Self.renaming)
    for _ in 0..<2 { try bench.sync(phone, other, mac) }
    for device in [mac, phone, other] {
      #expect(try device.lines(Self.rows) == ["'b'|'two'", "'x'|'three'"])
      #expect(try bench.unclean(device) == [])
    }
  }
}

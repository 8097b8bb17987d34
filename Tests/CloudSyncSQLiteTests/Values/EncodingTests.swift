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
}

import CloudSyncSQLite
import Testing

@Suite("A copy of a file that has synchronized")
struct CopiedFileTests {
  private static let schema =
    "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT, stars INTEGER)"
  private static let query = "SELECT * FROM notes ORDER BY id"

  @Test("What was added to a counter before the copy was made, and not read yet, is counted once")
  func unreadAdditions() throws {
    var options = SyncEngineOptions()
    options.defaultTable.merging.columns["stars"] = .counter
    let folder = try TestFolder("copied-file")
    let bench = SyncHarness()
    let mac = try bench.device("mac", Self.schema, tables: ["notes"], options: options)
    try mac.execute("INSERT INTO notes VALUES('a', 'A', 1)")
    try bench.sync(mac)
    mac.engine.stop()
    try mac.execute("UPDATE notes SET stars = stars + 5, title = 'A2'")
    let path = folder.file("copy.sqlite")
    try mac.execute("VACUUM INTO '\(path)'")
    try mac.execute("UPDATE notes SET stars = stars + 100")
    let database = try DatabaseFile(path: path)
    let phone = SyncHarness.Device(
      "phone",
      database,
      try bench.engine("phone", database, ["notes"], options)
    )
    try phone.execute("UPDATE notes SET stars = stars + 10")
    try bench.sync(phone, mac)
    try bench.sync(phone, mac)

    for device in [mac, phone] {
      #expect(try device.lines(Self.query) == ["'a'|'A2'|116"])
      #expect(try bench.unclean(device) == [])
    }
  }

  @Test("A row whose key is changed in a copy that no engine has opened yet stays as old as it was")
  func movedRow() throws {
    let folder = try TestFolder("copied-moved")
    let bench = SyncHarness()
    let mac = try bench.device("mac", Self.schema, tables: ["notes"])
    try mac.execute("INSERT INTO notes VALUES('a', 'A', 1)", at: 1_000)
    try bench.sync(mac)
    mac.engine.stop()
    let path = folder.file("copy.sqlite")
    try mac.execute("VACUUM INTO '\(path)'")
    let database = try DatabaseFile(path: path)
    try database.execute("UPDATE notes SET id = 'b'")
    let engine = try bench.engine("phone", database, ["notes"])
    let phone = SyncHarness.Device("phone", database, engine)
    try bench.sync(phone)
    // It was made after the copy, and on a clock that is behind: of the column it is the only edit.
    try mac.execute("UPDATE notes SET title = 'A2'", at: 2_000)
    try bench.restart(mac, ["notes"])
    try bench.sync(mac, phone)
    try bench.sync(mac, phone)

    for device in [mac, phone] {
      #expect(try device.lines(Self.query) == ["'b'|'A2'|1"])
      #expect(try bench.unclean(device) == [])
    }
  }

  @Test("A row that was not read yet when the copy was made, and that the copy deletes, is deleted")
  func unreadRow() throws {
    let folder = try TestFolder("copied-row")
    let bench = SyncHarness()
    let mac = try bench.device("mac", Self.schema, tables: ["notes"])
    try mac.execute("INSERT INTO notes VALUES('a', 'A', 1)")
    try bench.sync(mac)
    mac.engine.stop()
    try mac.execute("INSERT INTO notes VALUES('b', 'B', 2)")
    let path = folder.file("copy.sqlite")
    try mac.execute("VACUUM INTO '\(path)'")
    let database = try DatabaseFile(path: path)
    try database.execute("DELETE FROM notes WHERE id = 'b'")
    let engine = try bench.engine("phone", database, ["notes"])
    let phone = SyncHarness.Device("phone", database, engine)
    try bench.sync(phone, mac)
    try bench.sync(phone, mac)

    for device in [mac, phone] {
      #expect(try device.lines(Self.query) == ["'a'|'A'|1"])
      #expect(try bench.unclean(device) == [])
    }
  }
}

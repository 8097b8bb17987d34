import CloudSyncSQLite
import CloudSyncSimulator
import Testing

@Suite("A table that is renamed aside and made again from its rows")
struct RenamedAsideTests {
  private static let schema =
    "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT, body TEXT)"
  private static let notes = "SELECT id, title, body FROM notes ORDER BY id"
  /// The old table goes last, with the triggers that were renamed along.
  private static let migration = """
    ALTER TABLE notes RENAME TO former;
    CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, body TEXT, title TEXT);
    INSERT INTO notes(id, title, body) SELECT id, title, body FROM former;
    DROP TABLE former
    """

  private func pair() throws -> (SyncHarness, mac: SyncHarness.Device, phone: SyncHarness.Device) {
    let (bench, mac, phone) = try SyncHarness.pair(Self.schema, tables: ["notes"])
    try mac.execute("INSERT INTO notes VALUES('a', 'A', 'x'), ('b', 'B', 'y'), ('c', 'C', 'z')")
    try bench.sync(mac, phone)
    return (bench, mac, phone)
  }

  @Test("Nothing is sent if nothing was edited, on either side", arguments: [false, true])
  func unedited(isRunning: Bool) throws {
    let (bench, mac, phone) = try pair()
    let tags = try bench.cloudTags()
    for device in [mac, phone] {
      if isRunning {
        try device.execute(Self.migration)
      } else {
        try bench.restart(device, ["notes"], after: Self.migration)
      }
    }
    try bench.sync(mac, phone)
    for device in [mac, phone] {
      #expect(try device.lines(Self.notes) == ["'a'|'A'|'x'", "'b'|'B'|'y'", "'c'|'C'|'z'"])
      #expect(try bench.unclean(device) == [])
    }
    #expect(try bench.cloudTags() == tags)
  }

  @Test(
    "What was edited before, in it and after it is sent, and merged with others' edits",
    arguments: [false, true]
  )
  func edited(isRunning: Bool) throws {
    let (bench, mac, phone) = try pair()
    if !isRunning { phone.engine.stop() }
    try phone.execute("UPDATE notes SET title = 'A2' WHERE id = 'a'")
    try phone.execute(
      Self.migration
        + "; UPDATE notes SET title = 'B2' WHERE id = 'b'; DELETE FROM notes WHERE id = 'c'"
    )
    try phone.execute("INSERT INTO notes(id, title) VALUES('d', 'D')")
    if !isRunning { try bench.restart(phone, ["notes"]) }
    try mac.execute(
      "UPDATE notes SET body = 'x2' WHERE id = 'a'; UPDATE notes SET body = 'y2' WHERE id = 'b'"
    )
    try bench.sync(mac, phone)
    try bench.sync(mac, phone)
    for device in [mac, phone] {
      #expect(try device.lines(Self.notes) == ["'a'|'A2'|'x2'", "'b'|'B2'|'y2'", "'d'|'D'|NULL"])
      #expect(try bench.unclean(device) == [])
    }
  }
}

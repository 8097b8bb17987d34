import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSimulator
import Testing

@Suite("Rows that would refer to nobody")
struct DanglingRowTests {
  private func devices(
    _ count: Int,
    _ schema: String,
    _ tables: [String],
    _ options: SyncEngineOptions = SyncEngineOptions()
  ) throws -> (SyncHarness, [SyncHarness.Device]) {
    let bench = SyncHarness()
    let devices = try (0..<count)
      .map { number in
        try bench.device("device \(number)", schema, tables: tables, options: options)
      }
    return (bench, devices)
  }

  @Test("A child is written before its parent is refused: both wait, and the engine goes on")
  func refusedParent() throws {
    var options = SyncEngineOptions()
    options.defaultTable.uniqueKeys = .newest
    let schema = """
      CREATE TABLE folders(
        id TEXT PRIMARY KEY NOT NULL, up TEXT REFERENCES folders(id), name TEXT UNIQUE
      )
      """
    let (bench, all) = try devices(2, schema, ["folders"], options)
    try all[0].execute("INSERT INTO folders VALUES('b', NULL, 'Inbox')", at: 1_000)
    try all[0].execute("INSERT INTO folders VALUES('a', 'b', 'Sub')", at: 1_001)
    try all[1].execute("INSERT INTO folders VALUES('z', NULL, 'Inbox')", at: 2_000)
    try bench.sync(all[0], all[1])
    try bench.sync(all[0], all[1])

    for device in all {
      #expect(device.engine.isRunning)
      #expect(try device.lines("SELECT id FROM folders") == ["'z'"])
    }
    // The value is free again, and they come back.
    try all[1].execute("UPDATE folders SET name = 'Other' WHERE id = 'z'", at: 3_000)
    try bench.sync(all[1], all[0])
    try bench.sync(all[1], all[0])
    for device in all {
      #expect(try device.lines("SELECT id FROM folders ORDER BY id") == ["'a'", "'b'", "'z'"])
      #expect(try bench.unclean(device) == [])
    }
  }

  @Test(
    "A parent's value and a child of the former one come together: the child waits until it has followed"
  )
  func changedValue() throws {
    let schema = """
      CREATE TABLE p(id TEXT PRIMARY KEY NOT NULL, code TEXT NOT NULL DEFAULT '' UNIQUE);
      CREATE TABLE c(id TEXT PRIMARY KEY NOT NULL, code TEXT REFERENCES p(code) ON UPDATE CASCADE);
      """
    var options = SyncEngineOptions()
    options.defaultTable.uniqueKeys = .newest
    let (bench, all) = try devices(3, schema, ["p", "c"], options)
    try all[0].execute("INSERT INTO p VALUES('1', 'A')", at: 1_000)
    try bench.sync(all[0], all[1], all[2])
    for device in all { device.engine.stop() }
    try all[1].execute("INSERT INTO c VALUES('n', 'A')", at: 2_000)
    try all[0].execute("UPDATE p SET code = 'B'", at: 3_000)
    // Both are sent before either device has fetched.
    try all[1].engine.start()
    bench.world.advance(by: .seconds(30))
    all[1].engine.stop()
    try bench.sync(all[0])
    try bench.sync(all[2])
    #expect(all[2].engine.isRunning)
    try bench.sync(all[1], all[0], all[2])
    try bench.sync(all[1], all[0], all[2])

    for device in all {
      #expect(try device.lines("SELECT c.id, p.code FROM c JOIN p USING(code)") == ["'n'|'B'"])
      #expect(try bench.unclean(device) == [])
    }
  }

  @Test("Children of a parent whose record's name is a digest are written, and updated")
  func longKeys() throws {
    let schema = """
      CREATE TABLE pages(url TEXT PRIMARY KEY NOT NULL, title TEXT);
      CREATE TABLE visits(
        id TEXT PRIMARY KEY NOT NULL, url TEXT REFERENCES pages(url), note TEXT
      );
      """
    let (bench, all) = try devices(2, schema, ["pages", "visits"])
    let url = String(repeating: "ж", count: 120)
    try all[0].execute("INSERT INTO pages VALUES('\(url)', 'P')")
    try bench.sync(all[0], all[1])
    try all[0].execute("INSERT INTO visits VALUES('v', '\(url)', 'first')")
    try bench.sync(all[0], all[1])
    try all[0].execute("UPDATE visits SET note = 'second'")
    try bench.sync(all[0], all[1])

    #expect(try all[1].lines("SELECT note FROM visits") == ["'second'"])
    #expect(try bench.unclean(all[1]) == [])
  }

  @Test("Rows that are merged away tell as which one they go on: unseen children follow")
  func mergedParents() throws {
    var options = SyncEngineOptions()
    options.tables["tags"] = SyncEngineOptions.Table()
    options.tables["tags"]?.uniqueKeys = .merge
    let schema = """
      CREATE TABLE tags(id TEXT PRIMARY KEY NOT NULL, name TEXT UNIQUE);
      CREATE TABLE notes(
        id TEXT PRIMARY KEY NOT NULL, tag TEXT REFERENCES tags(id) ON DELETE CASCADE
      );
      """
    let (bench, all) = try devices(2, schema, ["tags", "notes"], options)
    try all[1].execute("INSERT INTO tags VALUES('b', 'work')", at: 1_000)
    try bench.sync(all[1])
    all[1].engine.stop()
    try all[1].execute("INSERT INTO notes VALUES('n', 'b')", at: 2_000)
    try all[0].execute("INSERT INTO tags VALUES('a', 'work')", at: 3_000)
    try bench.sync(all[0])
    try bench.sync(all[1], all[0])
    try bench.sync(all[1], all[0])

    for device in all {
      #expect(try device.lines("SELECT id FROM tags") == ["'a'"])
      #expect(try device.lines("SELECT * FROM notes") == ["'n'|'a'"])
      #expect(try bench.unclean(device) == [])
    }
  }
}

import CloudSyncSQLite
import CloudSyncSimulator
import Testing

@Suite("An older version of the app, which does not know a column, gives a row another record")
struct KeyChangedByOldVersionTests {
  @Test("What it does not know stays in rows that follow their parent to its new key")
  func followed() throws {
    let parent = "CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL)"
    let child =
      "list TEXT NOT NULL REFERENCES lists(id) ON UPDATE CASCADE, n TEXT NOT NULL, PRIMARY KEY(list, n)"
    let bench = SyncHarness()
    let old = try bench.device(
      "old",
      "\(parent); CREATE TABLE marks(\(child))",
      tables: ["lists", "marks"]
    )
    let new = try bench.device(
      "new",
      "\(parent); CREATE TABLE marks(body TEXT, \(child))",
      tables: ["lists", "marks"]
    )
    try new.execute(
      "INSERT INTO lists VALUES('a'); INSERT INTO marks VALUES('long text', 'a', '1')"
    )
    try bench.sync(new, old)
    try old.execute("UPDATE lists SET id = 'b'")
    try bench.sync(old, new)

    #expect(try new.lines("SELECT * FROM marks") == ["'long text'|'b'|'1'"])
  }

  @Test("It stays when the older version merges two rows of one unique value")
  func merged() throws {
    var options = SyncEngineOptions()
    options.defaultTable.uniqueKeys = .merge
    let bench = SyncHarness()
    let old = try bench.device(
      "old",
      "CREATE TABLE tags(id TEXT PRIMARY KEY NOT NULL, name TEXT UNIQUE)",
      tables: ["tags"],
      options: options
    )
    let new = try bench.device(
      "new",
      "CREATE TABLE tags(id TEXT PRIMARY KEY NOT NULL, name TEXT UNIQUE, body TEXT)",
      tables: ["tags"],
      options: options
    )
    try old.execute("INSERT INTO tags VALUES('a', 'n')")
    try new.execute("INSERT INTO tags VALUES('b', 'n', 'long text')")
    // The older one comes to it first.
    try new.engine.start()
    bench.world.advance(by: .seconds(30))
    try bench.sync(old)
    try bench.sync(new, old)

    #expect(try new.lines("SELECT * FROM tags") == ["'a'|'n'|'long text'"])
  }
}

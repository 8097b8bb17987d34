import CloudSyncSQLite
import CloudSyncSimulator
import Testing

@Suite("An older version of the app, which does not know a column, makes one row of two")
struct RowUnionByOldVersionTests {
  @Test("What it does not know stays when it merges two rows of one unique value")
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

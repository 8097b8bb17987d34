import CloudSyncSQLite
import CloudSyncTestSupport
import Testing

@Suite("Unique keys: copies with the same rows under different keys")
struct SeededCopyTests {
  private static let schema = """
    CREATE TABLE tags(id TEXT PRIMARY KEY NOT NULL, name TEXT UNIQUE, color TEXT);
    CREATE TABLE notes(
      id TEXT PRIMARY KEY NOT NULL, tag TEXT REFERENCES tags(id) ON DELETE CASCADE, title TEXT
    );
    CREATE INDEX notes_by_tag ON notes(tag);
    """

  private static func seed(_ prefix: String, count: Int) -> String {
    """
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
    INSERT INTO tags SELECT '\(prefix)' || i, 'tag ' || i, 'red' FROM n;
    INSERT INTO notes SELECT 'note of ' || id, id, name FROM tags;
    """
  }

  /// Copies that were filled before they were synchronized for the first time.
  private func check(
    _ policy: UniqueKeyPolicy,
    count: Int
  ) throws -> (SyncHarness, [SyncHarness.Device]) {
    let bench = SyncHarness()
    var options = SyncEngineOptions()
    options.tables["tags"] = SyncEngineOptions.Table()
    options.tables["tags"]?.uniqueKeys = policy
    let devices = try ["b", "a"]
      .map { name in
        try bench.device(
          name,
          Self.schema + Self.seed(name, count: count),
          tables: ["tags", "notes"],
          options: options
        )
      }
    try bench.sync(devices[0])
    try bench.sync(devices[1], devices[0])
    for device in devices { #expect(try bench.unclean(device).count <= count * 2) }
    return (bench, devices)
  }

  @Test("They are merged into one, quickly, and notes of both refer to it")
  func merged() throws {
    let count = SuiteSize.count(50, long: 1_000)
    let (bench, devices) = try check(.merge, count: count)
    for device in devices {
      #expect(
        try device.lines("SELECT count(*), count(DISTINCT name) FROM tags") == ["\(count)|\(count)"]
      )
      #expect(try device.lines("SELECT count(*) FROM tags WHERE id LIKE 'a%'") == ["\(count)"])
      #expect(
        try device.lines("SELECT count(*) FROM notes JOIN tags ON tags.id = tag") == [
          "\(count * 2)"
        ]
      )
      #expect(try bench.unclean(device) == [])
    }
  }

  @Test("The newest keeps each value, and whoever refers to the other one waits")
  func newest() throws {
    let count = SuiteSize.count(30, long: 200)
    let (_, devices) = try check(.newest, count: count)
    for device in devices {
      #expect(try device.lines("SELECT count(*) FROM tags") == ["\(count)"])
      let parked = "SELECT count(*) FROM cloudsync_status WHERE status = 'parked'"
      #expect(try device.lines(parked) == ["\(count)"])
    }
    let query = "SELECT * FROM tags ORDER BY 1"
    #expect(try devices[0].lines(query) == devices[1].lines(query))
  }
}

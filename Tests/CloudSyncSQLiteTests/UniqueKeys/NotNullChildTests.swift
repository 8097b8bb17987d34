import CloudSyncSQLite
import CloudSyncTestSupport
import Testing

/// Rows that have one unique value become one while others must refer to one of them.
@Suite("Unique keys: children whose reference is NOT NULL")
struct NotNullChildTests {
  private static let references = [
    "REFERENCES tags(id)", "REFERENCES tags(id) ON DELETE CASCADE",
    "REFERENCES tags(id) ON UPDATE CASCADE ON DELETE CASCADE",
    "REFERENCES tags(id) ON DELETE RESTRICT",
    "REFERENCES tags(id) DEFERRABLE INITIALLY DEFERRED", "",
  ]
  private static let orders = ["bab", "ab", "ba", "bacb", "bcacb", "cbab"]

  private func devices(
    _ schema: String,
    _ tables: [String],
    merging table: String
  ) throws -> (SyncHarness, [Character: SyncHarness.Device]) {
    let bench = SyncHarness()
    var options = SyncEngineOptions()
    options.tables[table] = SyncEngineOptions.Table()
    options.tables[table]?.uniqueKeys = .merge
    var devices: [Character: SyncHarness.Device] = [:]
    for name in ["a", "b", "c"] {
      let device = try bench.device(name, schema, tables: tables, options: options)
      devices[Character(name)] = device
      try bench.sync(device)
    }
    return (bench, devices)
  }

  /// Syncs in an order, and then all until nothing is left, and expects one query to give the same everywhere.
  private func expectEqual(
    _ bench: SyncHarness,
    _ devices: [Character: SyncHarness.Device],
    order: String,
    _ query: String,
    _ wanted: [String]
  ) throws {
    for name in order { try bench.sync(try #require(devices[name])) }
    for _ in 0..<2 { for name in "abc" { try bench.sync(try #require(devices[name])) } }
    for (name, device) in devices {
      #expect(try device.lines(query) == wanted, "\(name), \(order)")
      #expect(try bench.unclean(device) == [], "\(name), \(order)")
    }
  }

  @Test(
    "Tags of one name become one, and their uses stay",
    arguments: SuiteSize.pairs(2, references, orders)
  )
  func tags(reference: String, order: String) throws {
    let (bench, devices) = try devices(
      """
      CREATE TABLE tags(id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL DEFAULT '' UNIQUE);
      CREATE TABLE uses(id TEXT PRIMARY KEY NOT NULL, tag TEXT NOT NULL DEFAULT '' \(reference))
      """,
      ["tags", "uses"],
      merging: "tags"
    )
    try devices["a"]?.execute("INSERT INTO tags VALUES('a0', 'red')", at: 10)
    try devices["b"]?
      .execute(
        "INSERT INTO tags VALUES('b0', 'red'); INSERT INTO uses VALUES('u', 'b0')",
        at: 20
      )

    try expectEqual(
      bench,
      devices,
      order: order,
      "SELECT tags.id, name, uses.id, tag FROM tags JOIN uses",
      reference.isEmpty ? ["'a0'|'red'|'u'|'b0'"] : ["'a0'|'red'|'u'|'a0'"]
    )
  }

  @Test(
    "Folders of one name and one parent become one, and what is in them stays",
    arguments: SuiteSize.some(2, of: orders)
  )
  func folders(order: String) throws {
    let (bench, devices) = try devices(
      """
      CREATE TABLE folders(
        id TEXT PRIMARY KEY NOT NULL,
        parent TEXT NOT NULL DEFAULT 'root' REFERENCES folders(id) ON DELETE CASCADE,
        name TEXT NOT NULL DEFAULT '', UNIQUE(parent, name));
      INSERT INTO folders VALUES('root', 'root', '')
      """,
      ["folders"],
      merging: "folders"
    )
    try devices["a"]?.execute("INSERT INTO folders VALUES('a0', 'root', 'x')", at: 10)
    try devices["b"]?
      .execute(
        "INSERT INTO folders VALUES('b0', 'root', 'x'), ('b1', 'b0', 'y'), ('b2', 'b1', 'z')",
        at: 20
      )

    try expectEqual(
      bench,
      devices,
      order: order,
      "SELECT id, parent FROM folders ORDER BY id",
      ["'a0'|'root'", "'b1'|'a0'", "'b2'|'b1'", "'root'|'root'"]
    )
  }
}

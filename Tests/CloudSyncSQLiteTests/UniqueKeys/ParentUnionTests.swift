import CloudSyncSQLite
import Testing

/// A row and its own parent get one unique value on two devices, and become one row.
@Suite("Unique keys: a row that becomes one with its parent")
struct ParentUnionTests {
  @Test(
    "It refers to what either referred to besides, and its children go along",
    arguments: [("a", "b"), ("y", "x")],
    ["mac phone mac phone", "phone mac phone mac"]
  )
  func parentAndChild(_ names: (parent: String, child: String), _ order: String) throws {
    var options = SyncEngineOptions()
    options.defaultTable.uniqueKeys = .merge
    let schema =
      "CREATE TABLE f(id TEXT PRIMARY KEY NOT NULL, p TEXT REFERENCES f(id) ON DELETE CASCADE, name TEXT UNIQUE)"
    let (bench, mac, phone) = try SyncHarness.pair(schema, tables: ["f"], options: options)
    let (parent, child) = names
    try mac.execute(
      """
      INSERT INTO f VALUES('root', NULL, 'Home'), ('\(parent)', 'root', 'A'), ('\(child)', 'root', 'B');
      INSERT INTO f VALUES('c', '\(child)', 'C')
      """
    )
    try bench.sync(mac, phone)
    try phone.execute("UPDATE f SET p = '\(parent)' WHERE id = '\(child)'")
    try bench.sync(phone, mac)
    try mac.execute("UPDATE f SET name = 'Same' WHERE id = '\(parent)'")
    try phone.execute("UPDATE f SET name = 'Same' WHERE id = '\(child)'")
    for name in order.split(separator: " ") { try bench.sync(name == "mac" ? mac : phone) }
    try bench.sync(mac, phone)

    let rows = try mac.lines("SELECT * FROM f ORDER BY name")
    #expect(try phone.lines("SELECT * FROM f ORDER BY name") == rows)
    let reachable = """
      WITH RECURSIVE tree(id) AS (
        SELECT id FROM f WHERE p IS NULL UNION SELECT f.id FROM f JOIN tree ON f.p = tree.id)
      SELECT count(*) FROM tree
      """
    for device in [mac, phone] {
      #expect(try device.lines("SELECT count(*) FROM f") == ["3"])
      #expect(try device.lines(reachable) == ["3"], "\(rows)")
      #expect(try bench.unclean(device) == [])
    }
  }
}

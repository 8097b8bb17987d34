import CloudSyncSQLite
import CloudSyncTestSupport
import Testing

/// Rows that have lost their keys to others, and that refer to rows which somebody has deleted meanwhile.
@Suite("Parents of rows that are in no table because others have their keys")
struct DisplacedChildTests {
  private static let start: Int64 = 1_700_000_000_000

  private func bench(_ reference: String) throws -> (SyncHarness, [SyncHarness.Device]) {
    let bench = SyncHarness()
    let schema = """
      CREATE TABLE parents(id TEXT PRIMARY KEY NOT NULL, u TEXT UNIQUE, t TEXT);
      CREATE TABLE p(id TEXT PRIMARY KEY NOT NULL, t TEXT, parent TEXT \(reference))
      """
    var options = SyncEngineOptions()
    options.defaultTable.uniqueKeys = .newest
    let devices = try ["mac", "phone"]
      .map { try bench.device($0, schema, tables: ["parents", "p"], options: options) }
    return (bench, devices)
  }

  /// Has the phone make a row with a parent and give it a key, and then the mac rows of its own with both keys, of which it
  /// deletes the parent.
  private func meet(
    _ reference: String,
    value: String
  ) throws -> (SyncHarness, [SyncHarness.Device]) {
    let (bench, devices) = try bench(reference)
    for device in devices { try bench.sync(device) }
    try devices[1]
      .execute(
        "INSERT INTO p VALUES('h', 'of the phone', NULL); UPDATE p SET id = 'k' WHERE id = 'h'",
        at: Self.start
      )
    try devices[1]
      .execute(
        "INSERT INTO parents VALUES('f', 'v', 'of the phone'); UPDATE p SET parent = '\(value)'",
        at: Self.start + 60_000
      )
    try devices[0]
      .execute("INSERT INTO p VALUES('k', 'of the mac', NULL)", at: Self.start + 120_000)
    try devices[0]
      .execute("INSERT INTO parents VALUES('f', 'w', 'of the mac')", at: Self.start + 180_000)
    try devices[0].execute("DELETE FROM parents", at: Self.start + 240_000)
    return (bench, devices)
  }

  @Test(
    "One that has gone back to its former key has its parent back, as any row has",
    arguments: SuiteSize.pairs(2, ["parents(id)", "parents(u)"], [true, false])
  )
  func parent(column: String, isFirst: Bool) throws {
    let (bench, devices) = try meet(
      "REFERENCES \(column)",
      value: column.contains("id") ? "f" : "v"
    )
    for device in (isFirst ? devices : devices.reversed()) + devices + devices {
      try bench.sync(device)
    }
    for device in devices {
      #expect(
        try device.lines("SELECT p.id, p.t, parents.t FROM p LEFT JOIN parents ORDER BY 1") == [
          "'h'|'of the phone'|'of the phone'", "'k'|'of the mac'|'of the phone'",
        ],
        "\(device.name)"
      )
      #expect(try bench.unclean(device) == [], "\(device.name)")
    }
  }

  @Test(
    "Children of one that goes back to its former key follow on the device that has it go back, with no other's help"
  )
  func children() throws {
    let bench = SyncHarness()
    let schema = """
      CREATE TABLE p(id TEXT PRIMARY KEY NOT NULL, t TEXT);
      CREATE TABLE c(id TEXT PRIMARY KEY NOT NULL, p TEXT REFERENCES p(id) ON UPDATE CASCADE)
      """
    let devices = try ["mac", "phone"].map { try bench.device($0, schema, tables: ["p", "c"]) }
    for device in devices { try bench.sync(device) }
    try devices[1]
      .execute(
        "INSERT INTO p VALUES('h', 'of the phone'); UPDATE p SET id = 'k'; INSERT INTO c VALUES('1', 'k')",
        at: Self.start
      )
    try devices[0].execute("INSERT INTO p VALUES('k', 'of the mac')", at: Self.start + 60_000)
    try bench.sync(devices[0])
    devices[0].engine.stop()
    try bench.sync(devices[1], devices[1])
    let owners = "SELECT c.id, c.p, p.t FROM c LEFT JOIN p ON p.id = c.p"
    #expect(try devices[1].lines(owners) == ["'1'|'h'|'of the phone'"])
    try bench.sync(devices[0], devices[1])
    for device in devices {
      #expect(try device.lines(owners) == ["'1'|'h'|'of the phone'"], "\(device.name)")
      #expect(try bench.unclean(device) == [], "\(device.name)")
    }
  }
}

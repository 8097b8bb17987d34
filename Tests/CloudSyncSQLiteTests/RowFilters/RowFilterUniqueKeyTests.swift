import CloudSyncCore
import CloudSyncSQLite
import CloudSyncTestSupport
import Testing

@Suite("Unique keys of rows that stay on a device")
struct RowFilterUniqueKeyTests {
  private static let schema = """
    CREATE TABLE tags(
      id TEXT PRIMARY KEY NOT NULL, name TEXT UNIQUE, color TEXT, private INTEGER NOT NULL DEFAULT 0
    )
    """

  private func pair(
    _ policy: UniqueKeyPolicy
  ) throws -> (SyncHarness, mac: SyncHarness.Device, phone: SyncHarness.Device) {
    var options = RowFilterTests.options(of: "tags")
    options.tables["tags"]?.uniqueKeys = policy
    return try SyncHarness.pair(Self.schema, tables: ["tags"], options: options)
  }

  private static let policies: [UniqueKeyPolicy] = [
    .newest, .merge,
    .rename { conflict in
      guard case .string(let name)? = conflict.values.first else { return nil }
      return [.string("\(name) \(conflict.attempt)")]
    },
  ]

  @Test(
    "No policy sends what is to stay here, or takes from others what they have",
    arguments: SuiteSize.pairs(2, Array(policies.indices), ["a", "z"])
  )
  func staysHere(policy: Int, key: String) throws {
    let (bench, mac, phone) = try pair(Self.policies[policy])
    try mac.execute("INSERT INTO tags VALUES('\(key)', 'work', 'secret', 1)", at: 9)
    try bench.sync(mac)
    try phone.execute("INSERT INTO tags VALUES('m', 'work', 'red', 0)", at: 5)
    try bench.sync(phone, mac, phone, mac)
    #expect(try phone.lines("SELECT * FROM tags") == ["'m'|'work'|'red'|0"])
    #expect(try bench.cloudNames() == ["m:tags"])
    // The newer one has the name here, and the other one is kept for when it is free.
    #expect(try mac.lines("SELECT id FROM tags") == ["'\(key)'"])
    #expect(
      try mac.lines("SELECT record_name, status FROM cloudsync_status ORDER BY 2") == [
        "'\(key):tags'|'local'", "'m:tags'|'parked'",
      ]
    )
    try mac.execute("DELETE FROM tags", at: 10)
    try bench.sync(mac, phone)
    #expect(try mac.lines("SELECT * FROM tags") == ["'m'|'work'|'red'|0"])
    #expect(try bench.unclean(mac) == [])
  }

  @Test("Once the row matches the policy settles it as everywhere")
  func matchesLater() throws {
    let (bench, mac, phone) = try pair(.merge)
    try mac.execute("INSERT INTO tags VALUES('a', 'work', 'blue', 1)", at: 9)
    try bench.sync(mac)
    try phone.execute("INSERT INTO tags VALUES('m', 'work', 'red', 0)", at: 5)
    try bench.sync(phone, mac)
    try mac.execute("UPDATE tags SET private = 0", at: 10)
    try bench.sync(mac, phone, mac)
    for device in [mac, phone] {
      #expect(try device.lines("SELECT * FROM tags") == ["'a'|'work'|'blue'|0"])
      #expect(try bench.unclean(device) == [])
    }
  }
}

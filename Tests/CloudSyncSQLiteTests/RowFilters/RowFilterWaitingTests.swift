import CloudSyncCore
import CloudSyncSQLite
import CloudSyncTestSupport
import Testing

@Suite("Rows of others whose parents were deleted on a device alone")
struct RowFilterWaitingTests {
  private static let tables = ["lists", "notes"]

  /// Lists of which the mac sends some, and notes that refer to them.
  private func pair(
    _ reference: String
  ) throws -> (SyncHarness, mac: SyncHarness.Device, phone: SyncHarness.Device) {
    let bench = SyncHarness()
    let schema = """
      CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL, code TEXT UNIQUE, private INTEGER NOT NULL DEFAULT 0);
      CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, list TEXT \(reference));
      """
    return (
      bench, try bench.device("mac", schema, tables: Self.tables, options: Self.options()),
      try bench.device("phone", schema, tables: Self.tables, options: Self.options(nil))
    )
  }

  private static func options(_ filter: String? = "private = 0") -> SyncEngineOptions {
    var options = RowFilterTests.options(filter, of: "lists")
    options.tables["lists"]?.uniqueKeys = .newest
    return options
  }

  @Test(
    "A row that is added elsewhere to a row which was deleted here alone waits, and nothing of that is sent",
    arguments: SuiteSize.pairs(
      2,
      [
        "REFERENCES lists(id) ON DELETE CASCADE", "REFERENCES lists(id) ON DELETE SET NULL",
        "REFERENCES lists(code) ON DELETE CASCADE", "REFERENCES lists(code) ON DELETE SET NULL",
      ],
      [true, false]
    )
  )
  func waits(reference: String, reads: Bool) throws {
    let (bench, mac, phone) = try pair(reference)
    try mac.execute("INSERT INTO lists VALUES('l', 'l', 0), ('m', 'm', 0)", at: 1)
    try bench.sync(mac, phone)
    try mac.execute("UPDATE lists SET private = 1; DELETE FROM lists WHERE id = 'l'", at: 2)
    if reads { try bench.sync(mac) }
    try phone.execute("INSERT INTO notes VALUES('p', 'l')", at: 3)
    try bench.sync(phone, mac, phone, mac)
    #expect(try phone.lines("SELECT * FROM notes") == ["'p'|'l'"])
    #expect(try mac.lines("SELECT * FROM notes") == [])
    // It is kept up to date meanwhile.
    try phone.execute(
      "INSERT INTO notes VALUES('q', 'l'); UPDATE notes SET id = 'r' WHERE id = 'p'",
      at: 4
    )
    try bench.sync(phone, mac, phone)
    #expect(try phone.lines("SELECT * FROM notes ORDER BY id") == ["'q'|'l'", "'r'|'l'"])
    // All come when everything is sent again.
    try bench.restart(mac, Self.tables, Self.options(nil))
    try bench.sync(mac, phone, mac)
    for device in [mac, phone] {
      #expect(try device.lines("SELECT * FROM notes ORDER BY id") == ["'q'|'l'", "'r'|'l'"])
      #expect(try device.lines("SELECT id FROM lists ORDER BY id") == ["'l'", "'m'"])
      #expect(try bench.unclean(device) == [])
    }
  }

  @Test("A parent that is deleted elsewhere afterwards takes along those that waited for it here")
  func deletedElsewhere() throws {
    let (bench, mac, phone) = try pair("REFERENCES lists(id) ON DELETE CASCADE")
    try mac.execute("INSERT INTO lists VALUES('l', 'l', 0)", at: 1)
    try bench.sync(mac, phone)
    try mac.execute("UPDATE lists SET private = 1; DELETE FROM lists", at: 2)
    try bench.sync(mac)
    try phone.execute("INSERT INTO notes VALUES('p', 'l')", at: 3)
    try bench.sync(phone, mac)
    #expect(
      try mac.lines("SELECT record_name FROM cloudsync_pending WHERE waits_for IS NOT NULL") == [
        "'p:notes'"
      ]
    )
    try phone.execute("DELETE FROM lists", at: 4)
    try bench.sync(phone, mac, phone, mac)
    #expect(
      try mac.lines("SELECT record_name FROM cloudsync_pending WHERE waits_for IS NOT NULL") == []
    )
    #expect(try bench.cloudNames() == [])
  }

  @Test("A deletion that was meant for this device stays so when another table's filter is removed")
  func otherFilterRemoved() throws {
    let schema = """
      CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL, private INTEGER);
      CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, list TEXT REFERENCES lists(id) ON DELETE CASCADE);
      CREATE TABLE others(id TEXT PRIMARY KEY NOT NULL, private INTEGER)
      """
    let tables = ["lists", "notes", "others"]
    var options = RowFilterTests.options(of: "lists")
    options.tables["others"] = options.tables["lists"]
    let (bench, mac, phone) = try SyncHarness.pair(schema, tables: tables, options: options)
    try mac.execute(
      """
      INSERT INTO lists VALUES('l', 0); INSERT INTO notes VALUES('n', 'l');
      INSERT INTO others VALUES('o', 0)
      """,
      at: 1
    )
    try bench.sync(mac, phone)
    try mac.execute("UPDATE lists SET private = 1; UPDATE others SET private = 1", at: 2)
    try mac.execute("DELETE FROM lists; DELETE FROM others", at: 3)
    try bench.sync(mac, phone)
    options.tables["others"] = nil
    try bench.restart(mac, tables, options)
    try bench.sync(mac, phone, mac)
    #expect(try mac.lines("SELECT id FROM others") == ["'o'"])
    #expect(try mac.lines("SELECT id FROM notes") == [])
    #expect(
      try mac.lines("SELECT record_name FROM cloudsync_pending WHERE waits_for IS NOT NULL") == []
    )
    #expect(try phone.lines("SELECT id FROM notes") == ["'n'"])
  }
}

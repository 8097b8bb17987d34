import CloudSyncSQLite
import CloudSyncSimulator
import CloudSyncTestSupport
import Testing

@Suite("What is known of the rows of a table that gets another key")
struct AnotherKeyTests {
  private static let schema =
    "CREATE TABLE notes(id TEXT NOT NULL PRIMARY KEY, region TEXT NOT NULL DEFAULT 'eu', title TEXT, n INTEGER)"
  private static let query = "SELECT id, region, title, n FROM notes ORDER BY id COLLATE BINARY"

  /// What the key of the table becomes.
  enum Change: String, CaseIterable {
    case nocase =
      "id TEXT NOT NULL COLLATE NOCASE PRIMARY KEY, region TEXT NOT NULL DEFAULT 'eu'"
    case secondColumn =
      "id TEXT NOT NULL, region TEXT NOT NULL DEFAULT 'eu', PRIMARY KEY(id, region)"
    case otherOrder =
      "id TEXT NOT NULL, region TEXT NOT NULL DEFAULT 'eu', PRIMARY KEY(region, id)"

    /// The migration of a table.
    var sql: String {
      let parts = rawValue.split(separator: ", PRIMARY")
      let key = parts.count > 1 ? ", PRIMARY\(parts[1])" : ""
      return """
        CREATE TABLE fresh(\(parts[0]), title TEXT, n INTEGER\(key));
        INSERT INTO fresh SELECT id, region, title, n FROM notes;
        DROP TABLE notes; ALTER TABLE fresh RENAME TO notes
        """
    }
  }

  private let bench = SyncHarness()
  private let mac: SyncHarness.Device
  private let phone: SyncHarness.Device
  private let options: SyncEngineOptions

  init() throws {
    var options = SyncEngineOptions()
    options.defaultTable.merging.columns["n"] = .counter
    let bench = bench
    let device = { (name: String) in
      try bench.device(name, Self.schema, tables: ["notes"], options: options)
    }
    self.options = options
    (mac, phone) = (try device("mac"), try device("phone"))
    try mac.execute(
      "INSERT INTO notes VALUES('a', 'eu', 'A', 1), ('B', 'us', 'B', 2), ('c', 'as', 'C', 3)",
      at: 1_000
    )
    try bench.sync(mac, phone)
  }

  private func migrate(_ devices: SyncHarness.Device..., to change: Change) throws {
    for device in devices { try bench.restart(device, ["notes"], options, after: change.sql) }
  }

  private func expect(_ rows: [String]) throws {
    for _ in 0..<2 { try bench.sync(mac, phone) }
    for device in [mac, phone] {
      #expect(try device.lines(Self.query) == rows, "\(device.name)")
      #expect(try bench.unclean(device) == [], "\(device.name)")
    }
  }

  @Test(
    "An edit that was sent under the former key meets the rows of who has migrated before",
    arguments: SuiteSize.some(2, of: Change.allCases)
  )
  func sentBefore(change: Change) throws {
    try phone.execute("UPDATE notes SET title = 'A2', n = n + 10 WHERE id = 'a'", at: 2_000)
    try phone.execute("UPDATE notes SET title = 'B2' WHERE id = 'B'")
    try bench.sync(phone)
    try migrate(mac, to: change)
    try bench.sync(mac)
    try mac.execute("UPDATE notes SET n = n + 100 WHERE id = 'B'", at: 3_000)
    try bench.sync(mac)
    try migrate(phone, to: change)

    try expect(["'B'|'us'|'B2'|102", "'a'|'eu'|'A2'|11", "'c'|'as'|'C'|3"])
  }

  @Test(
    "An edit between the migration and the first sync after it stays, whatever others had sent",
    arguments: SuiteSize.some(2, of: Change.allCases)
  )
  func editedAfter(change: Change) throws {
    try phone.execute("UPDATE notes SET title = 'old' WHERE id = 'c'", at: 2_000)
    try bench.sync(phone)
    try migrate(mac, to: change)
    try mac.execute("UPDATE notes SET title = 'new', n = n + 5 WHERE id = 'c'", at: 3_000)
    try migrate(phone, to: change)

    try expect(["'B'|'us'|'B'|2", "'a'|'eu'|'A'|1", "'c'|'as'|'new'|8"])
  }

  @Test(
    "An edit and a deletion that were not sent before are sent after",
    arguments: SuiteSize.some(2, of: Change.allCases)
  )
  func notSent(change: Change) throws {
    try mac.execute("UPDATE notes SET title = 'A2' WHERE id = 'a'", at: 2_000)
    try mac.execute("DELETE FROM notes WHERE id = 'c'")
    try migrate(mac, phone, to: change)

    let rows = ["'B'|'us'|'B'|2", "'a'|'eu'|'A2'|1"]
    // By the new key nobody can tell which row the former key was of, if that has a column more.
    try expect(change == .nocase ? rows : rows + ["'c'|'as'|'C'|3"])
  }

  @Test(
    "A deletion that was sent before the others have migrated stays",
    arguments: SuiteSize.some(2, of: Change.allCases)
  )
  func deletedBefore(change: Change) throws {
    try mac.execute("DELETE FROM notes WHERE id = 'c'", at: 2_000)
    try bench.sync(mac, phone)
    try migrate(mac, phone, to: change)

    try expect(["'B'|'us'|'B'|2", "'a'|'eu'|'A'|1"])
  }

  @Test(
    "What the migration itself sets outranks what was known before, and no edit",
    arguments: SuiteSize.pairs(2, Change.allCases, [true, false])
  )
  func setByMigration(change: Change, isFirst: Bool) throws {
    let sql = "\(change.sql); UPDATE notes SET title = title || '!' WHERE id <> 'c'"
    try bench.restart(mac, ["notes"], options, after: sql)
    try phone.execute("UPDATE notes SET title = 'A2' WHERE id = 'a'", at: 2_000)
    try migrate(phone, to: change)
    if isFirst { try bench.sync(mac, phone) } else { try bench.sync(phone, mac) }

    for _ in 0..<2 { try bench.sync(mac, phone) }
    let query = "SELECT id, title FROM notes ORDER BY id COLLATE BINARY"
    #expect(try phone.lines(query) == mac.lines(query))
    #expect(try mac.lines(query).first == "'B'|'B!'")
    // With a collation the record is the same one still, and what was set unseen is as late as it was found.
    if change != .nocase { #expect(try mac.lines(query)[1] == "'a'|'A2'") }
    #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [])
  }

  @Test("A row that the migration deletes is deleted, if its key has a name still")
  func deletedByMigration() throws {
    let sql = "DELETE FROM notes WHERE id = 'c'; \(Change.nocase.sql)"
    try bench.restart(mac, ["notes"], options, after: "DROP TRIGGER IF EXISTS none; \(sql)")
    try migrate(phone, to: .nocase)

    try expect(["'B'|'us'|'B'|2", "'a'|'eu'|'A'|1"])
  }

  @Test("A collation is given and taken again", arguments: [true, false])
  func back(isSentBetween: Bool) throws {
    try migrate(mac, phone, to: .nocase)
    try mac.execute("UPDATE notes SET title = 'B2' WHERE id = 'b'", at: 2_000)
    if isSentBetween { try bench.sync(mac, phone) }
    let sql = Change.nocase.sql.replacing(" COLLATE NOCASE", with: "")
    for device in [mac, phone] { try bench.restart(device, ["notes"], options, after: sql) }
    try phone.execute("UPDATE notes SET n = n + 1 WHERE id = 'B'", at: 3_000)

    try expect(["'B'|'us'|'B2'|3", "'a'|'eu'|'A'|1", "'c'|'as'|'C'|3"])
  }
}

import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSimulator
import CloudSyncTestSupport
import Testing

@Suite("Work that grows with what is touched, not with what is there")
struct ProportionalWorkTests {
  /// The steps that a row takes which comes from another device, where so many others are there.
  private func steps(
    _ schema: String,
    _ tables: [String],
    count: Int,
    before: (SyncHarness, SyncHarness.Device, SyncHarness.Device) throws -> Void,
    edit: String
  ) throws -> Int {
    let bench = SyncHarness()
    var options = SyncEngineOptions()
    options.defaultTable.uniqueKeys = .newest
    let mac = try bench.device(
      "mac",
      schema,
      tables: tables,
      options: options,
      enforcesForeignKeys: false
    )
    let phone = try bench.device("phone", schema, tables: tables, options: options)
    try before(bench, mac, phone)
    try bench.sync(mac, phone)
    try bench.sync(mac, phone)
    try mac.execute(edit, at: 5_000_000)
    try bench.sync(mac)
    return try StatementSteps.count(of: { try phone.database.write($0) }) { try bench.sync(phone) }
  }

  private func expectFlat(_ steps: (Int) throws -> Int) throws {
    let count = SuiteSize.count(100, long: 200)
    let (few, many) = (try steps(20), try steps(count))
    #expect(few > 0)
    #expect(many < few * 2, "\(few) tens of steps with 20 rows, \(many) with \(count)")
  }

  private static func rows(_ count: Int, _ row: (Int) -> String) -> String {
    (0..<count).map(row).joined(separator: ", ")
  }

  @Test("Rows whose values others hold are tried again when those are touched, and no more")
  func heldRows() throws {
    try expectFlat { count in
      try steps(
        "CREATE TABLE tags(id TEXT PRIMARY KEY NOT NULL, name TEXT UNIQUE)",
        ["tags"],
        count: count,
        before: { bench, mac, phone in
          let rows = Self.rows(count) { "('m\($0)', 'n\($0)')" }
          try mac.execute("INSERT INTO tags VALUES('x', 'X'), \(rows)", at: 1_000)
          let others = Self.rows(count) { "('p\($0)', 'n\($0)')" }
          try phone.execute("INSERT INTO tags VALUES\(others)", at: 2_000)
          try bench.sync(mac, phone)
          #expect(try bench.unclean(phone).count == count)
        },
        edit: "UPDATE tags SET name = 'Y' WHERE id = 'x'"
      )
    }
  }

  @Test("Nobody looks through tables for rows that refer to nobody while there are none")
  func danglingRows() throws {
    try expectFlat { count in
      try steps(
        """
        CREATE TABLE people(id TEXT PRIMARY KEY NOT NULL, mail TEXT UNIQUE);
        CREATE TABLE notes(
          id TEXT PRIMARY KEY NOT NULL, mail TEXT REFERENCES people(mail) ON UPDATE CASCADE
        );
        CREATE INDEX mails ON notes(mail);
        """,
        ["people", "notes"],
        count: count,
        before: { _, mac, phone in
          try mac.execute("INSERT INTO people VALUES('p', 'm'), ('q', 'n')", at: 1_000)
          let rows = Self.rows(count) { "('n\($0)', 'm')" }
          try mac.execute("INSERT INTO notes VALUES\(rows), ('z', 'n')", at: 1_000)
        },
        edit: "UPDATE people SET mail = 'o' WHERE id = 'q'"
      )
    }
  }

  @Test("Keys that change are not looked for among all rows that are refused")
  func takenKeys() throws {
    try expectFlat { count in
      try steps(
        """
        CREATE TABLE people(id TEXT PRIMARY KEY NOT NULL, mail TEXT UNIQUE);
        CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, mail TEXT REFERENCES people(mail));
        """,
        ["people", "notes"],
        count: count,
        before: { bench, mac, phone in
          let rows = Self.rows(count) { "('m\($0)', 'n\($0)')" }
          try mac.execute("INSERT INTO people VALUES('x', 'X'), \(rows)", at: 1_000)
          try mac.execute("INSERT INTO notes VALUES('a', 'X')", at: 1_000)
          let others = Self.rows(count) { "('p\($0)', 'n\($0)')" }
          try phone.execute("INSERT INTO people VALUES\(others)", at: 2_000)
          try bench.sync(mac, phone)
        },
        edit: "UPDATE people SET mail = 'Y' WHERE id = 'x'"
      )
    }
  }
}

import CloudSyncSQLite
import CloudSyncSQLiteSupport
import Testing

@Suite("Rows that referred to nobody before anything was synchronized")
struct FoundDanglingRowTests {
  private static let schema = """
    CREATE TABLE p(id TEXT PRIMARY KEY NOT NULL, code TEXT NOT NULL DEFAULT '' UNIQUE);
    CREATE TABLE c(id TEXT PRIMARY KEY NOT NULL, p TEXT REFERENCES p(id), t TEXT,
      code TEXT REFERENCES p(code));
    """
  private static let all = "SELECT * FROM c ORDER BY id"

  private func devices(_ count: Int, found: String) throws -> (SyncHarness, [SyncHarness.Device]) {
    let bench = SyncHarness()
    var options = SyncEngineOptions()
    options.defaultTable.uniqueKeys = .newest
    let devices = try (0..<count)
      .map { number in
        // The app had no foreign keys enforced when it made them.
        try bench.device(
          "\(number)",
          Self.schema
            + (number == 2 ? "" : "PRAGMA foreign_keys = OFF; \(found); PRAGMA foreign_keys = ON"),
          tables: ["p", "c"],
          options: options
        )
      }
    return (bench, devices)
  }

  @Test(
    "Copies that have such a row stay in step; one that never had it lists what it waits for",
    arguments: [
      "INSERT INTO c VALUES('c1', '', 't', NULL)", "INSERT INTO c VALUES('c1', NULL, 't', 'x')",
    ]
  )
  func copies(found: String) throws {
    let (bench, devices) = try devices(3, found: found)
    try bench.sync(devices[0], devices[1], devices[2])
    for device in devices.prefix(2) { #expect(try bench.unclean(device) == [], "\(device.name)") }
    try devices[1].execute("UPDATE c SET t = 'edited'")
    try bench.sync(devices[1], devices[0], devices[2])
    let rows = try devices[1].lines(Self.all)
    #expect(rows.count == 1 && rows[0].contains("edited"))
    #expect(try devices[0].lines(Self.all) == rows)
    #expect(try devices[2].lines(Self.all) == [])
    #expect(try bench.unclean(devices[2]).count == 1)
    for device in devices.prefix(2) { #expect(try bench.unclean(device) == [], "\(device.name)") }
    // Whoever mends the reference has the row come everywhere.
    try devices[0].execute("UPDATE c SET p = NULL, code = NULL")
    try bench.sync(devices[0], devices[1], devices[2])
    for device in devices {
      #expect(try device.lines(Self.all) == ["'c1'|NULL|'edited'|NULL"], "\(device.name)")
      #expect(try bench.unclean(device) == [], "\(device.name)")
    }
  }

  @Test("A row that dangles and is given another parent that is not there waits for that")
  func otherParent() throws {
    let (bench, devices) = try devices(2, found: "INSERT INTO c VALUES('c1', '', 't', NULL)")
    try bench.sync(devices[0], devices[1])
    try devices[1]
      .execute(
        "PRAGMA foreign_keys = OFF; UPDATE c SET p = 'none'; PRAGMA foreign_keys = ON"
      )
    try bench.sync(devices[1], devices[0])
    #expect(try bench.unclean(devices[0]).count == 1)
    try devices[1].execute("INSERT INTO p VALUES('none', 'n')")
    try bench.sync(devices[1], devices[0])
    #expect(try devices[0].lines(Self.all) == ["'c1'|'none'|'t'|NULL"])
    #expect(try bench.unclean(devices[0]) == [])
  }

  @Test("The check names them, with what to do")
  func check() throws {
    let database = try DatabaseFile(path: ":memory:")
    try database.execute(
      Self.schema + "PRAGMA foreign_keys = OFF;"
        + """
        INSERT INTO p VALUES('a', 'A');
        INSERT INTO c VALUES('c1', '', 't', NULL), ('c2', 'a', 't', 'A'), ('c3', 'b', NULL, 'B')
        """
    )
    let found = try SyncEngine.danglingReferences(in: database, tables: ["p", "c"])
    #expect(
      found.map(\.description) == [
        "row 'c1' of c refers by p to no row of p", "row 'c3' of c refers by p to no row of p",
        "row 'c3' of c refers by code to no row of p",
      ]
    )
    // Of a table that is not synchronized nothing is asked.
    #expect(try SyncEngine.danglingReferences(in: database, tables: ["p"]) == [])
  }
}

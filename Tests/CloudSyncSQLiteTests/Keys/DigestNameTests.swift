import CloudSyncSQLite
import CloudSyncSimulator
import CloudSyncTestSupport
import Testing

@Suite("Rows whose records' names tell their keys at times, and at others their digests")
struct DigestNameTests {
  private static let start: Int64 = 1_700_000_000_000
  private static let long = "notes_of_a_table_with_a_longer_name"

  private static func key(_ letter: String, _ count: Int) -> String {
    "printf('%.*c', \(count), '\(letter)')"
  }

  private func schema(_ name: String) -> String {
    """
    CREATE TABLE "\(name)"(id TEXT PRIMARY KEY NOT NULL, v TEXT, w TEXT);
    CREATE TABLE marks(id TEXT PRIMARY KEY NOT NULL, k REFERENCES "\(name)" ON UPDATE CASCADE)
    """
  }

  private func check(_ bench: SyncHarness, _ devices: [SyncHarness.Device], _ sql: String) throws {
    for device in devices + devices { try bench.sync(device) }
    let rows = try devices[0].lines(sql)
    for device in devices {
      #expect(try device.lines(sql) == rows, "\(device.name)")
      #expect(try bench.unclean(device) == [], "\(device.name)")
    }
  }

  @Test(
    "A row that gets another key beside the renaming of its table stays one",
    arguments: SuiteSize.pairs(
      2,
      [("n", long), (long, "n")],
      [(215, 230), (230, 3), (3, 230), (240, 245)]
    )
  )
  func renamedTable(names: (String, String), counts: (Int, Int)) throws {
    let (former, name) = names
    let tables = [former, "marks"]
    let (bench, mac, phone) = try SyncHarness.pair(schema(former), tables: tables)
    let first = Self.key("x", counts.0)
    try mac.execute(
      "INSERT INTO \(former) VALUES(\(first), 'one', ''); INSERT INTO marks VALUES('m', \(first))",
      at: Self.start
    )
    try bench.sync(mac, phone)
    let migration = "ALTER TABLE \(former) RENAME TO \(name)"
    try bench.restart(phone, [name, "marks"], after: migration)
    try bench.sync(phone)
    try mac.execute("UPDATE \(former) SET id = \(Self.key("y", counts.1))", at: Self.start + 1_000)
    try bench.sync(mac)
    try phone.execute("UPDATE \(name) SET v = 'two'", at: Self.start + 2_000)
    try bench.restart(mac, [name, "marks"], after: migration)
    try mac.execute("UPDATE \(name) SET w = 'three'", at: Self.start + 3_000)
    try check(bench, [mac, phone], "SELECT n.*, m.id FROM \(name) n LEFT JOIN marks m ON k = n.id")
    #expect(
      try mac.lines("SELECT length(n.id), v, w, m.id FROM \(name) n JOIN marks m ON k = n.id")
        == ["\(counts.1)|'two'|'three'|'m'"]
    )
  }

  @Test(
    "What somebody has edited is not lost because it meets the end of the former key before the row's next record",
    arguments: [true, false]
  )
  func beforeArrival(goesOn: Bool) throws {
    let (bench, mac, phone) = try SyncHarness.pair(schema("notes"), tables: ["notes", "marks"])
    try mac.execute("INSERT INTO notes VALUES('a', 'one', '')", at: Self.start)
    try bench.sync(mac, phone)
    try mac.execute("UPDATE notes SET id = \(Self.key("x", 300))", at: Self.start + 1_000)
    try bench.sync(mac)
    if goesOn {
      try mac.execute("UPDATE notes SET id = \(Self.key("y", 300))", at: Self.start + 2_000)
      try bench.sync(mac)
    }
    try phone.execute("UPDATE notes SET v = 'two'", at: Self.start + 3_000)
    // Sends before it fetches, and is stopped in between.
    try phone.engine.start()
    phone.engine.sendChanges()
    bench.world.advance(by: .milliseconds(10))
    try bench.restart(phone, ["notes", "marks"])
    try check(bench, [phone, mac], "SELECT * FROM notes")

    let letter = goesOn ? "y" : "x"
    #expect(
      try mac.lines("SELECT length(id), substr(id, 1, 1), v FROM notes") == [
        "300|'\(letter)'|'two'"
      ]
    )
  }
}

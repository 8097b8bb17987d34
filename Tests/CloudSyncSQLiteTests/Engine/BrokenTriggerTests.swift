import CloudSyncSQLite
import CloudSyncSimulator
import Testing

@Suite("A trigger of the app's that is broken")
struct BrokenTriggerTests {
  private static let schema = """
    CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT);
    CREATE TABLE marks(id TEXT PRIMARY KEY NOT NULL, title TEXT);
    """
  private static let notes = "SELECT * FROM notes ORDER BY id"
  private static let marks = "SELECT * FROM marks ORDER BY id"

  @Test(
    "It parks the rows that call it, with the reason, and no others; they come when it is gone",
    arguments: [
      "INSERT INTO gone VALUES(new.id)", "SELECT nofunction(new.id)",
      "SELECT json_extract(new.title, '$.a')",
    ]
  )
  func parks(body: String) throws {
    let (bench, mac, phone) = try SyncHarness.pair(Self.schema, tables: ["notes", "marks"])
    try bench.sync(mac, phone)
    for event in ["INSERT", "UPDATE"] {
      try phone.execute("CREATE TRIGGER broken_\(event) AFTER \(event) ON notes BEGIN \(body); END")
    }
    try mac.execute("INSERT INTO notes VALUES('a', 'A'); INSERT INTO marks VALUES('m', 'M')")
    try bench.sync(mac, phone)
    #expect(phone.engine.isRunning)
    #expect(try phone.lines(Self.marks) == ["'m'|'M'"])
    #expect(try bench.unclean(phone).map { $0.hasPrefix("'a:notes'|'parked'") } == [true])

    let removal = "DROP TRIGGER broken_INSERT; DROP TRIGGER broken_UPDATE"
    try bench.restart(phone, ["notes", "marks"], after: removal)
    try bench.sync(phone, mac)
    #expect(try phone.lines(Self.notes) == ["'a'|'A'"])
    #expect(try bench.unclean(phone) == [])
  }

  @Test("An edit made while a row was refused stays when the row is stored after all")
  func editedMeanwhile() throws {
    let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT, body TEXT)"
    let (bench, mac, phone) = try SyncHarness.pair(schema, tables: ["notes"])
    try mac.execute("INSERT INTO notes VALUES('a', 'A', 'B')", at: 1_700_000_000_000)
    try bench.sync(mac, phone)
    try phone.execute(
      """
      CREATE TRIGGER strict BEFORE UPDATE ON notes WHEN new.title = 'bad'
      BEGIN SELECT RAISE(ABORT, 'no bad titles'); END
      """
    )
    try mac.execute("UPDATE notes SET title = 'bad'", at: 1_700_000_100_000)
    try bench.sync(mac, phone)
    #expect(try bench.unclean(phone).count == 1)

    phone.engine.stop()
    try phone.execute("UPDATE notes SET body = 'B2'", at: 1_700_000_200_000)
    try bench.restart(phone, ["notes"], after: "DROP TRIGGER strict")
    try bench.sync(phone, mac)
    for device in [mac, phone] {
      #expect(try device.lines(Self.notes) == ["'a'|'bad'|'B2'"])
      #expect(try bench.unclean(device) == [])
    }
  }
}

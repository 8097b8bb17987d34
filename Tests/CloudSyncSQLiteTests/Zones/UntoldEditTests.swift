import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSimulator
import Testing

@Suite("Edits that nobody captured, and no record tells of")
struct UntoldEditTests {
  private static let schema =
    "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT, body TEXT)"
  private static let query = "SELECT id, title, body FROM notes ORDER BY id"
  private static let rebuild = """
    CREATE TABLE fresh(id TEXT PRIMARY KEY NOT NULL, title TEXT, body TEXT);
    INSERT INTO fresh SELECT * FROM notes; DROP TABLE notes; ALTER TABLE fresh RENAME TO notes;
    """

  @Test(
    "An edit after a rebuild outranks what others have, though the zone was lost meanwhile",
    arguments: [false, true],
    [false, true]
  )
  func lostZone(isSeeded: Bool, isFirst: Bool) throws {
    let rows = "INSERT INTO notes VALUES('a', 'z old', 'z body'), ('b', 'z old', 'z body')"
    let (bench, mac, phone) = try SyncHarness.pair(
      isSeeded ? "\(Self.schema); \(rows)" : Self.schema,
      tables: ["notes"]
    )
    if !isSeeded { try mac.execute(rows) }
    for _ in 0..<2 { try bench.sync(mac, phone) }
    mac.engine.stop()
    phone.engine.stop()
    try phone.execute("UPDATE notes SET body = 'phone' WHERE id = 'a'")
    try mac.execute("\(Self.rebuild) UPDATE notes SET title = 'mac' WHERE id = 'a'")
    try bench.cloud.deleteZone(bench.zoneID, account: AccountIdentity("owner"), reason: .deleted)
    if !isFirst { try bench.sync(phone) }
    try bench.restart(mac, ["notes"])
    for _ in 0..<2 { try bench.sync(mac, phone) }

    for device in [mac, phone] {
      #expect(
        try device.lines(Self.query) == ["'a'|'mac'|'phone'", "'b'|'z old'|'z body'"],
        "\(device.name)"
      )
      #expect(try bench.unclean(device) == [])
    }
  }

  @Test(
    "Where both have rebuilt the table, and the zone was lost, neither version gets the time when it is found",
    arguments: [false, true]
  )
  func bothRebuilt(isFirst: Bool) throws {
    let (bench, mac, phone) = try SyncHarness.pair(Self.schema, tables: ["notes"])
    try mac.execute("INSERT INTO notes VALUES('a', 'z old', '1')")
    for _ in 0..<2 { try bench.sync(mac, phone) }
    mac.engine.stop()
    phone.engine.stop()
    let migration = """
      CREATE TABLE fresh(id TEXT PRIMARY KEY NOT NULL, title TEXT, body INTEGER);
      INSERT INTO fresh SELECT * FROM notes; DROP TABLE notes; ALTER TABLE fresh RENAME TO notes;
      """
    try bench.cloud.deleteZone(bench.zoneID, account: AccountIdentity("owner"), reason: .deleted)
    let edit = "UPDATE notes SET title = 'zz phone' WHERE id = 'a'"
    let order = isFirst ? [phone, mac] : [mac, phone]
    for device in order {
      let sql = device.name == "phone" ? migration + edit : migration
      try bench.restart(device, ["notes"], after: sql)
      try bench.sync(device)
    }
    for _ in 0..<2 { try bench.sync(mac, phone) }

    for device in [mac, phone] {
      #expect(try device.lines("SELECT title FROM notes") == ["'zz phone'"], "\(device.name)")
      #expect(try bench.unclean(device) == [])
    }
  }

  @Test(
    "An edit of a new column outranks the default that another version has given it",
    arguments: ["", "DEFAULT 'y'"]
  )
  func otherDefault(_ initial: String) throws {
    let (bench, mac, phone) = try SyncHarness.pair(Self.schema, tables: ["notes"])
    try mac.execute("INSERT INTO notes VALUES('a', 'A', NULL), ('b', 'B', NULL)")
    try bench.sync(mac, phone)
    try bench.restart(mac, ["notes"], after: "ALTER TABLE notes ADD COLUMN kind TEXT DEFAULT 'x'")
    try bench.sync(mac, phone)
    phone.engine.stop()
    try bench.restart(
      phone,
      ["notes"],
      after: """
        ALTER TABLE notes ADD COLUMN kind TEXT \(initial);
        UPDATE notes SET kind = 'phone' WHERE id = 'a'
        """
    )
    for _ in 0..<2 { try bench.sync(phone, mac) }

    for device in [mac, phone] {
      #expect(
        try device.lines("SELECT id, kind FROM notes ORDER BY id") == ["'a'|'phone'", "'b'|'x'"],
        "\(device.name)"
      )
      #expect(try bench.unclean(device) == [])
    }
  }

  @Test(
    "An edit of a table that was made anew under another name outranks what others had there",
    arguments: [false, true],
    [false, true]
  )
  func renamedByRebuild(isSeeded: Bool, isFirst: Bool) throws {
    let rows = "INSERT INTO notes VALUES('a', 'z old', 'body'), ('b', 'z old', 'body')"
    let (bench, mac, phone) = try SyncHarness.pair(
      isSeeded ? "\(Self.schema); \(rows)" : Self.schema,
      tables: ["notes"]
    )
    if !isSeeded { try phone.execute(rows) }
    for _ in 0..<2 { try bench.sync(phone, mac) }
    mac.engine.stop()
    phone.engine.stop()
    let migration = """
      CREATE TABLE cards(id TEXT PRIMARY KEY NOT NULL, title TEXT, body TEXT);
      INSERT INTO cards SELECT * FROM notes; DROP TABLE notes;
      """
    if !isFirst {
      try bench.restart(phone, ["cards"], after: migration)
      try bench.sync(phone)
    }
    try bench.restart(
      mac,
      ["cards"],
      after: migration + "UPDATE cards SET title = 'mac' WHERE id = 'a'"
    )
    try bench.sync(mac)
    if isFirst { try bench.restart(phone, ["cards"], after: migration) }
    for _ in 0..<2 { try bench.sync(phone, mac) }

    for device in [mac, phone] {
      #expect(
        try device.lines("SELECT * FROM cards ORDER BY id")
          == ["'a'|'mac'|'body'", "'b'|'z old'|'body'"],
        "\(device.name)"
      )
      #expect(try bench.unclean(device) == [])
    }
  }
}

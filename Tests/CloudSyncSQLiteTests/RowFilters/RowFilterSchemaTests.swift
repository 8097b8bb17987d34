import CloudSyncCore
import CloudSyncSQLite
import Testing

@Suite("Rows that stay on a device, and a schema that changes")
struct RowFilterSchemaTests {
  private static let schema = """
    CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL, private INTEGER NOT NULL DEFAULT 0);
    CREATE TABLE notes(
      id TEXT PRIMARY KEY NOT NULL, list TEXT REFERENCES lists(id) ON DELETE CASCADE, title TEXT
    );
    """
  private static let tables = ["lists", "notes"]

  private func pair() throws -> (SyncHarness, mac: SyncHarness.Device, phone: SyncHarness.Device) {
    let bench = SyncHarness()
    let options = RowFilterTests.options(of: "lists")
    return (
      bench, try bench.device("mac", Self.schema, tables: Self.tables, options: options),
      try bench.device("phone", Self.schema, tables: Self.tables)
    )
  }

  private static let withoutReference = """
    CREATE TABLE other(id TEXT PRIMARY KEY NOT NULL, list TEXT, title TEXT);
    INSERT INTO other SELECT * FROM notes;
    DROP TABLE notes;
    ALTER TABLE other RENAME TO notes
    """

  @Test("Rows go that stayed for others to which their table refers no more")
  func lostReference() throws {
    for keepsFilter in [true, false] {
      let (bench, mac, phone) = try pair()
      try mac.execute(
        "INSERT INTO lists VALUES('l', 1), ('m', 0); INSERT INTO notes VALUES('n', 'l', 'N')",
        at: 1
      )
      try bench.sync(mac, phone)
      #expect(try bench.cloudNames() == ["m:lists"])
      let tables = keepsFilter ? Self.tables : ["notes"]
      let options = keepsFilter ? RowFilterTests.options(of: "lists") : SyncEngineOptions()
      try bench.restart(mac, tables, options, after: Self.withoutReference)
      try bench.restart(phone, tables, after: Self.withoutReference)
      try bench.sync(mac, phone)
      #expect(try bench.cloudNames() == ["m:lists", "n:notes"])
      #expect(try phone.lines("SELECT * FROM notes") == ["'n'|'l'|'N'"])
      #expect(
        try mac.lines(
          "SELECT record_name FROM cloudsync_pending WHERE record_name LIKE '%:notes'"
        ) == []
      )
    }
  }

  @Test(
    "Deletions of before that stayed here do not travel when their table refers to nobody any more"
  )
  func lostReferenceOfDeleted() throws {
    let (bench, mac, phone) = try pair()
    try mac.execute(
      "INSERT INTO lists VALUES('l', 0); INSERT INTO notes VALUES('n', 'l', 'N')",
      at: 1
    )
    try bench.sync(mac, phone)
    try mac.execute("UPDATE lists SET private = 1", at: 2)
    try mac.execute("DELETE FROM lists", at: 3)
    try bench.sync(mac, phone)
    try bench.restart(
      mac,
      Self.tables,
      RowFilterTests.options(of: "lists"),
      after: Self.withoutReference
    )
    try bench.restart(phone, Self.tables, after: Self.withoutReference)
    try bench.sync(mac, phone, mac)
    for device in [mac, phone] {
      #expect(try device.lines("SELECT * FROM notes") == ["'n'|'l'|'N'"])
    }
    #expect(try mac.lines("SELECT id FROM lists") == [])
  }

  @Test("Rows that stayed for others go with them when the table of those has got another name")
  func renamedParents() throws {
    let (bench, mac, phone) = try pair()
    try mac.execute(
      "INSERT INTO lists VALUES('l', 1); INSERT INTO notes VALUES('n', 'l', 'N')",
      at: 1
    )
    try bench.sync(mac, phone)
    let rename = "ALTER TABLE lists RENAME TO folders"
    let tables = ["folders", "notes"]
    try bench.restart(mac, tables, RowFilterTests.options(of: "folders"), after: rename)
    try bench.restart(phone, tables, after: rename)
    try bench.sync(mac, phone)
    #expect(try bench.cloudNames() == [])
    try mac.execute("UPDATE folders SET private = 0", at: 2)
    try bench.sync(mac, phone)
    #expect(try phone.lines("SELECT * FROM notes") == ["'n'|'l'|'N'"])
    #expect(try bench.unclean(mac) == [])
  }

  @Test("Another key and no filter any more in the same version: everything is sent")
  func otherKey() throws {
    let (bench, mac, phone) = try RowFilterTests.pair()
    try mac.execute("INSERT INTO notes VALUES('a', 'A', '', 0), ('p', 'P', '', 1)", at: 1)
    try bench.sync(mac, phone)
    let migration = """
      CREATE TABLE other(
        id TEXT NOT NULL, title TEXT NOT NULL, body TEXT, private INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY(id, title)
      );
      INSERT INTO other SELECT * FROM notes;
      DROP TABLE notes;
      ALTER TABLE other RENAME TO notes
      """
    try bench.restart(mac, ["notes"], after: migration)
    try bench.restart(phone, ["notes"], after: migration)
    try bench.sync(mac, phone, mac)
    for device in [mac, phone] {
      #expect(
        try device.lines("SELECT id, title FROM notes ORDER BY id") == ["'a'|'A'", "'p'|'P'"]
      )
      #expect(try bench.unclean(device) == [])
    }
  }
}

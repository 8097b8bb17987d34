import CloudSyncSQLite
import CloudSyncTestSupport
import Testing

@Suite("Keys that rows of other devices refer to, and that change")
struct RenamedParentTests {
  private static let tables = ["lists", "notes"]

  private static func schema(_ actions: String) -> String {
    """
    CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL, title TEXT);
    CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, list TEXT REFERENCES lists(id) \(actions));
    """
  }

  private func devices(
    _ schema: String,
    _ enforced: [Bool],
    _ options: SyncEngineOptions = SyncEngineOptions()
  ) throws -> (SyncHarness, mac: SyncHarness.Device, phone: SyncHarness.Device) {
    let bench = SyncHarness()
    let devices = try zip(["mac", "phone"], enforced)
      .map { name, isEnforced in
        try bench.device(
          name,
          schema,
          tables: Self.tables,
          options: options,
          enforcesForeignKeys: isEnforced
        )
      }
    return (bench, devices[0], devices[1])
  }

  private func expect(
    _ bench: SyncHarness,
    _ devices: [SyncHarness.Device],
    lists: [String],
    notes: [String]
  ) throws {
    for device in devices {
      #expect(try device.lines("SELECT * FROM lists ORDER BY 1") == lists, "\(device.name)")
      #expect(try device.lines("SELECT * FROM notes ORDER BY 1") == notes, "\(device.name)")
      let unclean = try bench.unclean(device)
      #expect(unclean == [], "\(device.name)")
      #expect(try device.engine.danglingReferences() == [], "\(device.name)")
    }
  }

  static let enforced = [[true, true], [true, false], [false, true], [false, false]]

  @Test(
    "A row that another device has added to a parent follows it to its new key",
    arguments: SuiteSize.pairs(
      2,
      enforced,
      [
        "ON DELETE CASCADE ON UPDATE CASCADE", "ON UPDATE CASCADE",
        "ON DELETE SET NULL ON UPDATE CASCADE",
      ]
    )
  )
  func renamedParent(enforced: [Bool], actions: String) throws {
    for isPhoneFirst in SuiteSize.some(1, of: [true, false]) {
      let (bench, mac, phone) = try devices(Self.schema(actions), enforced)
      try mac.execute(
        "INSERT INTO lists VALUES('old', 'Tea'); INSERT INTO notes VALUES('a', 'old')"
      )
      try bench.sync(mac, phone)

      try mac.execute("UPDATE lists SET id = 'between'; UPDATE lists SET id = 'new'")
      try phone.execute("INSERT INTO notes VALUES('b', 'old')")
      if isPhoneFirst {
        try bench.sync(phone, mac, phone)
      } else {
        try bench.sync(mac, phone, mac)
      }

      try expect(bench, [mac, phone], lists: ["'new'|'Tea'"], notes: ["'a'|'new'", "'b'|'new'"])
    }
  }

  @Test(
    "With restoreParent a cascade takes nothing along that another device has added",
    arguments: SuiteSize.some(2, of: enforced)
  )
  func restoredCascade(enforced: [Bool]) throws {
    var options = SyncEngineOptions()
    options.defaultTable.cascades = .restoreParent
    for isPhoneFirst in [true, false] {
      let (bench, mac, phone) = try devices(Self.schema("ON DELETE CASCADE"), enforced, options)
      try mac.execute(
        "INSERT INTO lists VALUES('l', 'Tea'); INSERT INTO notes VALUES('a', 'l')"
      )
      try bench.sync(mac, phone)

      try mac.execute("DELETE FROM lists")
      try phone.execute("INSERT INTO notes VALUES('b', 'l')")
      if isPhoneFirst {
        try bench.sync(phone, mac, phone)
      } else {
        try bench.sync(mac, phone, mac)
      }

      try expect(bench, [mac, phone], lists: ["'l'|'Tea'"], notes: ["'b'|'l'"])
      // A deletion that takes along what both have is one.
      try mac.execute("DELETE FROM lists")
      try bench.sync(mac, phone, mac)
      try expect(bench, [mac, phone], lists: [], notes: [])
    }
  }

  @Test(
    "A unique value that moves to another row keeps those that refer to it",
    arguments: SuiteSize.pairs(
      2,
      enforced,
      ["", "ON DELETE CASCADE ON UPDATE CASCADE", "ON DELETE SET NULL ON UPDATE SET NULL"]
    )
  )
  func movedValue(enforced: [Bool], actions: String) throws {
    for isDeleted in SuiteSize.some(1, of: [true, false]) {
      for (one, other) in SuiteSize.some(1, of: [("p", "q"), ("q", "p")]) {
        let schema = """
          CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL, code TEXT UNIQUE);
          CREATE TABLE notes(
            id TEXT PRIMARY KEY NOT NULL, code TEXT REFERENCES lists(code) \(actions)
          );
          """
        var options = SyncEngineOptions()
        options.defaultTable.uniqueKeys = .newest
        let (bench, mac, phone) = try devices(schema, enforced, options)
        try mac.execute(
          "INSERT INTO lists VALUES('\(one)', 'x'), ('\(other)', 'y'); INSERT INTO notes VALUES('a', 'x')"
        )
        try bench.sync(mac, phone)

        mac.engine.stop()
        try mac.execute("PRAGMA foreign_keys = OFF")
        let removal =
          isDeleted
          ? "DELETE FROM lists WHERE id = '\(one)'"
          : "UPDATE lists SET code = 'z' WHERE id = '\(one)'"
        // The rows that refer to the value are left as they are.
        try mac.execute(
          """
          UPDATE notes SET code = NULL; \(removal);
          UPDATE lists SET code = 'x' WHERE id = '\(other)';
          UPDATE notes SET code = 'x'
          """
        )
        try mac.execute(
          "DELETE FROM cloudsync_outbox WHERE table_id = (SELECT id FROM cloudsync_tables WHERE name = 'notes')"
        )
        try mac.execute("PRAGMA foreign_keys = \(enforced[0])")
        try bench.sync(mac, phone, mac)

        let lists = (isDeleted ? [] : ["'\(one)'|'z'"]) + ["'\(other)'|'x'"]
        try expect(bench, [mac, phone], lists: lists.sorted(), notes: ["'a'|'x'"])
      }
    }
  }
}

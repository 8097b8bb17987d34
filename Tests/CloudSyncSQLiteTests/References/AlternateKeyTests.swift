import CloudSyncSQLite
import CloudSyncSimulator
import CloudSyncTestSupport
import Testing

@Suite("References to a key that is not the primary one")
struct AlternateKeyTests {
  @Test(
    "A parent whose new value is refused takes no child along",
    arguments: ["TEXT", "TEXT NOT NULL"]
  )
  func refusedParent(type: String) throws {
    let schema = """
      CREATE TABLE people(id TEXT PRIMARY KEY NOT NULL, mail TEXT UNIQUE, age INTEGER);
      CREATE TABLE notes(
        id TEXT PRIMARY KEY NOT NULL, mail \(type) REFERENCES people(mail) ON UPDATE CASCADE
      );
      """
    let check = """
      CREATE TRIGGER adult BEFORE UPDATE ON people WHEN new.age < 18 BEGIN
        SELECT RAISE(ABORT, 'too young'); END
      """
    let bench = SyncHarness()
    let tables = ["people", "notes"]
    var options = SyncEngineOptions()
    options.defaultTable.uniqueKeys = .newest
    let mac = try bench.device("mac", schema, tables: tables, options: options)
    let phone = try bench.device("phone", schema + check, tables: tables, options: options)
    try mac.execute(
      "INSERT INTO people VALUES('p', 'old', 20); INSERT INTO notes VALUES('n', 'old')",
      at: 1_000
    )
    try bench.sync(mac, phone)
    try mac.execute("UPDATE people SET mail = 'new', age = 3", at: 2_000)
    // The child of the device that refuses the parent is its own.
    try phone.execute("INSERT INTO notes VALUES('o', 'old')", at: 3_000)
    try bench.sync(mac, phone)
    try bench.sync(mac, phone)
    let other = "SELECT id, mail FROM notes WHERE id = 'o'"
    #expect(try phone.lines("SELECT id, mail, age FROM people") == ["'p'|'old'|20"])
    #expect(try phone.lines(other) == ["'o'|'old'"])
    #expect(phone.engine.isRunning)

    // When it is taken the child follows.
    try mac.execute("UPDATE people SET age = 30", at: 4_000)
    try bench.sync(mac, phone)
    try bench.sync(mac, phone)
    for device in [mac, phone] {
      #expect(try device.lines("SELECT id, mail, age FROM people") == ["'p'|'new'|30"])
      #expect(
        try device.lines("SELECT * FROM notes ORDER BY 1") == ["'n'|'new'", "'o'|'new'"],
        "\(device.name)"
      )
      #expect(try bench.unclean(device) == [], "\(device.name)")
    }
  }

  @Test(
    "A row whose maker is never seen again follows its parent's value, or does what its foreign key says",
    arguments: SuiteSize.pairs(2, ["ON DELETE CASCADE", "ON DELETE SET NULL", ""], [true, false])
  )
  func lostMaker(action: String, isDeleted: Bool) throws {
    let schema = """
      CREATE TABLE people(id TEXT PRIMARY KEY NOT NULL, mail TEXT UNIQUE);
      CREATE TABLE notes(
        id TEXT PRIMARY KEY NOT NULL, mail TEXT REFERENCES people(mail) \(action)
      );
      """
    var options = SyncEngineOptions()
    options.defaultTable.uniqueKeys = .newest
    options.defaultTable.orphans = .detachChildren
    for order in [[0, 1], [1, 0]] {
      let bench = SyncHarness()
      let all = try ["mac", "phone", "watch"]
        .map { name in
          try bench.device(name, schema, tables: ["people", "notes"], options: options)
        }
      try all[0].execute("INSERT INTO people VALUES('p', 'old')", at: 1_000)
      try bench.sync(all[0], all[1], all[2])
      for device in all { device.engine.stop() }
      try all[2].execute("INSERT INTO notes VALUES('n', 'old')", at: 2_000)
      // It is sent, and the watch is lost.
      try all[2].engine.start()
      bench.world.advance(by: .seconds(30))
      all[2].engine.stop()
      let edit = isDeleted ? "DELETE FROM people" : "UPDATE people SET mail = 'new'"
      try all[order[0]].execute(edit, at: 3_000)
      // One knows of the change as its own, the other one from the cloud, before the row comes.
      try bench.sync(all[order[0]], all[order[1]])
      try bench.sync(all[order[0]], all[order[1]])

      let notes =
        !isDeleted ? ["'n'|'new'"] : action == "ON DELETE CASCADE" ? [] : ["'n'|NULL"]
      for device in all[0...1] {
        #expect(try device.lines("SELECT * FROM notes") == notes, "\(device.name)")
        #expect(try bench.unclean(device) == [], "\(device.name)")
      }
    }
  }

  @Test("A foreign key that names the primary key's columns in another order refers to it")
  func otherOrder() throws {
    let schema = """
      CREATE TABLE days(year INTEGER NOT NULL, day INTEGER NOT NULL, PRIMARY KEY(year, day));
      CREATE TABLE notes(
        id TEXT PRIMARY KEY NOT NULL, d INTEGER, y INTEGER,
        FOREIGN KEY(d, y) REFERENCES days(day, year) ON DELETE CASCADE
      );
      """
    for enforced in [true, false] {
      let (bench, mac, phone) = try SyncHarness.pair(
        schema,
        tables: ["days", "notes"],
        enforcesForeignKeys: enforced
      )
      let watch = try bench.device("watch", schema, tables: ["days", "notes"])
      try mac.execute("INSERT INTO days VALUES(2024, 7)", at: 1_000)
      try bench.sync(mac, phone)
      // Sent by a device that is never seen again, after the parent was deleted.
      try phone.execute("INSERT INTO notes VALUES('n', 7, 2024)", at: 2_000)
      mac.engine.stop()
      phone.engine.stop()
      try mac.execute("DELETE FROM days", at: 3_000)
      phone.engine.sendChanges()
      try phone.engine.start()
      bench.world.advance(by: .seconds(1))
      phone.engine.stop()
      try bench.sync(mac, watch)
      try bench.sync(mac, watch)
      for device in [mac, watch] {
        #expect(try device.lines("SELECT * FROM notes") == [], "\(device.name)")
        #expect(try bench.unclean(device) == [], "\(device.name)")
      }
    }
  }

  @Test(
    "Where a table is left out whose rows refer to a value, the row keeps it, and no other row waits for that"
  )
  func leftOutChild() throws {
    let schema = """
      CREATE TABLE people(id TEXT PRIMARY KEY NOT NULL, mail TEXT UNIQUE);
      CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, mail TEXT REFERENCES people(mail));
      """
    let tables = ["people", "notes"]
    var options = SyncEngineOptions()
    options.defaultTable.uniqueKeys = .newest
    let (bench, mac, phone) = try SyncHarness.pair(schema, tables: tables, options: options)
    try mac.execute("INSERT INTO people VALUES('p', 'old')", at: 1_000)
    try bench.sync(mac, phone)
    try bench.restart(phone, ["people"], options)
    try phone.execute("INSERT INTO notes VALUES('n', 'old')", at: 2_000)
    try mac.execute(
      "UPDATE people SET mail = 'new'; INSERT INTO people VALUES('q', 'Q')",
      at: 3_000
    )
    try bench.sync(mac, phone)
    #expect(try phone.lines("SELECT * FROM people ORDER BY id") == ["'p'|'old'", "'q'|'Q'"])
    #expect(
      try phone.lines("SELECT record_name, status FROM cloudsync_status WHERE status = 'parked'")
        == ["'p:people'|'parked'"]
    )

    try bench.restart(phone, tables, options)
    try bench.sync(phone, mac)
    for device in [mac, phone] {
      #expect(try device.lines("SELECT * FROM people ORDER BY id") == ["'p'|'new'", "'q'|'Q'"])
      #expect(try device.lines("SELECT * FROM notes") == ["'n'|'new'"])
      #expect(try bench.unclean(device) == [])
    }
  }

  @Test("Children follow a value that is changed where the default that they are to get has no row")
  func withoutDefault() throws {
    let schema = """
      CREATE TABLE people(id TEXT PRIMARY KEY NOT NULL, mail TEXT UNIQUE);
      CREATE TABLE notes(
        id TEXT PRIMARY KEY NOT NULL, title TEXT,
        mail TEXT DEFAULT 'nobody' REFERENCES people(mail) ON UPDATE SET DEFAULT
      );
      """
    var options = SyncEngineOptions()
    options.defaultTable.uniqueKeys = .newest
    let bench = SyncHarness()
    let tables = ["people", "notes"]
    let mac = try bench.device("mac", schema, tables: tables, options: options)
    let phone = try bench.device("phone", schema, tables: tables, options: options)
    try mac.execute(
      "INSERT INTO people VALUES('p', 'old'); INSERT INTO notes VALUES('a', 'A', NULL)",
      at: 1_000
    )
    try bench.sync(mac, phone)
    try mac.execute("UPDATE people SET mail = 'new'", at: 2_000)
    try phone.execute(
      """
      INSERT INTO notes VALUES('b', 'B', 'old');
      UPDATE notes SET mail = 'old', title = 'A2' WHERE id = 'a'
      """,
      at: 3_000
    )
    try bench.sync(mac, phone, mac, phone)

    for device in [mac, phone] {
      #expect(try device.lines("SELECT * FROM notes") == ["'a'|'A2'|'new'", "'b'|'B'|'new'"])
      #expect(try bench.unclean(device) == [])
    }
  }
}

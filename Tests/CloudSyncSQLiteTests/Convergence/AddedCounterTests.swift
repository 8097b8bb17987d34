import CloudSyncSQLite
import CloudSyncTestSupport
import Testing

@Suite("Counters that a table gets later")
struct AddedCounterTests {
  private static var options: SyncEngineOptions {
    var options = SyncEngineOptions()
    options.defaultTable.merging.columns["n"] = .counter
    return options
  }

  private static let schema =
    "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT, n INTEGER)"

  /// Makes the table anew, with a counter that the copy leaves out.
  private static let rebuild = """
    CREATE TABLE fresh(id TEXT PRIMARY KEY NOT NULL, title TEXT, n INTEGER NOT NULL DEFAULT 0);
    INSERT INTO fresh(id, title) SELECT id, title FROM notes;
    DROP TABLE notes;
    ALTER TABLE fresh RENAME TO notes;
    """

  /// A device whose table has a column that the other's lacks.
  private func pair(
    _ column: String,
    options: SyncEngineOptions
  ) throws -> (SyncHarness, mac: SyncHarness.Device, phone: SyncHarness.Device) {
    let bench = SyncHarness()
    let columns = "id TEXT PRIMARY KEY NOT NULL, title TEXT"
    let mac = try bench.device(
      "mac",
      "CREATE TABLE notes(\(columns), \(column))",
      tables: ["notes"],
      options: options
    )
    let phone = try bench.device("phone", "CREATE TABLE notes(\(columns))", tables: ["notes"])
    return (bench, mac, phone)
  }

  @Test(
    "Who counts in a column that was just added adds to what others have counted",
    arguments: ["INTEGER", "INTEGER NOT NULL DEFAULT 0"],
    [0, 5]
  )
  func countsAtOnce(type: String, amount: Int) throws {
    let (bench, mac, phone) = try pair("n INTEGER", options: Self.options)
    try mac.execute("INSERT INTO notes(id, n) VALUES('a', 10)", at: 1)
    try bench.sync(mac, phone)
    try bench.restart(
      phone,
      ["notes"],
      Self.options,
      after: "ALTER TABLE notes ADD COLUMN n \(type)"
    )
    if amount > 0 { try phone.execute("UPDATE notes SET n = coalesce(n, 0) + \(amount)", at: 5) }
    try bench.sync(phone, mac)
    try bench.sync(phone, mac)
    #expect(try mac.lines("SELECT n FROM notes") == ["\(10 + amount)"])
    #expect(try phone.lines("SELECT n FROM notes") == ["\(10 + amount)"])
    #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [])
  }

  @Test("One that is dropped and added again takes nothing away", arguments: [0, 5])
  func addedAgain(amount: Int) throws {
    let (bench, mac, phone) = try SyncHarness.pair(
      Self.schema,
      tables: ["notes"],
      options: Self.options
    )
    try mac.execute("INSERT INTO notes(id, n) VALUES('a', 10), ('b', 20)", at: 1)
    try bench.sync(mac, phone)
    try mac.execute("UPDATE notes SET n = n + 1", at: 2)
    try bench.restart(
      phone,
      ["notes"],
      Self.options,
      after: """
        PRAGMA legacy_alter_table = ON;
        ALTER TABLE notes DROP COLUMN n;
        ALTER TABLE notes ADD COLUMN n INTEGER NOT NULL DEFAULT 0;
        """
    )
    if amount > 0 { try phone.execute("UPDATE notes SET n = n + \(amount)", at: 5) }
    try bench.sync(phone, mac)
    try bench.sync(phone, mac)
    let wanted = ["\(11 + amount)", "\(21 + amount)"]
    #expect(try mac.lines("SELECT n FROM notes ORDER BY id") == wanted)
    #expect(try phone.lines("SELECT n FROM notes ORDER BY id") == wanted)
  }

  @Test("A rebuild that brings a counter takes nothing away")
  func rebuilt() throws {
    let (bench, mac, phone) = try pair("n INTEGER", options: Self.options)
    try mac.execute("INSERT INTO notes(id, n) VALUES('a', 10)", at: 1)
    try bench.sync(mac, phone)
    try bench.restart(phone, ["notes"], Self.options, after: Self.rebuild)
    try bench.sync(phone, mac)
    try mac.execute("UPDATE notes SET n = n + 1", at: 2)
    try bench.sync(mac, phone)
    #expect(try mac.lines("SELECT n FROM notes") == ["11"])
    #expect(try phone.lines("SELECT n FROM notes") == ["11"])
  }

  @Test("What a new one holds before anybody counts is kept", arguments: [true, false])
  func begins(isDefault: Bool) throws {
    let (bench, mac, phone) = try SyncHarness.pair(
      "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT)",
      tables: ["notes"]
    )
    try mac.execute("INSERT INTO notes(id) VALUES('a')", at: 1)
    try bench.sync(mac, phone)
    let add =
      isDefault
      ? "ALTER TABLE notes ADD COLUMN n INTEGER NOT NULL DEFAULT 5"
      : "ALTER TABLE notes ADD COLUMN n INTEGER NOT NULL DEFAULT 0; UPDATE notes SET n = 5"
    try bench.restart(mac, ["notes"], Self.options, after: add)
    try mac.execute("UPDATE notes SET n = n + 1", at: 2)
    try bench.restart(phone, ["notes"], Self.options, after: add)
    try phone.execute("UPDATE notes SET n = n + 2", at: 3)
    try bench.sync(mac, phone)
    try bench.sync(mac, phone)
    #expect(try mac.lines("SELECT n FROM notes") == ["8"])
    #expect(try phone.lines("SELECT n FROM notes") == ["8"])
  }

  @Test("One that a version drops and a rebuild of a later one brings takes nothing away")
  func droppedBefore() throws {
    let (bench, mac, phone) = try SyncHarness.pair(
      Self.schema,
      tables: ["notes"],
      options: Self.options
    )
    try mac.execute("INSERT INTO notes(id, n) VALUES('a', 10), ('b', 20)", at: 1)
    try bench.sync(mac, phone)
    try mac.execute("UPDATE notes SET n = n + 1", at: 2)
    try bench.sync(mac, phone)
    let drop = "PRAGMA legacy_alter_table = ON; ALTER TABLE notes DROP COLUMN n"
    try bench.restart(phone, ["notes"], after: drop)
    try bench.sync(phone, mac)
    try bench.restart(phone, ["notes"], Self.options, after: Self.rebuild)
    try bench.sync(phone, mac)
    try bench.sync(phone, mac)
    #expect(try mac.lines("SELECT n FROM notes ORDER BY id") == ["11", "21"])
    #expect(try phone.lines("SELECT n FROM notes ORDER BY id") == ["11", "21"])
  }

  @Test("A column that becomes a counter keeps an unsent edit from before", arguments: [2, 4])
  func becomesCounter(time: Int64) throws {
    let (bench, mac, phone) = try SyncHarness.pair(
      Self.schema,
      tables: ["notes"]
    )
    try mac.execute("INSERT INTO notes(id, n) VALUES('a', 10)", at: 1)
    try bench.sync(mac, phone)
    mac.engine.stop()
    try mac.execute("UPDATE notes SET n = n + 5", at: time)
    try bench.restart(mac, ["notes"], Self.options)
    try bench.restart(phone, ["notes"], Self.options)
    try phone.execute("UPDATE notes SET n = n + 3", at: 3)
    try bench.sync(phone, mac)
    try bench.sync(phone, mac)
    #expect(try mac.lines("SELECT n FROM notes") == ["18"])
    #expect(try phone.lines("SELECT n FROM notes") == ["18"])
  }

  @Test("A set that a table gets later has what others have put there")
  func addedSet() throws {
    var options = SyncEngineOptions()
    options.defaultTable.merging.columns["tags"] = .setUnion
    let (bench, mac, phone) = try pair("tags TEXT", options: options)
    try mac.execute(#"INSERT INTO notes(id, tags) VALUES('a', '["x","y"]')"#, at: 1)
    try bench.sync(mac, phone)
    try bench.restart(
      phone,
      ["notes"],
      options,
      after: "ALTER TABLE notes ADD COLUMN tags TEXT"
    )
    try phone.execute(#"UPDATE notes SET tags = '["p"]'"#, at: 5)
    try bench.sync(phone, mac)
    try bench.sync(phone, mac)
    #expect(try mac.lines("SELECT tags FROM notes") == [#"'["p","x","y"]'"#])
    #expect(try phone.lines("SELECT tags FROM notes") == [#"'["p","x","y"]'"#])
  }
}

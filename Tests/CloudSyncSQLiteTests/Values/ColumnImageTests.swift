import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSimulator
import CloudSyncTestSupport
import Testing

/// What an older version's column makes of values that its type cannot hold.
@Suite("Values that a column's type changes")
struct ColumnImageTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let old: String
    let new: String
    let value: String
    let image: String

    var testDescription: String { "\(value), \(old) to \(new)" }
  }

  private static let cases = [
    Case(old: "INTEGER", new: "TEXT", value: "'01067'", image: "1067"),
    Case(old: "INTEGER", new: "TEXT", value: "'1e3'", image: "1000"),
    Case(old: "INTEGER", new: "TEXT", value: "' 5 '", image: "5"),
    Case(old: "REAL", new: "TEXT", value: "'1.10'", image: "1.1"),
    Case(
      old: "REAL",
      new: "INTEGER",
      value: "9007199254740993",
      image: "9007199254740992.0"
    ),
    Case(old: "TEXT", new: "", value: "5", image: "'5'"),
  ]

  private static func schema(_ type: String) -> String {
    "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, v \(type), x TEXT)"
  }

  private static func rebuilding(_ type: String) -> String {
    """
    CREATE TABLE fresh(id TEXT PRIMARY KEY NOT NULL, v \(type), x TEXT);
    INSERT INTO fresh SELECT * FROM notes;
    DROP TABLE notes;
    ALTER TABLE fresh RENAME TO notes;
    """
  }

  private static let query = "SELECT v, x FROM notes"

  /// The mac has the new type, and has set the value; the phone has the old one.
  private static func pair(
    _ one: Case
  ) throws -> (bench: SyncHarness, mac: SyncHarness.Device, phone: SyncHarness.Device) {
    let (bench, mac, phone) = try SyncHarness.pair(schema(one.old), tables: ["notes"])
    try mac.execute("INSERT INTO notes VALUES('a', 1, 'x')", at: 1_000)
    try bench.sync(mac, phone)
    try bench.restart(mac, ["notes"], after: rebuilding(one.new))
    try mac.execute("UPDATE notes SET v = \(one.value)", at: 2_000)
    try bench.sync(mac, phone)
    #expect(try phone.lines(query) == ["\(one.image)|'x'"])
    return (bench, mac, phone)
  }

  @Test("An edit of another column leaves the value in the cloud as it is", arguments: cases)
  func otherColumn(one: Case) throws {
    let (bench, mac, phone) = try Self.pair(one)
    try phone.execute("UPDATE notes SET x = 'y'", at: 3_000)
    for _ in 0..<2 { try bench.sync(phone, mac) }
    #expect(try mac.lines(Self.query) == ["\(one.value)|'y'"])
    try mac.execute("UPDATE notes SET x = 'z'", at: 4_000)
    try phone.execute("UPDATE notes SET x = 'w'", at: 4_001)
    for _ in 0..<2 { try bench.sync(mac, phone) }
    #expect(try mac.lines(Self.query) == ["\(one.value)|'w'"])
    #expect(try phone.lines(Self.query) == ["\(one.image)|'w'"])
    // What the old version edits itself counts.
    try phone.execute("UPDATE notes SET v = 7", at: 5_000)
    for _ in 0..<2 { try bench.sync(phone, mac) }
    #expect(try mac.lines("SELECT CAST(v AS INTEGER) FROM notes") == ["7"])
    for device in [mac, phone] { #expect(try bench.unclean(device) == []) }
  }

  @Test(
    "A device that gets the new type later has the value, and sends nothing",
    arguments: SuiteSize.pairs(3, cases, [true, false])
  )
  func laterMigration(one: Case, isEdited: Bool) throws {
    let (bench, mac, phone) = try Self.pair(one)
    if isEdited { try phone.execute("UPDATE notes SET x = 'y'", at: 3_000) }
    try bench.restart(phone, ["notes"], after: Self.rebuilding(one.new))
    for _ in 0..<2 { try bench.sync(phone, mac) }
    for device in [mac, phone] {
      #expect(try device.lines(Self.query) == ["\(one.value)|'\(isEdited ? "y" : "x")'"])
      #expect(try bench.unclean(device) == [])
    }
  }

  @Test("A search for unseen edits takes no such value for one", arguments: cases)
  func search(one: Case) throws {
    let (bench, mac, phone) = try Self.pair(one)
    try phone.engine.rescan()
    for _ in 0..<2 { try bench.sync(phone, mac) }
    #expect(try mac.lines(Self.query) == ["\(one.value)|'x'"])
    #expect(try bench.unclean(phone) == [])
  }

  struct Edit: Sendable, CustomTestStringConvertible {
    let type: String
    let value: String
    let expression: String
    let result: String

    var testDescription: String { "\(expression) of \(value), \(type)" }
  }

  /// What a column could hold was changed, though it is the same number.
  @Test(
    "A migration that changes values within their type is sent, and found by a search",
    arguments: [
      Edit(type: "TEXT", value: "'1067'", expression: "printf('%05d', v)", result: "'01067'"),
      Edit(type: "TEXT", value: "' 7'", expression: "trim(v)", result: "'7'"),
      Edit(type: "", value: "5", expression: "CAST(v AS TEXT)", result: "'5'"),
      Edit(type: "REAL", value: "1.5", expression: "v + 1", result: "2.5"),
    ],
    [true, false]
  )
  func sameType(edit: Edit, isRebuilt: Bool) throws {
    let schema = Self.schema(edit.type)
    let (bench, mac, phone) = try SyncHarness.pair(schema, tables: ["notes"])
    try mac.execute("INSERT INTO notes VALUES('a', \(edit.value), 'x')", at: 1_000)
    try bench.sync(mac, phone)
    if isRebuilt {
      let rebuilding = Self.rebuilding(edit.type)
        .replacing("SELECT * FROM notes", with: "SELECT id, \(edit.expression), x FROM notes")
      try bench.restart(mac, ["notes"], after: rebuilding)
    } else {
      try mac.execute("UPDATE cloudsync_clock SET own_table = 1, own_all = 1")
      try mac.execute("UPDATE notes SET v = \(edit.expression)")
      try mac.execute("UPDATE cloudsync_clock SET own_table = NULL, own_all = NULL")
      try mac.engine.rescan()
    }
    for _ in 0..<2 { try bench.sync(mac, phone) }
    for device in [mac, phone] {
      #expect(try device.lines(Self.query) == ["\(edit.result)|'x'"])
      #expect(try bench.unclean(device) == [])
    }
  }
}

import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSchema
import CloudSyncSimulator
import CloudSyncTestSupport
import Testing

@Suite("Columns that stay on a device")
struct LocalColumnTests {
  static let schema = """
    CREATE TABLE notes(
      id TEXT PRIMARY KEY NOT NULL, title TEXT, height REAL, seen INTEGER NOT NULL DEFAULT 0
    )
    """
  private static var options: SyncEngineOptions {
    var options = SyncEngineOptions()
    options.defaultTable.localColumns = ["Height", "seen"]
    return options
  }

  @Test("They are neither sent nor written, and edits of nothing else send nothing")
  func stays() throws {
    let (bench, mac, phone) = try SyncHarness.pair(
      Self.schema,
      tables: ["notes"],
      options: Self.options
    )
    try mac.execute("INSERT INTO notes VALUES('a', 'A', 1.5, 1)")
    try bench.sync(mac, phone)
    #expect(try phone.lines("SELECT * FROM notes") == ["'a'|'A'|NULL|0"])
    let tags = try bench.cloudTags()
    try phone.execute("UPDATE notes SET height = 9, seen = 7", at: 5)
    try bench.sync(phone)
    #expect(try bench.cloudTags() == tags)
    try mac.execute("UPDATE notes SET title = 'B', height = 2.5", at: 6)
    try bench.sync(mac, phone)
    #expect(try phone.lines("SELECT * FROM notes") == ["'a'|'B'|9.0|7"])
    #expect(try mac.lines("SELECT * FROM notes") == ["'a'|'B'|2.5|1"])
    // A schema that changes while engines run is read anew.
    try phone.execute("ALTER TABLE notes ADD COLUMN stars INTEGER")
    try mac.execute("ALTER TABLE notes ADD COLUMN stars INTEGER")
    try mac.execute("UPDATE notes SET stars = 3, seen = 5", at: 8)
    try bench.sync(mac, phone)
    #expect(try phone.lines("SELECT * FROM notes") == ["'a'|'B'|9.0|7|3"])
  }

  @Test("What others need cannot stay")
  func refused() throws {
    let database = try DatabaseFile(path: ":memory:")
    try database.execute(
      """
      CREATE TABLE p(id TEXT PRIMARY KEY NOT NULL);
      CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, p TEXT REFERENCES p, u TEXT UNIQUE, n TEXT NOT NULL,
        w TEXT, x TEXT);
      CREATE UNIQUE INDEX live ON t(u) WHERE w IS NULL;
      CREATE INDEX plain ON t(x)
      """
    )
    var options = SyncEngineOptions()
    options.defaultTable.uniqueKeys = .newest
    options.defaultTable.allowsMissingDefaults = true
    options.tables["t"] = options.defaultTable
    options.tables["t"]?.localColumns = ["id", "p", "u", "n", "none", "w", "x"]
    // What all tables are told need not be there in each.
    options.defaultTable.localColumns = ["height"]
    let violations = try SyncEngine.check(database, tables: ["p", "t"], options: options)
      .filter { $0.code == .localColumn }
    #expect(violations.map(\.column) == ["id", "n", "none", "p", "u", "w"])
    #expect(violations.allSatisfy { !$0.isWarning && $0.table == "t" })
    let bench = SyncHarness()
    #expect(throws: SyncEngineError.self) {
      try bench.engine("mac", database, ["p", "t"], options)
    }
  }

  @Test(
    "Whatever is edited, the other columns are equal in the end, and these are each device's own",
    arguments: SuiteSize.some(2, of: Array(1...10))
  )
  func random(seed: UInt64) throws {
    let (bench, mac, phone) = try SyncHarness.pair(
      Self.schema,
      tables: ["notes"],
      options: Self.options
    )
    var random = SeededRandom(seed: seed)
    var heights: [String: [String: String]] = ["mac": [:], "phone": [:]]
    for step in 1...40 {
      let device = random.below(2) == 0 ? mac : phone
      let key = "n\(random.below(6))"
      let time = Int64(step * 10)
      switch random.below(5) {
      case 0:
        try device.execute(
          "INSERT OR IGNORE INTO notes(id, title) VALUES('\(key)', 't\(step)')",
          at: time
        )
      case 1:
        try device.execute("UPDATE notes SET title = 't\(step)' WHERE id = '\(key)'", at: time)
      case 2:
        try device.execute("DELETE FROM notes WHERE id = '\(key)'", at: time)
      case 3:
        try device.execute("UPDATE notes SET height = \(step) WHERE id = '\(key)'", at: time)
        if try device.lines("SELECT 1 FROM notes WHERE id = '\(key)'") == ["1"] {
          heights[device.name]?[key] = "\(step).0"
        }
      default: try bench.sync(device)
      }
    }
    try bench.sync(mac, phone, mac)
    let titles = "SELECT id, title FROM notes ORDER BY id"
    #expect(try mac.lines(titles) == phone.lines(titles))
    for device in [mac, phone] {
      for line in try device.lines("SELECT id, height FROM notes WHERE height IS NOT NULL") {
        let parts = line.split(separator: "|").map(String.init)
        let key = String(parts[0].dropFirst().dropLast())
        #expect(heights[device.name]?[key] == parts[1], "\(device.name) \(line)")
      }
    }
  }
}

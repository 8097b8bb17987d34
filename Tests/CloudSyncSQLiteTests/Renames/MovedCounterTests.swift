import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSimulator
import CloudSyncTestSupport
import Testing

@Suite("Counters of a row that gets another key while it is edited under both")
struct MovedCounterTests {
  private static let schema = """
    CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL, title TEXT, n INTEGER NOT NULL DEFAULT 0);
    CREATE TABLE notes(
      id TEXT PRIMARY KEY NOT NULL, list TEXT REFERENCES lists ON UPDATE CASCADE, text TEXT
    );
    INSERT INTO lists VALUES('a', 'A', 1);
    INSERT INTO notes VALUES('1', 'a', ''), ('2', 'a', '');
    """
  private static let start: Int64 = 1_700_000_000_000

  private let bench: SyncHarness
  private let mac: SyncHarness.Device
  private let phone: SyncHarness.Device

  init() throws {
    let bench = SyncHarness()
    let world = bench.world
    // So that somebody edits between two pages.
    bench.handler = { FaultyOperationHandler($0, in: world, seed: 1, plan: .none) }
    var options = LocalCloudOptions()
    options.pageSize = 1
    bench.cloud.options = options
    var rules = SyncEngineOptions()
    rules.defaultTable.merging.columns["n"] = .counter
    let device = { (name: String) in
      try bench.device(name, Self.schema, tables: ["lists", "notes"], options: rules)
    }
    (self.bench, mac, phone) = (bench, try device("mac"), try device("phone"))
    try bench.sync(mac, phone)
    try phone.execute("UPDATE lists SET n = n + 20", at: Self.start)
    try bench.sync(phone, mac)
  }

  /// Has the phone fetch until it knows so many records more.
  private func fetch(untilKnown rows: [String]) throws {
    phone.engine.fetchChanges()
    for _ in 0..<100 where try phone.lines("SELECT id, title FROM lists ORDER BY id") != rows {
      bench.world.advance(by: .milliseconds(50))
    }
    #expect(try phone.lines("SELECT id, title FROM lists ORDER BY id") == rows)
  }

  private func expectRow(_ row: String) throws {
    try bench.sync(phone, mac)
    for device in [mac, phone] {
      #expect(try device.lines("SELECT * FROM lists") == [row], "\(device.name)")
      #expect(try bench.unclean(device) == [])
    }
  }

  @Test(
    "What is added under the former key counts, also where that is known to be gone",
    arguments: SuiteSize.pairs(2, [true, false], [true, false])
  )
  func bothKeys(isGone: Bool, isLast: Bool) throws {
    try mac.execute("UPDATE lists SET id = 'k' WHERE id = 'a'", at: Self.start + 1_000)
    try bench.sync(mac)
    if isGone {
      // The former record's end comes first, and the row that has the key now last.
      try mac.execute("UPDATE notes SET text = 'x'; UPDATE lists SET title = 'B'")
      try bench.sync(mac)
      try fetch(untilKnown: ["'a'|'A'", "'k'|'B'"])
    } else {
      try fetch(untilKnown: ["'a'|'A'", "'k'|'A'"])
    }
    let edits = ["SET n = n + 5 WHERE id = 'a'", "SET n = n + 100 WHERE id = 'k'"]
    for (number, edit) in (isLast ? edits.reversed() : edits).enumerated() {
      try phone.execute("UPDATE lists \(edit)", at: Self.start + 2_000 + Int64(number))
    }
    try expectRow(isGone ? "'k'|'B'|126" : "'k'|'A'|126")
  }

  @Test("What is added before the row has come under its new key counts, each time")
  func beforeArrival() throws {
    try mac.execute("UPDATE lists SET id = 'k' WHERE id = 'a'", at: Self.start + 1_000)
    try bench.sync(mac)
    try mac.execute("UPDATE notes SET text = 'x'; UPDATE lists SET title = 'B'")
    try bench.sync(mac)
    phone.engine.fetchChanges()
    var total = 21
    for number in 0..<8 {
      bench.world.advance(by: .milliseconds(150))
      total += try phone.lines("SELECT id FROM lists").count
      try phone.execute("UPDATE lists SET n = n + 1", at: Self.start + 2_000 + Int64(number))
    }
    try expectRow("'k'|'B'|\(total)")
  }
}

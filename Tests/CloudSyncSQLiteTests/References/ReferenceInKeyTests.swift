import CloudSyncSQLite
import CloudSyncTestSupport
import Testing

@Suite("Rows whose key contains a reference")
struct ReferenceInKeyTests {
  private static let tables = ["lists", "words", "marks"]

  /// Lists that other tables refer to by a column, and rows that are called by their list and a word.
  private static func schema(key: String) -> String {
    """
    CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL, code TEXT UNIQUE, title TEXT);
    CREATE TABLE words(
      list TEXT NOT NULL REFERENCES lists(\(key)) ON DELETE CASCADE ON UPDATE CASCADE,
      word TEXT NOT NULL, note TEXT, PRIMARY KEY(list, word)
    );
    CREATE TABLE marks(
      id TEXT PRIMARY KEY NOT NULL, list TEXT, word TEXT,
      FOREIGN KEY(list, word) REFERENCES words ON DELETE CASCADE ON UPDATE CASCADE
    );
    """
  }

  private func expect(
    _ bench: SyncHarness,
    _ devices: [SyncHarness.Device],
    words: [String],
    marks: [String]
  ) throws {
    for device in devices {
      #expect(try device.lines("SELECT * FROM words ORDER BY 1, 2") == words, "\(device.name)")
      #expect(try device.lines("SELECT * FROM marks ORDER BY 1") == marks, "\(device.name)")
      #expect(try bench.unclean(device) == [], "\(device.name)")
      #expect(try device.engine.danglingReferences() == [], "\(device.name)")
      #expect(try device.lines("SELECT count(*) FROM cloudsync_outbox") == ["0"])
    }
  }

  private func devices(
    _ key: String,
    _ enforced: [Bool]
  ) throws -> (SyncHarness, [SyncHarness.Device]) {
    let bench = SyncHarness()
    var options = SyncEngineOptions()
    options.defaultTable.uniqueKeys = .newest
    let devices = try zip(["mac", "phone", "watch"], enforced)
      .map { name, isEnforced in
        try bench.device(
          name,
          Self.schema(key: key),
          tables: Self.tables,
          options: options,
          enforcesForeignKeys: isEnforced
        )
      }
    return (bench, devices)
  }

  @Test(
    "A row that another device has added follows its parent to the new key, with its own children",
    arguments: SuiteSize.pairs(
      2,
      ["id", "code"],
      [[true, true, true], [true, false, false], [false, true, true]]
    )
  )
  func renamedParent(key: String, enforced: [Bool]) throws {
    for order in SuiteSize.some(1, of: [[0, 1, 2], [1, 0, 2], [2, 1, 0], [1, 2, 0]]) {
      let (bench, all) = try devices(key, enforced)
      try all[0]
        .execute(
          """
          INSERT INTO lists VALUES('old', 'old', 'Tea');
          INSERT INTO words VALUES('old', 'a', 'A');
          INSERT INTO marks VALUES('m', 'old', 'a')
          """,
          at: 1_000
        )
      try bench.sync(all[0], all[1], all[2])
      try all[0].execute("UPDATE lists SET \(key) = 'new'", at: 2_000)
      try all[1]
        .execute(
          "INSERT INTO words VALUES('old', 'b', 'B'); INSERT INTO marks VALUES('n', 'old', 'b')",
          at: 3_000
        )
      let devices = order.map { all[$0] }
      try bench.sync(devices[0], devices[1], devices[2])
      try bench.sync(devices[0], devices[1], devices[2])

      try expect(
        bench,
        all,
        words: ["'new'|'a'|'A'", "'new'|'b'|'B'"],
        marks: ["'m'|'new'|'a'", "'n'|'new'|'b'"]
      )
    }
  }

  @Test(
    "That a row follows is an edit of nobody's: it outbids none, however late it is made",
    arguments: ["id", "code"]
  )
  func derivedTimes(key: String) throws {
    let (bench, all) = try devices(key, [true, true])
    let (mac, phone) = (all[0], all[1])
    try mac.execute("INSERT INTO lists VALUES('old', 'old', 'Tea')", at: 1_000)
    try bench.sync(mac, phone)
    phone.engine.stop()
    try mac.execute("UPDATE lists SET \(key) = 'new'", at: 2_000)
    try phone.execute("INSERT INTO words VALUES('old', 'b', 'B')", at: 3_000)
    try bench.sync(mac)
    mac.engine.stop()
    // The phone has the row follow long after that, while the mac has it by another way and edits it.
    try mac.execute("INSERT INTO words VALUES('new', 'b', 'mine')", at: 4_000)
    try phone.execute("SELECT 1", at: 9_000_000)
    try bench.sync(phone)
    try bench.sync(mac, phone)
    try bench.sync(mac, phone)

    try expect(bench, all, words: ["'new'|'b'|'mine'"], marks: [])
  }
}

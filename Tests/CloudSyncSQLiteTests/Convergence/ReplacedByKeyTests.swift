import CloudSyncSQLite
import CloudSyncSimulator
import CloudSyncTestSupport
import Testing

/// SQLite calls no trigger for a row that `OR REPLACE` removes, unless triggers are recursive.
@Suite("Rows that are replaced because others get their keys or numbers")
struct ReplacedByKeyTests {
  private static let schema = "CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, v TEXT, w TEXT)"

  private enum Edit: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case none = "SELECT 1"
    case deletion = "DELETE FROM t WHERE id = '2'"
    case anotherKey = "UPDATE t SET id = '4' WHERE id = '2'"
    case ofReplaced = "UPDATE t SET v = 'TWO' WHERE id = '2'"
    case ofReplacing = "UPDATE t SET v = 'ONE' WHERE id = '1'"

    var testDescription: String { rawValue }

    func rows(_ deletes: DeletePolicy) -> [String] {
      switch (self, deletes) {
      case (.none, _), (.deletion, _), (.ofReplaced, .deleteWins): ["'2'|'one'|'w1'"]
      case (.anotherKey, _): ["'2'|'one'|'w1'", "'4'|'two'|'w2'"]
      case (.ofReplaced, .editWins): []
      case (.ofReplacing, _): ["'2'|'ONE'|'w1'"]
      }
    }
  }

  private static func sync(
    replacing statements: String,
    before prelude: String = "SELECT 1",
    _ edit: Edit,
    deletes: DeletePolicy,
    isSecond: Bool
  ) throws -> (SyncHarness, [SyncHarness.Device]) {
    var options = SyncEngineOptions()
    options.defaultTable.merging.deletes = deletes
    let bench = SyncHarness()
    let mac = try bench.device("mac", schema, tables: ["t"], options: options)
    let phone = try bench.device("phone", schema, tables: ["t"], options: options)
    try mac.execute("INSERT INTO t VALUES('1', 'one', 'w1'), ('2', 'two', 'w2')", at: 1_000)
    try bench.sync(mac, phone)
    try mac.execute(prelude, at: 1_900)
    try mac.execute(statements, at: 2_000)
    try phone.execute(edit.rawValue, at: isSecond ? 3_000 : 1_500)
    let order = isSecond ? [mac, phone] : [phone, mac]
    for device in order + order { try bench.sync(device) }
    try bench.sync(mac, phone)
    return (bench, [mac, phone])
  }

  @Test(
    "A row whose key another one is given is deleted by that, whatever others do with either",
    arguments: SuiteSize.pairs(2, Edit.allCases, [false, true])
  )
  private func replacedKey(edit: Edit, isSecond: Bool) throws {
    let replacing = "UPDATE OR REPLACE t SET id = '2' WHERE id = '1'"
    let (bench, devices) = try Self.sync(
      replacing: replacing,
      edit,
      deletes: .deleteWins,
      isSecond: isSecond
    )
    for device in devices {
      #expect(try device.lines("SELECT * FROM t ORDER BY id") == edit.rows(.deleteWins))
      #expect(try bench.unclean(device) == [])
    }
  }

  /// The same thing said in three ways.
  private static let replacements = [
    "UPDATE OR REPLACE t SET id = '2' WHERE id = '1'",
    "DELETE FROM t WHERE id = '2'; UPDATE t SET id = '2' WHERE id = '1'",
    "PRAGMA recursive_triggers = ON; UPDATE OR REPLACE t SET id = '2' WHERE id = '1'",
  ]

  @Test(
    "It ends as where the row is deleted first, also where edits win",
    arguments: SuiteSize.pairs(
      2,
      Edit.allCases,
      [
        "SELECT 1", "UPDATE t SET w = 'last' WHERE id = '2'",
        "DELETE FROM t WHERE id = '2'; INSERT INTO t VALUES('2', 'again', NULL)",
      ]
    )
  )
  private func asDeleted(edit: Edit, prelude: String) throws {
    for (deletes, isSecond) in SuiteSize.some(
      2,
      of: [
        (DeletePolicy.deleteWins, false), (.deleteWins, true), (.editWins, true),
        (.editWins, false),
      ]
    ) {
      let ends = try Self.replacements.map { statements in
        let (bench, devices) = try Self.sync(
          replacing: statements,
          before: prelude,
          edit,
          deletes: deletes,
          isSecond: isSecond
        )
        let rows = try devices.map { try $0.lines("SELECT * FROM t ORDER BY id") }
        #expect(rows[0] == rows[1])
        for device in devices { #expect(try bench.unclean(device) == [], "\(statements)") }
        return rows[0]
      }
      #expect(ends == [ends[0], ends[0], ends[0]], "\(deletes), \(isSecond)")
    }
  }

  @Test(
    "A row is replaced too whose newer version waits beside its table",
    arguments: SuiteSize.some(2, of: replacements)
  )
  func waitingVersion(statements: String) throws {
    let schema = "CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, v TEXT, w TEXT, CHECK(v <> w))"
    let (bench, mac, phone) = try SyncHarness.pair(schema, tables: ["t"])
    try mac.execute("INSERT INTO t VALUES('1', 'one', 'w1'), ('2', 'two', 'w2')")
    try bench.sync(mac, phone)
    try phone.execute("UPDATE t SET v = 'x' WHERE id = '2'")
    try bench.sync(phone)
    try mac.execute("UPDATE t SET w = 'x' WHERE id = '2'")
    try bench.sync(mac)
    #expect(try mac.lines("SELECT v FROM t WHERE id = '2'") == ["'two'"])
    try mac.execute(statements)
    for _ in 0..<3 { try bench.sync(mac, phone) }

    for device in [mac, phone] {
      #expect(try device.lines("SELECT * FROM t") == ["'2'|'one'|'w1'"])
      #expect(try bench.unclean(device) == [])
    }
  }

  @Test("What is edited long after a row has replaced another is an edit of that row")
  func laterBatch() throws {
    let (bench, mac, phone) = try SyncHarness.pair(Self.schema, tables: ["t"])
    try mac.execute("INSERT INTO t VALUES('1', 'one', 'w1'), ('2', 'two', 'w2')")
    try bench.sync(mac, phone)
    // The outbox is read 5,000 edits at a time.
    try mac.execute(
      """
      UPDATE OR REPLACE t SET id = '2' WHERE id = '1';
      INSERT INTO t(id) VALUES('more');
      """
    )
    let updates = (0..<5_100).map { "UPDATE t SET w = '\($0)' WHERE id = 'more'" }
    try mac.execute(updates.joined(separator: ";"))
    try mac.execute("UPDATE t SET v = 'later' WHERE id = '2'")
    try bench.sync(mac, phone)

    for device in [mac, phone] {
      #expect(try device.lines("SELECT * FROM t WHERE id <> 'more'") == ["'2'|'later'|'w1'"])
      #expect(try bench.unclean(device) == [])
    }
  }

  @Test(
    "A row is replaced too that was there before the first sync",
    arguments: SuiteSize.some(2, of: replacements)
  )
  func foundRow(statements: String) throws {
    let (bench, mac, phone) = try SyncHarness.pair(Self.schema, tables: ["t"])
    let rows = "INSERT INTO t VALUES('1', 'one', 'w1'), ('2', 'two', 'w2')"
    try mac.execute(rows)
    try bench.sync(mac)
    let tablet = try bench.device("tablet", Self.schema + ";" + rows, tables: ["t"])
    try tablet.execute(statements)
    for _ in 0..<2 { try bench.sync(tablet, mac, phone) }

    for device in [mac, phone, tablet] {
      #expect(try device.lines("SELECT * FROM t") == ["'2'|'one'|'w1'"])
      #expect(try bench.unclean(device) == [])
    }
  }

  @Test("Rows that replace one another in one statement, or go on from there, are followed")
  func severalReplacements() throws {
    let (bench, mac, phone) = try SyncHarness.pair(Self.schema, tables: ["t"])
    try mac.execute(
      "INSERT INTO t VALUES('1', 'one', NULL), ('2', 'two', NULL), ('3', 'three', NULL), ('4', 'four', NULL)"
    )
    try bench.sync(mac, phone)
    try mac.execute(
      """
      UPDATE OR REPLACE t SET id = '2' WHERE id = '1'; UPDATE OR REPLACE t SET id = '2' WHERE id = '3';
      UPDATE OR REPLACE t SET id = '4' WHERE id = '2'; UPDATE OR IGNORE t SET id = '4' WHERE id = '4'
      """
    )
    try phone.execute("UPDATE t SET w = 'seen' WHERE id = '3'")
    try bench.sync(mac, phone)
    try bench.sync(mac, phone)

    for device in [mac, phone] {
      #expect(try device.lines("SELECT * FROM t") == ["'4'|'three'|'seen'"])
      #expect(try bench.unclean(device) == [])
    }
  }

  @Test(
    "A row that passes through the key of one that it replaces leaves nothing of its own there",
    arguments: SuiteSize.pairs(2, [DeletePolicy.deleteWins, .editWins], [true, false])
  )
  func passingRow(deletes: DeletePolicy, isInsertedAnew: Bool) throws {
    var options = SyncEngineOptions()
    options.defaultTable.merging.deletes = deletes
    let bench = SyncHarness()
    let mac = try bench.device("mac", Self.schema, tables: ["t"], options: options)
    let phone = try bench.device("phone", Self.schema, tables: ["t"], options: options)
    try mac.execute("INSERT INTO t VALUES('a', 'zzz', 'w1'), ('b', 'two', 'w2')", at: 1_000)
    try bench.sync(mac, phone)
    try mac.execute(
      "UPDATE OR REPLACE t SET id = 'b' WHERE id = 'a'; UPDATE t SET v = 'x' WHERE id = 'b'",
      at: 2_000
    )
    try mac.execute(
      isInsertedAnew
        ? "DELETE FROM t WHERE id = 'b'; INSERT INTO t VALUES('b', 'new', 'w3')"
        : "UPDATE t SET id = 'c' WHERE id = 'b'",
      at: 3_000
    )
    try phone.execute("UPDATE t SET w = 'mine' WHERE id = 'b'", at: 2_500)
    try bench.sync(mac, phone)
    try bench.sync(mac, phone)

    let rows = try phone.lines("SELECT * FROM t ORDER BY id")
    #expect(try mac.lines("SELECT * FROM t ORDER BY id") == rows)
    for device in [mac, phone] { #expect(try bench.unclean(device) == []) }
    switch (deletes, isInsertedAnew) {
    case (.deleteWins, true): #expect(rows == ["'b'|'new'|'w3'"])
    case (.deleteWins, false): #expect(rows == ["'c'|'x'|'w1'"])
    case (.editWins, true): #expect(rows.count == 1 && !rows[0].contains("'x'"))
    // The edit that nobody had seen keeps its row, with what that had.
    case (.editWins, false): #expect(rows == ["'b'|'two'|'mine'", "'c'|'x'|'w1'"])
    }
  }

  @Test(
    "A row whose number another one is given is deleted by that",
    arguments: [
      "INSERT OR REPLACE INTO t(rowid, id, v) VALUES(1, '3', 'three')",
      "UPDATE OR REPLACE t SET rowid = 1 WHERE id = '2'",
      "REPLACE INTO t(_rowid_, id) VALUES(2, '1')",
    ]
  )
  func replacedNumber(statement: String) throws {
    let (bench, mac, phone) = try SyncHarness.pair(Self.schema, tables: ["t"])
    try mac.execute("INSERT INTO t VALUES('1', 'one', NULL), ('2', 'two', NULL)")
    try bench.sync(mac, phone)
    try mac.execute(statement)
    try bench.sync(mac, phone)

    #expect(try mac.lines("SELECT * FROM t").count < 3)
    #expect(
      try phone.lines("SELECT * FROM t ORDER BY id") == mac.lines("SELECT * FROM t ORDER BY id")
    )
    for device in [mac, phone] { #expect(try bench.unclean(device) == []) }
  }

  @Test(
    "A row that is written over and then replaces another one is there once, and its former key is free",
    arguments: [false, true],
    [false, true]
  )
  func writtenOver(callsTriggers: Bool, isSentBetween: Bool) throws {
    let bench = SyncHarness()
    let mac = try bench.device("mac", Self.schema, tables: ["t"])
    let phone = try bench.device("phone", Self.schema, tables: ["t"])
    try mac.execute("INSERT INTO t VALUES('1', 'one', 'w1'), ('2', 'two', 'w2')", at: 1_000)
    try bench.sync(mac, phone)
    try mac.execute("PRAGMA recursive_triggers = \(callsTriggers ? "ON" : "OFF")")
    try mac.execute("INSERT OR REPLACE INTO t VALUES('1', 'ONE', 'w3')", at: 2_000)
    if isSentBetween { try bench.sync(mac) }
    try mac.execute("UPDATE OR REPLACE t SET id = '2' WHERE id = '1'", at: 3_000)
    try bench.sync(mac, phone, mac)
    for device in [mac, phone] {
      #expect(try device.lines("SELECT * FROM t") == ["'2'|'ONE'|'w3'"])
      #expect(try bench.unclean(device) == [])
    }
  }
}

import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import CloudSyncTestSupport
import Testing

@testable import CloudSyncChangesets

/// A trigger of the app's that writes into rows of the same commit keeps it not out: rows are what the history says.
@Suite struct WritingTriggerTests {
  /// Commits are written table by table: what triggers do to a table that comes later is done before its turn.
  private static func schema(parent: String, child: String) -> String {
    """
    CREATE TABLE \(parent)(id TEXT PRIMARY KEY NOT NULL, n INT);
    CREATE TABLE \(child)(id TEXT PRIMARY KEY NOT NULL, p TEXT, v);
    CREATE TRIGGER making AFTER INSERT ON \(parent) BEGIN
      INSERT OR IGNORE INTO \(child) VALUES('of ' || new.id, new.id, new.n);
    END;
    CREATE TRIGGER removing AFTER DELETE ON \(parent) BEGIN
      DELETE FROM \(child) WHERE p = old.id;
    END;
    CREATE TRIGGER counting AFTER UPDATE OF n ON \(parent) BEGIN
      UPDATE \(child) SET v = new.n WHERE p = new.id;
    END;
    """
  }

  private static func all(parent: String, child: String) -> String {
    "SELECT 'p', id, n, NULL FROM \(parent) UNION ALL SELECT 'c', id, p, v FROM \(child) ORDER BY 1, 2"
  }

  @Test(arguments: [("a", "b"), ("b", "a")])
  func whatTriggersDoBeforeARowsTurn(parent: String, child: String) throws {
    let schema = Self.schema(parent: parent, child: child)
    let (desk, phone) = (
      try HistoryBench(schema, replica: "desk"), try HistoryBench(schema, replica: "phone")
    )
    for sql in [
      "INSERT INTO \(parent) VALUES('x', 1), ('y', 2), ('z', 3)",
      "UPDATE \(parent) SET n = 7 WHERE id = 'y'",
      "UPDATE \(parent) SET n = 8 WHERE id = 'y'; UPDATE \(child) SET v = 'own' WHERE p = 'y'",
      "DELETE FROM \(parent) WHERE id = 'x'",
      "DELETE FROM \(parent) WHERE id = 'z'; INSERT INTO \(child) VALUES('of z', 'z', 'again')",
    ] {
      try desk.commit(sql)
      try phone.sync(from: desk)
      try HistoryBench.expectEqual([desk, phone], Self.all(parent: parent, child: child))
    }
    #expect(
      try phone.rows("SELECT id, v FROM \(child) ORDER BY id") == [
        "'of y', 'own'", "'of z', 'again'",
      ]
    )
    // A row that is not what the history says is told before any trigger runs.
    try phone.database.write { handle in
      let connection = SQLiteConnection(borrowing: handle)
      try connection.withoutTriggers { () throws(SQLiteError) in
        try connection.execute("UPDATE \(child) SET v = 'unseen' WHERE id = 'of y'")
      }
    }
    try desk.commit("DELETE FROM \(parent) WHERE id = 'y'")
    let error = #expect(throws: ChangesetError.self) { try phone.sync(from: desk) }
    #expect(error?.code == .diverged)
    #expect(try phone.rows("SELECT id FROM \(parent)") == ["'y'"])
  }

  @Test(arguments: 0..<UInt64(SuiteSize.count(3, long: 200)))
  func whateverIsEditedAllHaveTheSameRows(seed: UInt64) throws {
    let schema = Self.schema(
      parent: seed.isMultiple(of: 2) ? "a" : "m",
      child: "b"
    )
    let benches = try ["desk", "phone"].map { try HistoryBench(schema, replica: $0) }
    var random = SplitMix64(seed: seed)
    let parent = seed.isMultiple(of: 2) ? "a" : "m"
    for step in 0..<30 {
      let bench = benches[Int(random.next() % 2)]
      let key = ["x", "y", "z"][Int(random.next() % 3)]
      switch random.next() % 8 {
      case 0, 1: try bench.commit("INSERT OR REPLACE INTO \(parent) VALUES('\(key)', \(step))")
      case 2: try bench.commit("UPDATE \(parent) SET n = \(step) WHERE id = '\(key)'")
      case 3: try bench.commit("DELETE FROM \(parent) WHERE id = '\(key)'")
      case 4: try bench.commit("UPDATE OR REPLACE \(parent) SET id = 'y' WHERE id = '\(key)'")
      case 5: try bench.commit("UPDATE b SET v = 's\(step)', p = '\(key)' WHERE id > '\(key)'")
      default: try bench.sync(from: benches[bench === benches[0] ? 1 : 0])
      }
    }
    for _ in 0..<3 {
      try benches[0].sync(from: benches[1])
      try benches[1].sync(from: benches[0])
    }
    try HistoryBench.expectEqual(benches, Self.all(parent: parent, child: "b"))
  }
}

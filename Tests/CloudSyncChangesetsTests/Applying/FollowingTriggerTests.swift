import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import Testing

@testable import CloudSyncChangesets

/// What triggers of the app's keep beside the rows of a history follows these, whatever has changed them.
@Suite struct FollowingTriggerTests {
  private static let counted = """
    CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, tag TEXT);
    CREATE TABLE tags(id TEXT PRIMARY KEY NOT NULL);
    CREATE TABLE total(id INTEGER PRIMARY KEY, n INTEGER); INSERT INTO total VALUES(1, 0);
    CREATE TRIGGER tagged AFTER INSERT ON notes BEGIN
      INSERT OR IGNORE INTO tags VALUES(new.tag);
    END;
    CREATE TRIGGER added AFTER INSERT ON notes BEGIN UPDATE total SET n = n + 1; END;
    CREATE TRIGGER removed AFTER DELETE ON notes BEGIN UPDATE total SET n = n - 1; END;
    """

  @Test func aTriggerMayIgnoreRowsThatAreThere() throws {
    let desk = try HistoryBench(Self.counted, replica: "desk", tables: ["notes", "tags"])
    let phone = try HistoryBench(Self.counted, replica: "phone", tables: ["notes", "tags"])
    try desk.commit("INSERT INTO notes VALUES('a', 'x'), ('b', 'x'), ('c', 'x')")
    try phone.sync(from: desk)
    #expect(try phone.rows("SELECT n FROM total") == ["3"])
    try desk.commit("DELETE FROM notes")
    for _ in 0..<2 {
      _ = try desk.repository.undo()
      #expect(try desk.rows("SELECT n FROM total") == ["3"])
      _ = try desk.repository.redo()
      #expect(try desk.rows("SELECT n FROM total") == ["0"])
    }
    #expect(try desk.repository.verify().problems == [])
  }

  @Test(arguments: [("lines", "orders"), ("a_lines", "orders"), ("lines", "a_orders")])
  func whatFollowsARowThatATriggerHasChangedFollowsItBack(lines: String, orders: String) throws {
    let schema = """
      CREATE TABLE \(orders)(id TEXT PRIMARY KEY NOT NULL, total INTEGER);
      CREATE TABLE \(lines)(id TEXT PRIMARY KEY NOT NULL, ord TEXT, price INTEGER);
      CREATE TABLE sums(id INTEGER PRIMARY KEY, s INTEGER);
      CREATE TRIGGER made AFTER INSERT ON \(orders) BEGIN
        INSERT INTO sums VALUES(1, new.total) ON CONFLICT DO UPDATE SET s = s + new.total;
      END;
      CREATE TRIGGER changed AFTER UPDATE ON \(orders) BEGIN
        UPDATE sums SET s = s - old.total + new.total;
      END;
      CREATE TRIGGER added AFTER INSERT ON \(lines) BEGIN
        UPDATE \(orders) SET total = total + new.price WHERE id = new.ord;
      END;
      """
    let (desk, phone) = (
      try HistoryBench(schema, replica: "desk", tables: [lines, orders]),
      try HistoryBench(schema, replica: "phone", tables: [lines, orders])
    )
    try desk.commit("INSERT INTO \(orders) VALUES('o', 0)")
    try desk.commit("INSERT INTO \(lines) VALUES('milk', 'o', 10)")
    try phone.sync(from: desk)
    try desk.commit("INSERT INTO \(lines) VALUES('tea', 'o', 5); UPDATE \(orders) SET total = 14")
    try phone.sync(from: desk)

    for bench in [desk, phone] {
      #expect(try bench.rows("SELECT total FROM \(orders)") == ["14"])
      #expect(try bench.rows("SELECT s FROM sums") == ["14"])
      #expect(try bench.repository.verify().problems == [])
    }
  }

  @Test(arguments: [true, false])
  func aTriggerThatNoChangeReachesMayEndTransactions(isReached: Bool) throws {
    let other = "CREATE TABLE other(id TEXT PRIMARY KEY NOT NULL, n INTEGER);"
    let watch = """
      CREATE TRIGGER ending BEFORE INSERT ON other WHEN new.n < 0 BEGIN
        SELECT RAISE(ROLLBACK, 'no');
      END;
      """
    let reach =
      "CREATE TRIGGER more AFTER INSERT ON tags BEGIN REPLACE INTO other VALUES('x', 1); END;"
    let schema = other + watch + Self.counted + (isReached ? reach : "")
    let (desk, phone) = (
      try HistoryBench(schema, replica: "desk", tables: ["notes", "tags"]),
      try HistoryBench(schema, replica: "phone", tables: ["notes", "tags"])
    )
    try desk.commit("INSERT INTO notes VALUES('a', 'x')")
    try phone.sync(from: desk)

    #expect(try phone.rows("SELECT n FROM total") == [isReached ? "0" : "1"])
    #expect(try phone.rows("SELECT id FROM notes") == ["'a'"])
  }

  @Test func aTableThatATriggerWritesMayHaveARuleThatEndsTransactions() throws {
    let schema = """
      CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, tag TEXT);
      CREATE TABLE other(tag TEXT UNIQUE ON CONFLICT ROLLBACK);
      CREATE TRIGGER tagged AFTER INSERT ON notes BEGIN INSERT INTO other VALUES(new.tag); END;
      """
    let (desk, phone) = (
      try HistoryBench(schema, replica: "desk", tables: ["notes"]),
      try HistoryBench(schema, replica: "phone", tables: ["notes"])
    )
    try phone.database.execute("INSERT INTO other VALUES('x')")
    try desk.commit("INSERT INTO notes VALUES('a', 'x'), ('b', 'y')")
    try phone.sync(from: desk)

    #expect(try phone.rows("SELECT id, tag FROM notes ORDER BY id") == ["'a', 'x'", "'b', 'y'"])
    #expect(try phone.repository.verify().problems == [])
  }

  @Test(arguments: ["name TEXT UNIQUE ON CONFLICT ROLLBACK", "name TEXT, \"rollback\" INTEGER"])
  func aTableWithARuleThatEndsTransactionsHasItsTriggers(columns: String) throws {
    let schema = """
      CREATE TABLE people(id TEXT PRIMARY KEY NOT NULL, \(columns));
      CREATE TABLE total(n INTEGER); INSERT INTO total VALUES(0);
      CREATE TRIGGER added AFTER INSERT ON people BEGIN UPDATE total SET n = n + 1; END;
      """
    let (desk, phone) = (
      try HistoryBench(schema, replica: "desk", tables: ["people"]),
      try HistoryBench(schema, replica: "phone", tables: ["people"])
    )
    try desk.commit("INSERT INTO people(id, name) VALUES('a', 'A'), ('b', 'B')")
    try phone.sync(from: desk)
    #expect(try phone.rows("SELECT n FROM total") == ["2"])
  }

  @Test func whatCountsEditsIsNotToldOfThoseThatAreTakenBack() throws {
    let schema = """
      CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT, seen INTEGER DEFAULT 0);
      CREATE TABLE audit(k INTEGER PRIMARY KEY, old TEXT, new TEXT);
      CREATE TRIGGER stamped AFTER UPDATE OF title ON notes BEGIN
        UPDATE notes SET seen = (SELECT count(*) FROM audit) + abs(random() % 1000) + 7 WHERE id = new.id;
      END;
      CREATE TRIGGER audited AFTER UPDATE OF title ON notes BEGIN
        INSERT INTO audit(old, new) VALUES(old.title, new.title);
      END;
      """
    let (desk, phone) = (
      try HistoryBench(schema, replica: "desk", tables: ["notes"]),
      try HistoryBench(schema, replica: "phone", tables: ["notes"])
    )
    try desk.commit("INSERT INTO notes(id, title) VALUES('a', 'A'), ('b', 'B')")
    try phone.sync(from: desk)
    try desk.commit("UPDATE notes SET title = title || '2'")
    try phone.sync(from: desk)
    try HistoryBench.expectEqual([desk, phone], "SELECT id, title, seen FROM notes ORDER BY id")
    let lines = try phone.rows("SELECT old, new FROM audit ORDER BY k")
    #expect(lines == ["'A', 'A2'", "'B', 'B2'"])
  }

  @Test func aHistoryThatIsRemovedLeavesWhatOnlyBeginsAsItsTablesDo() throws {
    let schema = """
      CREATE TABLE changesets_mine(id TEXT PRIMARY KEY NOT NULL); INSERT INTO changesets_mine VALUES('a');
      CREATE TABLE changesets_old_99(id TEXT PRIMARY KEY NOT NULL);
      CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL);
      CREATE TRIGGER changesets_trig AFTER INSERT ON notes BEGIN SELECT 1; END;
      """
    let bench = try HistoryBench(schema, replica: "desk", tables: ["notes"])
    try bench.commit("INSERT INTO notes VALUES('n')")
    try bench.repository.remove()

    #expect(try bench.rows("SELECT * FROM changesets_mine") == ["'a'"])
    let left = "SELECT name FROM sqlite_schema WHERE name LIKE 'changesets%' ORDER BY name"
    #expect(
      try bench.rows(left) == ["'changesets_mine'", "'changesets_old_99'", "'changesets_trig'"]
    )
  }

  @Test func aTableOfTheAppWithANameOfTheHistorysIsTold() throws {
    let database = try DatabaseFile(path: ":memory:", createsFile: true)
    try database.execute(
      "CREATE TABLE changesets_log(id TEXT PRIMARY KEY NOT NULL); CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL)"
    )
    let error = #expect(throws: ChangesetError.self) {
      try ChangesetRepository(database, tables: ["t"])
    }
    #expect(error?.code == .misuse)
    #expect(error?.description.contains("\"changesets_log\"") == true)
  }
}

import CloudSyncCore
import CloudSyncSQLite
import Testing

@testable import CloudSyncChangesets

/// A trigger of the app's that refuses or fails keeps no commit out: rows are what the history says.
@Suite struct RaisingTriggerTests {
  private static let schema =
    HistoryBench.people + "CREATE TABLE sums(total INTEGER);"
    + "INSERT INTO sums VALUES(0);"
  private static let sum = """
    CREATE TRIGGER summed AFTER UPDATE OF score ON people BEGIN
      UPDATE sums SET total = total + new.score - ifnull(old.score, 0);
    END;
    """

  @Test(arguments: ["ABORT, 'no'", "FAIL, 'no'", "IGNORE", "ROLLBACK, 'no'"])
  func aTriggerThatRaises(action: String) throws {
    let free = try HistoryBench(Self.schema, replica: "free", tables: ["people"])
    let strict = try HistoryBench(
      Self.schema + Self.sum + """
        CREATE TRIGGER refusing BEFORE UPDATE ON people WHEN new.score < 0 BEGIN
          SELECT RAISE(\(action));
        END;
        CREATE TRIGGER missing BEFORE INSERT ON people WHEN new.score < 0 BEGIN
          SELECT RAISE(\(action));
        END;
        CREATE TRIGGER keeping BEFORE DELETE ON people BEGIN SELECT RAISE(\(action)); END;
        """,
      replica: "strict",
      tables: ["people"]
    )
    try free.commit("INSERT INTO people(id, score) VALUES('a', 1), ('b', 2), ('c', 3)")
    try strict.sync(from: free)
    try free.commit(
      """
      UPDATE people SET score = -5 WHERE id = 'a'; UPDATE people SET score = 12 WHERE id = 'b';
      DELETE FROM people WHERE id = 'c'; INSERT INTO people(id, score) VALUES('d', -1)
      """
    )
    try strict.sync(from: free)
    try HistoryBench.expectEqual([free, strict])
    #expect(
      try strict.rows("SELECT id, score FROM people ORDER BY id") == [
        "'a', -5", "'b', 12", "'d', -1",
      ]
    )
    #expect(try strict.repository.status().parked == [])
    // What the trigger let through is in the sum.
    if !action.hasPrefix("ROLLBACK") {
      #expect(try strict.rows("SELECT total FROM sums") == ["10"])
    }
    // Going back passes the same triggers.
    try strict.repository.checkout(Revision("HEAD~1"))
    try strict.repository.switchBranch("main")
    #expect(try strict.repository.verify().problems == [])
    try HistoryBench.expectEqual([free, strict])
  }

  @Test func aTriggerThatCannotRun() throws {
    let free = try HistoryBench(replica: "free")
    let strict = try HistoryBench(
      HistoryBench.people
        + "CREATE TRIGGER odd AFTER INSERT ON people BEGIN SELECT of_the_app(new.id); END;"
        + "CREATE TRIGGER odder AFTER UPDATE ON people BEGIN INSERT INTO gone VALUES(1); END;",
      replica: "strict"
    )
    try free.commit("INSERT INTO people(id, score) VALUES('a', 1)")
    try strict.sync(from: free)
    try free.commit("UPDATE people SET score = 2")
    try strict.sync(from: free)
    try HistoryBench.expectEqual([free, strict])
    #expect(try strict.rows("SELECT id, score FROM people") == ["'a', 2"])
  }

  @Test func aTriggerAndACheckThatRefuse() throws {
    let free = try HistoryBench(replica: "free")
    let strict = try HistoryBench(
      """
      CREATE TABLE people(
        id TEXT PRIMARY KEY NOT NULL, name TEXT, score INTEGER CHECK(score < 100), note);
      CREATE TRIGGER stamped AFTER UPDATE OF score ON people BEGIN
        UPDATE people SET note = 'changed' WHERE id = new.id;
      END;
      """,
      replica: "strict"
    )
    try free.commit("INSERT INTO people(id, score) VALUES('a', 1), ('b', 2)")
    try strict.sync(from: free)
    try free.commit(
      "UPDATE people SET score = 100 WHERE id = 'a'; UPDATE people SET score = 3 WHERE id = 'b'"
    )
    try strict.sync(from: free)
    #expect(try strict.rows("SELECT id, score, note FROM people") == ["'b', 3, NULL"])
    #expect(try strict.repository.status().parked.map(\.key) == [[.string("a")]])
    #expect(try strict.repository.verify().problems == [])
    try free.commit("UPDATE people SET score = 99 WHERE id = 'a'")
    try strict.sync(from: free)
    try HistoryBench.expectEqual([free, strict])
  }
}

import CloudSyncSQLiteSupport
import Testing

@testable import CloudSyncSQLiteSchema

@Suite("Triggers that write synchronized rows")
struct TriggerCheckTests {
  /// The tables of whose triggers there is a warning, in a database with lists, items and a log that is not synchronized.
  private func warned(_ trigger: String) throws -> [String] {
    let connection = try SQLiteConnection(path: ":memory:")
    try connection.execute(
      """
      CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL, n INTEGER);
      CREATE TABLE items(id TEXT PRIMARY KEY NOT NULL, list TEXT, changed TEXT);
      CREATE TABLE log(note TEXT);
      CREATE TABLE cloudsync_activity(is_synchronizing);
      \(trigger)
      """
    )
    let schema = try DatabaseSchema.read(connection)
    return ["lists", "items"].compactMap { schema.table(named: $0) }
      .flatMap { TriggerCheck(table: $0, synchronized: ["Lists", "items"]).warnings() }
      .map(\.table)
  }

  @Test(
    "Who writes other rows without asking who writes is named",
    arguments: [
      "CREATE TRIGGER a AFTER INSERT ON items BEGIN UPDATE lists SET n = n + 1 WHERE id = NEW.list; END",
      "CREATE TRIGGER a AFTER INSERT ON items BEGIN UPDATE OR IGNORE \"lists\" SET n = 1; END",
      "CREATE TRIGGER a AFTER UPDATE ON items BEGIN INSERT INTO items(id) VALUES(hex(randomblob(8))); END",
      "CREATE TRIGGER a AFTER UPDATE ON items BEGIN SELECT 1; REPLACE INTO [lists] VALUES('x', 1); END",
      "CREATE TRIGGER a AFTER DELETE ON items BEGIN DELETE FROM lists WHERE id = OLD.list; END",
    ]
  )
  func writing(trigger: String) throws { #expect(try warned(trigger) == ["items"]) }

  @Test(
    "Nobody else is",
    arguments: [
      "CREATE TRIGGER a AFTER UPDATE ON items BEGIN UPDATE items SET changed = 'now' WHERE id = NEW.id; END",
      "CREATE TRIGGER a AFTER INSERT ON items BEGIN INSERT INTO log VALUES(NEW.id); DELETE FROM log; END",
      """
      CREATE TRIGGER a AFTER INSERT ON items WHEN NOT (SELECT is_synchronizing FROM cloudsync_activity)
      BEGIN UPDATE lists SET n = n + 1 WHERE id = NEW.list; END
      """,
      "CREATE TRIGGER a BEFORE UPDATE OF list ON items BEGIN SELECT id FROM lists; END",
      "CREATE TRIGGER cloudsync_a AFTER INSERT ON items BEGIN UPDATE lists SET n = 1; END",
    ]
  )
  func others(trigger: String) throws { #expect(try warned(trigger) == []) }
}

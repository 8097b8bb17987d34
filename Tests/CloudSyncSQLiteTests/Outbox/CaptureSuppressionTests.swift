import CloudSyncSQLiteSupport
import Testing

@testable import CloudSyncSQLite

@Suite("The engine's own writes")
struct CaptureSuppressionTests {
  private static let schema = """
    PRAGMA foreign_keys = ON;
    CREATE TABLE t(
      id TEXT PRIMARY KEY NOT NULL COLLATE NOCASE, a, parent REFERENCES t ON DELETE CASCADE
    );
    CREATE TABLE c(
      x INT, y TEXT, a, parent TEXT REFERENCES t ON DELETE CASCADE, PRIMARY KEY(x, y)
    );
    CREATE TABLE log(id INTEGER PRIMARY KEY, who TEXT);
    CREATE TRIGGER app AFTER UPDATE OF a ON t WHEN old.a IS NOT new.a BEGIN
      UPDATE c SET a = new.a WHERE parent = new.id;
      UPDATE t SET a = new.a WHERE id = 'other' AND new.id <> 'other';
    END;
    INSERT INTO t(id) VALUES('p'), ('other'); INSERT INTO t VALUES('child', 1, 'p');
    INSERT INTO c VALUES(1, 'y', 1, 'p'), (2, 'z', 1, 'other');
    """

  private func run(
    _ body: (CaptureHarness, CaptureSuppression) throws(SQLiteError) -> Void
  ) throws -> [String] {
    let harness = try CaptureHarness(Self.schema, tables: ["t", "c", "log"])
    let suppression = CaptureSuppression(connection: harness.connection)
    try harness.connection.transaction { () throws(SQLiteError) in try body(harness, suppression) }
    let state = "SELECT own_table, own_all, k0, k1, is_synchronizing FROM cloudsync_clock"
    #expect(try harness.lines(state) == ["NULL|NULL|NULL|NULL|0"])
    return CaptureHarness.text(try harness.read())
  }

  @Test("A row that it names is not captured; what the app's triggers and cascades do is")
  func consequences() throws {
    let edits = try run { (harness, suppression) throws(SQLiteError) in
      let table = harness.tables[0]
      try suppression.withoutCapture(ofRowsOf: table, mapping: { $0 }) {
        (rows) throws(SQLiteError) in
        try rows.name([.text("P")])
        try harness.connection.execute("UPDATE t SET a = 2 WHERE id = 'p'")
        try rows.name([.text("new")])
        try harness.connection.execute("INSERT INTO t VALUES('new', 3, NULL)")
        try rows.name([.text("p")])
        try harness.connection.execute("DELETE FROM t WHERE id = 'p'")
      }
      try suppression.withoutCapture(ofRowsOf: harness.tables[1], mapping: { $0 }) {
        (rows) throws(SQLiteError) in
        try rows.name([.integer(2), .text("z")])
        try harness.connection.execute(
          "UPDATE c SET parent = NULL; INSERT INTO c(x, y) VALUES(3, 'z')"
        )
      }
    }
    #expect(
      Set(edits.map { $0.prefix { $0 != "@" } }) == [
        "1,'y' -", "'other' ~a=2", "'child' -", "3,'z' +x=3,y=z,a=NULL,parent=NULL",
      ]
    )
  }

  @Test("Nothing is captured of a whole table, and of all others everything")
  func wholeTable() throws {
    let edits = try run { (harness, suppression) throws(SQLiteError) in
      try suppression.withoutCapture(of: harness.tables[0], mapping: { $0 }) {
        () throws(SQLiteError) in
        try harness.connection.execute(
          "UPDATE t SET id = 'q' WHERE id = 'child'; UPDATE t SET parent = NULL"
        )
        try harness.connection.execute(
          "INSERT INTO t(id) VALUES('r'); DELETE FROM t WHERE id = 'r'"
        )
        try harness.connection.execute("INSERT INTO c(x, y) VALUES(9, 'c')")
      }
      try harness.connection.execute("UPDATE t SET parent = 'q' WHERE id = 'q'")
    }
    #expect(edits == ["9,'c' +x=9,y=c,a=NULL,parent=NULL@1000.0", "'q' ~parent=q@1000.2"])
  }

  @Test("A scope that fails ends, and the transaction may go on")
  func failure() throws {
    let edits = try run { (harness, suppression) throws(SQLiteError) in
      do throws(SQLiteError) {
        try suppression.withoutCapture(of: harness.tables[0], mapping: { $0 }) {
          () throws(SQLiteError) in
          try harness.connection.execute("INSERT INTO t(id) VALUES('p')")
        }
      } catch { #expect(error.kind == .constraint) }
      try harness.connection.execute("INSERT INTO t(id) VALUES('s')")
    }
    #expect(edits == ["'s' +id=s,a=NULL,parent=NULL@1000.0"])
  }

  @Test("An app's trigger can ask whether it is the engine that writes, on any connection")
  func activity() throws {
    let edits = try run { (harness, suppression) throws(SQLiteError) in
      try harness.connection.execute(
        """
        CREATE TRIGGER note AFTER INSERT ON t
        WHEN NOT (SELECT is_synchronizing FROM cloudsync_activity) BEGIN
          INSERT INTO log(who) VALUES(new.id); END
        """
      )
      try harness.connection.execute("INSERT INTO t(id) VALUES('app')")
      try suppression.setSynchronizing(true)
      try harness.connection.execute("INSERT INTO t(id) VALUES('engine')")
      try suppression.setSynchronizing(false)
    }
    #expect(edits.contains { $0.contains("who=app") })
    #expect(!edits.contains { $0.contains("who=engine") })
  }
}

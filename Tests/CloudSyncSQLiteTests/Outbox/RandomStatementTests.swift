import CloudSyncSQLiteSupport
import CloudSyncSimulator
import CloudSyncTestSupport
import Testing

@testable import CloudSyncSQLite

@Suite("Random statements")
struct RandomStatementTests {
  static let schemas = [
    "CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, u UNIQUE, a, b)",
    "CREATE TABLE t(id TEXT COLLATE NOCASE, u COLLATE RTRIM UNIQUE, a, b, PRIMARY KEY(id))",
    "CREATE TABLE t(id INTEGER PRIMARY KEY, u, a NOT NULL ON CONFLICT REPLACE DEFAULT 1, b UNIQUE, UNIQUE(u, a))",
    "CREATE TABLE t(id, u, a, b, PRIMARY KEY(id, u)) WITHOUT ROWID",
    "CREATE TABLE t(id COLLATE NOCASE, u REAL, a TEXT, b BLOB, g AS (a || b) UNIQUE, PRIMARY KEY(id, u))",
    "CREATE TABLE t(id ANY PRIMARY KEY NOT NULL, u INT, a ANY COLLATE NOCASE UNIQUE, b REAL) STRICT",
    """
    CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL COLLATE RTRIM, u REFERENCES t(id) ON DELETE SET NULL
      ON UPDATE CASCADE, a, b);
    CREATE UNIQUE INDEX some ON t(a) WHERE b > 1; CREATE UNIQUE INDEX computed ON t(lower(b), u);
    """,
    "CREATE TABLE t(id PRIMARY KEY NOT NULL, u REFERENCES t(id) ON DELETE CASCADE ON UPDATE CASCADE, a UNIQUE, b)",
    """
    CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, u INTEGER REFERENCES t(id) ON DELETE CASCADE ON UPDATE CASCADE
      DEFERRABLE INITIALLY DEFERRED, a, b);
    CREATE INDEX i ON t(u);
    """,
    """
    CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, u REAL REFERENCES t(a) ON DELETE SET NULL, a TEXT UNIQUE, b);
    CREATE TABLE c(p INTEGER REFERENCES t(id)); CREATE INDEX i ON c(p); CREATE INDEX j ON t(u);
    """,
    """
    CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, u NUMERIC REFERENCES t(id) ON UPDATE SET NULL, a, b);
    CREATE INDEX i ON t(u);
    """,
    """
    CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, u INT, a TEXT NOT NULL DEFAULT 'a' COLLATE NOCASE, b NUMERIC);
    CREATE UNIQUE INDEX some ON t(a) WHERE u > '1'; CREATE UNIQUE INDEX other ON t(u) WHERE a = 'B' AND b = '2';
    """,
    """
    CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, u REAL, a TEXT COLLATE NOCASE, b);
    CREATE UNIQUE INDEX computed ON t((u > '1'), (a = 'A'), (a > b), u); CREATE UNIQUE INDEX more ON t((b || u)) WHERE a <> 'A';
    """,
    """
    CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, u, a, b);
    CREATE TRIGGER app AFTER UPDATE OF a ON t WHEN new.b IS NOT 9 BEGIN
      UPDATE OR IGNORE t SET b = 9 WHERE id = new.id; DELETE FROM t WHERE u = new.b; END;
    CREATE TRIGGER more AFTER INSERT ON t WHEN new.b = 2 BEGIN
      INSERT OR REPLACE INTO t(id, a) VALUES(new.a, new.id); END;
    """,
  ]

  private static let values = [
    "NULL", "1", "2", "2.0", "'1'", "'a'", "'A'", "'a '", "'b'", "x'61'", "0.5", "''", "'01'",
    "CAST(x'610062' AS TEXT)", "CAST(x'ff' AS TEXT)", "9", "-1",
  ]
  private static let clauses = [
    "", "OR IGNORE", "OR REPLACE", "OR REPLACE", "OR FAIL", "OR ABORT", "OR ROLLBACK",
  ]
  private static let columns = ["id", "u", "a", "b"]

  @Test("Replayed over a copy, what was read gives the table's rows", arguments: schemas.indices)
  func replay(number: Int) throws {
    for seed in 0..<SuiteSize.count(1, long: 120) {
      let fault = try fault(schema: number, seed: seed)
      #expect(fault == nil, "seed \(seed)")
    }
  }

  /// The statements since the last reading after which copy and table differ; nil if none do.
  private func fault(schema number: Int, seed: Int) throws -> String? {
    var random = SeededRandom(seed: UInt64(number * 1_000 + seed))
    let pragmas =
      "PRAGMA recursive_triggers = \(seed % 2); PRAGMA foreign_keys = \(seed / 2 % 2);"
    let harness = try CaptureHarness(
      pragmas + Self.schemas[number],
      kept: seed % 3 == 0 ? ["a", "b"] : []
    )
    var script: [String] = []
    for step in 0..<60 {
      let sql = statement(&random)
      script.append(sql)
      // What SQLite refuses is part of the script.
      do { try harness.execute(sql) } catch { script.append("-- \(error)") }
      if harness.connection.isInTransaction, step % 5 == 4 {
        do { try harness.execute("COMMIT") } catch {
          script.append("ROLLBACK -- \(error)")
          try harness.execute("ROLLBACK")
        }
      }
      if harness.connection.isInTransaction || random.below(4) > 0 { continue }
      let rows = try harness.read(limit: random.within(1...8))
      if try !harness.isSame() {
        let read = CaptureHarness.text(rows).joined(separator: "\n  ")
        return "\(script.joined(separator: "\n"))\nread:\n  \(read)"
      }
      script = []
    }
    return nil
  }

  private func statement(_ random: inout SeededRandom) -> String {
    func value() -> String { random.pick(Self.values) }
    let column = random.pick(Self.columns)
    let clause = random.pick(Self.clauses)
    let row = "\(value()), \(value()), \(value()), \(value())"
    switch random.below(10) {
    case 0, 1, 2: return "INSERT \(clause) INTO t(id, u, a, b) VALUES(\(row))"
    case 3: return "INSERT \(clause) INTO t(id, u, a, b) VALUES(\(row)), (3, 4, 5, 6)"
    case 4, 5: return "UPDATE \(clause) t SET \(column) = \(value()) WHERE a IS NOT \(value())"
    case 6:
      return "INSERT INTO t(id, u, a, b) VALUES(\(row))"
        + " ON CONFLICT DO UPDATE SET \(column) = \(value()), b = excluded.b"
    case 7: return "DELETE FROM t WHERE \(column) = \(value())"
    case 8: return "UPDATE \(clause) t SET id = \(value()), a = \(value()) WHERE b > \(value())"
    default: return "BEGIN"
    }
  }
}

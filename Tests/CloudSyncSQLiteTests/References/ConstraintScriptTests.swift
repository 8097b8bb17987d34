import CloudSyncCore
import CloudSyncSQLite
import CloudSyncTestSupport
import Testing

/// `CLOUDSYNC_CONSTRAINT_SCRIPTS=1000` has that many seeds tried of each schema, `CLOUDSYNC_CONSTRAINT_SEED` one only.
@Suite("Random rows under all kinds of constraints")
struct ConstraintScriptTests {
  static let schemas: [String: ConstraintScript.Schema] = [
    "circle": .init(
      sql: """
        CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, name TEXT UNIQUE, v TEXT,
          up TEXT REFERENCES t(id) ON DELETE CASCADE ON UPDATE CASCADE);
        CREATE TABLE u(id TEXT PRIMARY KEY NOT NULL, t TEXT REFERENCES t(id) ON DELETE RESTRICT, v TEXT)
        """,
      tables: ["t", "u"],
      statements: [
        "INSERT OR IGNORE INTO t(id, name, v) VALUES($1, $2, $v)",
        "INSERT OR IGNORE INTO t(id, name, v, up) SELECT $1, $2, $v, id FROM t WHERE id = $3",
        "UPDATE OR IGNORE t SET up = $2 WHERE id = $1 AND EXISTS(SELECT 1 FROM t WHERE id = $2)",
        "UPDATE t SET up = NULL WHERE id = $1", "UPDATE OR IGNORE t SET name = $2 WHERE id = $1",
        "UPDATE OR IGNORE t SET id = $2 WHERE id = $1", "UPDATE t SET v = $v WHERE id = $1",
        "DELETE FROM t WHERE id = $1", "DELETE FROM u WHERE id = $1",
        "INSERT OR IGNORE INTO u SELECT $1, id, $v FROM t WHERE id = $2",
      ]
    ),
    "swap": .init(
      sql: """
        CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, name TEXT COLLATE NOCASE UNIQUE, v TEXT) WITHOUT ROWID
        """,
      tables: ["t"],
      statements: [
        "INSERT OR IGNORE INTO t VALUES($1, $2, $v)", "INSERT OR REPLACE INTO t VALUES($1, $2, $v)",
        "INSERT OR IGNORE INTO t VALUES($1, upper($2), $v)",
        "CREATE TEMP TABLE s AS SELECT * FROM t WHERE id IN ($1, $2); UPDATE t SET name = NULL WHERE id IN ($1, $2);"
          + " UPDATE t SET name = (SELECT name FROM s WHERE s.id <> t.id) WHERE id IN (SELECT id FROM s) AND $1 <> $2; DROP TABLE s",
        "UPDATE OR IGNORE t SET name = $2 WHERE id = $1", "DELETE FROM t WHERE id = $1",
        "UPDATE t SET v = $v WHERE id = $1",
      ]
    ),
    "alternate": .init(
      sql: """
        CREATE TABLE p(id TEXT PRIMARY KEY NOT NULL, code TEXT UNIQUE, v TEXT);
        CREATE TABLE c(id TEXT PRIMARY KEY NOT NULL, v TEXT,
          code TEXT REFERENCES p(code) ON DELETE SET NULL ON UPDATE CASCADE);
        CREATE TABLE l(code TEXT NOT NULL REFERENCES p(code) ON DELETE CASCADE ON UPDATE CASCADE,
          n TEXT NOT NULL, v TEXT, PRIMARY KEY(code, n))
        """,
      tables: ["p", "c", "l"],
      statements: [
        "INSERT OR IGNORE INTO p VALUES($1, $2, $v)",
        "UPDATE OR IGNORE p SET code = $2 WHERE id = $1",
        "UPDATE p SET v = $v WHERE id = $1", "DELETE FROM p WHERE id = $1",
        "INSERT OR IGNORE INTO c SELECT $1, $v, code FROM p WHERE id = $2",
        "UPDATE c SET code = (SELECT code FROM p WHERE id = $2) WHERE id = $1",
        "INSERT OR IGNORE INTO l SELECT code, $1, $v FROM p WHERE id = $2 AND code IS NOT NULL",
        "UPDATE l SET v = $v WHERE n = $1", "DELETE FROM l WHERE n = $1",
        "DELETE FROM c WHERE id = $1",
      ]
    ),
    "parts": .init(
      sql: """
        CREATE TABLE p(id TEXT PRIMARY KEY NOT NULL, x TEXT, y TEXT, v TEXT, UNIQUE(x, y)) STRICT;
        CREATE TABLE c(id TEXT PRIMARY KEY NOT NULL, x TEXT, y TEXT, v TEXT,
          FOREIGN KEY(x, y) REFERENCES p(x, y) ON DELETE CASCADE ON UPDATE CASCADE) STRICT, WITHOUT ROWID;
        CREATE TABLE d(id TEXT PRIMARY KEY NOT NULL, x TEXT NOT NULL, y TEXT NOT NULL, v TEXT,
          c TEXT REFERENCES c(id) ON UPDATE RESTRICT,
          FOREIGN KEY(y, x) REFERENCES p(y, x) ON UPDATE RESTRICT) STRICT
        """,
      tables: ["p", "c", "d"],
      statements: [
        "INSERT OR IGNORE INTO p VALUES($1, $2, $3, $v)",
        "UPDATE OR IGNORE p SET x = $2 WHERE id = $1",
        "UPDATE OR IGNORE p SET y = NULL WHERE id = $1",
        "UPDATE OR IGNORE p SET x = $2, y = $3 WHERE id = $1",
        "DELETE FROM p WHERE id = $1", "UPDATE p SET v = $v WHERE id = $1",
        "INSERT OR IGNORE INTO c SELECT $1, x, y, $v FROM p WHERE id = $2",
        "UPDATE c SET x = NULL WHERE id = $1",
        "UPDATE c SET (x, y) = (SELECT x, y FROM p WHERE id = $2) WHERE id = $1",
        "DELETE FROM c WHERE id = $1",
        "UPDATE OR IGNORE c SET id = $2 WHERE id = $1",
        "INSERT OR IGNORE INTO d SELECT $1, x, y, $v, NULL FROM p WHERE id = $2",
        "UPDATE d SET c = (SELECT id FROM c WHERE id = $2) WHERE id = $1",
        "DELETE FROM d WHERE id = $1",
      ]
    ),
    "tags": .init(
      sql: """
        CREATE TABLE tags(id TEXT PRIMARY KEY NOT NULL, name TEXT UNIQUE, v TEXT);
        CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, v TEXT,
          tag TEXT NOT NULL REFERENCES tags(id) ON DELETE CASCADE ON UPDATE CASCADE);
        CREATE TABLE uses(note TEXT NOT NULL REFERENCES notes(id), name TEXT NOT NULL REFERENCES tags(name)
          ON DELETE CASCADE ON UPDATE CASCADE, v TEXT, PRIMARY KEY(note, name)) WITHOUT ROWID
        """,
      tables: ["tags", "notes", "uses"],
      statements: [
        "INSERT OR IGNORE INTO tags VALUES($1, $2, $v)",
        "UPDATE OR IGNORE tags SET name = $2 WHERE id = $1",
        "UPDATE OR IGNORE tags SET id = $2 WHERE id = $1", "UPDATE tags SET v = $v WHERE id = $1",
        "DELETE FROM tags WHERE id = $1",
        "INSERT OR IGNORE INTO notes SELECT $1, $v, id FROM tags WHERE id = $2",
        "UPDATE notes SET tag = $2 WHERE id = $1 AND EXISTS(SELECT 1 FROM tags WHERE id = $2)",
        "UPDATE notes SET v = $v WHERE id = $1", "DELETE FROM notes WHERE id = $1",
        "INSERT OR IGNORE INTO uses SELECT notes.id, tags.name, $v FROM notes, tags"
          + " WHERE notes.id = $1 AND tags.id = $2",
        "UPDATE OR IGNORE uses SET name = (SELECT name FROM tags WHERE id = $2) WHERE note = $1"
          + " AND EXISTS(SELECT 1 FROM tags WHERE id = $2)",
        "DELETE FROM uses WHERE note = $1",
      ]
    ),
    "teams": .init(
      sql: """
        CREATE TABLE teams(id TEXT PRIMARY KEY NOT NULL, name TEXT UNIQUE,
          lead TEXT NOT NULL REFERENCES people(id) DEFERRABLE INITIALLY DEFERRED);
        CREATE TABLE people(id TEXT PRIMARY KEY NOT NULL, mail TEXT UNIQUE,
          team TEXT NOT NULL REFERENCES teams(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
          boss TEXT REFERENCES people(mail) ON DELETE SET NULL ON UPDATE CASCADE)
        """,
      tables: ["teams", "people"],
      statements: [
        "INSERT OR IGNORE INTO teams VALUES($1, $2, $1); INSERT OR IGNORE INTO people SELECT $1, $3, id, NULL FROM teams WHERE id = $1;"
          + " DELETE FROM teams WHERE id = $1 AND lead NOT IN (SELECT id FROM people)",
        "INSERT OR IGNORE INTO people SELECT $1, $2, id, NULL FROM teams WHERE id = $3",
        "UPDATE people SET boss = (SELECT mail FROM people WHERE id = $2) WHERE id = $1",
        "UPDATE OR IGNORE people SET mail = $2 WHERE id = $1",
        "UPDATE OR IGNORE teams SET name = $2 WHERE id = $1",
        "UPDATE teams SET lead = $2 WHERE id = $1 AND EXISTS(SELECT 1 FROM people WHERE id = $2)",
        "UPDATE people SET team = $2 WHERE id = $1 AND EXISTS(SELECT 1 FROM teams WHERE id = $2)",
        "DELETE FROM people WHERE id = $1", "DELETE FROM teams WHERE id = $1",
      ]
    ),
    "chain": .init(
      sql: """
        CREATE TABLE a(id TEXT PRIMARY KEY NOT NULL, v TEXT);
        CREATE TABLE b(a TEXT NOT NULL REFERENCES a(id) ON DELETE CASCADE ON UPDATE CASCADE,
          n TEXT NOT NULL, v TEXT, PRIMARY KEY(a, n)) WITHOUT ROWID;
        CREATE TABLE c(id TEXT PRIMARY KEY NOT NULL, a TEXT, n TEXT, v TEXT,
          FOREIGN KEY(n, a) REFERENCES b(n, a) ON DELETE SET NULL ON UPDATE CASCADE);
        CREATE TABLE d(id TEXT PRIMARY KEY NOT NULL, a TEXT DEFAULT 'a' REFERENCES a(id) ON DELETE SET DEFAULT)
        """,
      tables: ["a", "b", "c", "d"],
      statements: [
        "INSERT OR IGNORE INTO a VALUES($1, $v)", "UPDATE OR IGNORE a SET id = $2 WHERE id = $1",
        "DELETE FROM a WHERE id = $1",
        "INSERT OR IGNORE INTO b SELECT id, $2, $v FROM a WHERE id = $1",
        "UPDATE b SET v = $v WHERE a = $1", "DELETE FROM b WHERE a = $1 AND n = $2",
        "UPDATE OR IGNORE b SET n = $2 WHERE n = $1",
        "INSERT OR IGNORE INTO c SELECT $1, a, n, $v FROM b WHERE a = $2 AND n = $3",
        "UPDATE c SET n = NULL, v = $v WHERE id = $1", "DELETE FROM c WHERE id = $1",
        "INSERT OR IGNORE INTO d SELECT $1, id FROM a WHERE id = $2", "DELETE FROM d WHERE id = $1",
      ]
    ),
  ]

  @Test(
    "Whatever comes first, all have the same rows and nothing is sent again",
    arguments: SuiteSize.pairs(2, schemas.keys.sorted(), ["newest", "merge", "rename"])
  )
  func script(name: String, policy: String) throws {
    var options = SyncEngineOptions()
    options.defaultTable.uniqueKeys = Self.policy(policy)
    let count = TestSettings.number("CLOUDSYNC_CONSTRAINT_SCRIPTS") ?? SuiteSize.count(1, long: 40)
    for number in 0..<count {
      if let only = TestSettings.number("CLOUDSYNC_CONSTRAINT_SEED"), only != number { continue }
      options.defaultTable.orphans = OrphanPolicy.allCases[number % 3]
      options.defaultTable.cascades = OrphanPolicy.allCases[number / 3 % 3]
      let schema = try #require(Self.schemas[name])
      let script = try ConstraintScript(
        schema,
        seed: UInt64(number),
        options: options,
        // Else rows stay in their tables that refer to one which is parked. The other policies park
        // none, and have scripts of both kinds.
        enforcesForeignKeys: policy == "newest" || number % 2 == 0
      )
      if let fault = try script.run() {
        let text = "seed \(number): \(fault)\n\(script.trace.joined(separator: "\n"))"
        Issue.record(Comment(rawValue: text))
      }
    }
  }

  private static func policy(_ name: String) -> UniqueKeyPolicy {
    switch name {
    case "newest": .newest
    case "merge": .merge
    default:
      .rename { conflict in
        conflict.values.map { value in
          if case .string(let text) = value {
            .string("\(text) \(conflict.attempt)")
          } else {
            value
          }
        }
      }
    }
  }
}

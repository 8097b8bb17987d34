import CloudSyncChangesets
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import Testing

/// Which edits are seen, and what they are taken for.
@Suite struct CaptureTests {
  @Test func anInsertionThatIsUpdatedAndDeletedIsNoChange() throws {
    let bench = try HistoryBench()
    let commit = try bench.commit(
      "INSERT INTO people VALUES('a', 'Ada', 1, NULL); UPDATE people SET score = 2;"
        + "DELETE FROM people"
    )
    #expect(commit == nil)
    #expect(try bench.repository.head().id == nil)
  }

  @Test func anUpdateToTheValueThatIsThereIsNoChange() throws {
    let bench = try HistoryBench()
    try bench.commit("INSERT INTO people VALUES('a', 'Ada', 1, NULL)")
    #expect(try bench.commit("UPDATE people SET name = 'Ada'") == nil)
    #expect(try bench.repository.log().count == 1)
  }

  @Test func twentyUpdatesOfARowAreOneChangeFromTheFirstToTheLastValue() throws {
    let bench = try HistoryBench()
    try bench.commit("INSERT INTO people VALUES('a', 'Ada', 0, NULL)")
    for score in 1...20 { try bench.database.execute("UPDATE people SET score = \(score)") }
    #expect(try bench.repository.changes().map(\.text) == ["update people 'a' [score: 0 → 20]"])
  }

  @Test func everyConflictClauseKeepsTheValuesOfHead() throws {
    let statements = [
      "UPDATE OR REPLACE people SET id = 'b' WHERE id = 'a'",
      "UPDATE OR FAIL people SET score = 5 WHERE id = 'a'",
      "UPDATE OR ABORT people SET score = 5 WHERE id = 'a'",
      "UPDATE OR ROLLBACK people SET score = 5 WHERE id = 'a'",
      "UPDATE OR IGNORE people SET id = 'b' WHERE id = 'a'",
      "REPLACE INTO people VALUES('a', 'Eve', 9, 1)",
      "INSERT OR IGNORE INTO people VALUES('a', 'Eve', 9, 1)",
      "INSERT INTO people VALUES('a', 'Eve', 9, 1) ON CONFLICT DO UPDATE SET score = 7",
      "INSERT INTO people VALUES('c', 'Eve', 9, 1) ON CONFLICT DO NOTHING",
      "INSERT OR REPLACE INTO people(rowid, id, name) VALUES(1, 'x', 'X')",
      "UPDATE OR REPLACE people SET _rowid_ = 2 WHERE id = 'a'",
    ]
    for statement in statements {
      for isEdited in [false, true] {
        let bench = try HistoryBench()
        let rows = "INSERT INTO people VALUES('a', 'Ada', 1, NULL), ('b', 'Bob', 2, x'01')"
        try bench.commit(rows)
        let before = try bench.rows("SELECT * FROM people ORDER BY id")
        if isEdited {
          try bench.database.execute("UPDATE people SET note = 'n', score = score + 1")
        }
        try bench.database.execute(statement)
        try bench.repository.discard()
        #expect(try bench.rows("SELECT * FROM people ORDER BY id") == before, "\(statement)")
        #expect(try bench.repository.verify().problems.isEmpty)
      }
    }
  }

  @Test(arguments: [
    "UNIQUE(name)", "UNIQUE(name), UNIQUE(score)", "UNIQUE(name COLLATE NOCASE)",
  ])
  func rowsThatReplacementRemovedByAUniqueKeyAreInTheCommit(constraint: String) throws {
    for isRecursive in [false, true] {
      let bench = try HistoryBench(
        "CREATE TABLE people(id TEXT PRIMARY KEY NOT NULL, name TEXT, score INTEGER, note, \(constraint))"
      )
      try bench.database.execute("PRAGMA recursive_triggers = \(isRecursive)")
      try bench.commit(
        "INSERT INTO people VALUES('a', 'Ada', 1, 1), ('b', 'Bob', 2, 2), ('c', 'Cy', 3, 3)"
      )
      try bench.commit("REPLACE INTO people VALUES('d', 'Ada', 2, 4)")
      try bench.commit("UPDATE OR REPLACE people SET name = 'Ada' WHERE id = 'c'")
      #expect(try bench.repository.verify().problems == [])
    }
  }

  @Test func rowsThatReplacementRemovedByTheirNumberAreInTheCommit() throws {
    for isRecursive in [false, true] {
      let bench = try HistoryBench()
      try bench.database.execute("PRAGMA recursive_triggers = \(isRecursive)")
      try bench.commit("INSERT INTO people VALUES('a', 'Ada', 1, 1), ('b', 'Bob', 2, 2)")
      try bench.commit("INSERT OR REPLACE INTO people(oid, id, name) VALUES(1, 'x', 'X')")
      try bench.commit("INSERT INTO people VALUES('a', 'Ada', 7, 1)")
      try bench.commit("UPDATE OR REPLACE people SET rowid = 2 WHERE id = 'x'")
      try bench.commit("INSERT INTO people VALUES('b', 'Bob', 3, 2)")
      #expect(try bench.repository.verify().problems == [])
    }
  }

  @Test func rowsThatReplacementRemovedByPartialAndExpressionIndexesAreInTheCommit() throws {
    let bench = try HistoryBench(
      """
      CREATE TABLE people(id TEXT PRIMARY KEY NOT NULL, name TEXT, score INTEGER, note);
      CREATE UNIQUE INDEX partial ON people(name) WHERE score > 0;
      CREATE UNIQUE INDEX computed ON people(lower(note));
      """
    )
    try bench.commit("INSERT INTO people VALUES('a', 'Ada', 1, 'X'), ('b', 'Ada', 0, 'Y')")
    let first = try bench.commit("REPLACE INTO people VALUES('c', 'Ada', 2, 'z')")
    #expect(try bench.repository.diff("HEAD~1", "HEAD").map(\.kind) == [.delete, .insert])
    #expect(first != nil)
    try bench.commit("REPLACE INTO people VALUES('d', 'Dot', 2, 'y')")
    #expect(try bench.repository.diff("HEAD~1", "HEAD").map(\.kind) == [.delete, .insert])
    #expect(try bench.repository.verify().problems == [])
  }

  @Test func triggersOfTheAppThatChangeTheRowDoNotHideWhatItWas() throws {
    let early = """
      CREATE TRIGGER early BEFORE UPDATE OF score ON people BEGIN
        UPDATE people SET note = 'early' WHERE id = old.id; END;
      CREATE TRIGGER made AFTER INSERT ON people BEGIN
        UPDATE people SET note = 'made' WHERE id = new.id; END;
      """
    let late = """
      CREATE TRIGGER late AFTER UPDATE OF score ON people BEGIN
        UPDATE people SET name = 'late' WHERE id = new.id; END;
      CREATE TRIGGER later BEFORE UPDATE OF score ON people BEGIN
        UPDATE people SET note = 'later' WHERE id = old.id; END;
      """
    let bench = try HistoryBench(HistoryBench.people + early)
    try bench.database.execute(late)
    try bench.commit("INSERT INTO people VALUES('a', 'Ada', 1, NULL)")
    let before = try bench.rows("SELECT * FROM people")
    try bench.database.execute("UPDATE people SET score = 2")
    let changed = try bench.rows("SELECT * FROM people")
    #expect(changed != before)
    try bench.repository.discard()
    #expect(try bench.rows("SELECT * FROM people") == before)
    #expect(try bench.repository.verify().problems == [])
  }

  @Test func keysAreToldApartByTheirBytes() throws {
    let bench = try HistoryBench(
      """
      CREATE TABLE names(name TEXT PRIMARY KEY NOT NULL COLLATE NOCASE, value);
      CREATE TABLE loose(key PRIMARY KEY NOT NULL, value);
      CREATE TABLE pairs(a INTEGER NOT NULL, b TEXT NOT NULL, value, PRIMARY KEY(b, a)) WITHOUT ROWID;
      """
    )
    try bench.commit(
      """
      INSERT INTO names VALUES('a', 1);
      INSERT INTO loose VALUES(1, 1), (x'', 2), (CAST(x'ff' AS TEXT), 3), ('a' || char(0) || 'b', 4),
        (-0.0, 5), (9e999, 6), (-9223372036854775808, 7), (9223372036854775807, 8);
      INSERT INTO pairs VALUES(1, 'x', 1), (2, 'x', 2);
      """
    )
    let first = try bench.rows("SELECT * FROM loose ORDER BY value")
    try bench.commit("UPDATE names SET name = 'A'; UPDATE loose SET key = 1.0 WHERE value = 1")
    let changes = try bench.repository.diff("HEAD~1", "HEAD").map(\.text)
    #expect(
      changes == [
        "delete loose 1 [value: 1 → NULL]", "insert loose 1.0 [value: NULL → 1]",
        "insert names 'A' [value: NULL → 1]", "delete names 'a' [value: 1 → NULL]",
      ]
    )
    try bench.commit(
      """
      UPDATE pairs SET a = 9 WHERE a = 1; UPDATE pairs SET a = 1 WHERE a = 2;
      UPDATE pairs SET a = 2 WHERE a = 9;
      """
    )
    #expect(
      try bench.repository.diff("HEAD~1", "HEAD").map(\.text) == [
        "update pairs 'x', 1 [value: 1 → 2]", "update pairs 'x', 2 [value: 2 → 1]",
      ]
    )
    #expect(try bench.repository.verify().problems == [])
    try bench.repository.checkout("HEAD~2")
    #expect(try bench.rows("SELECT * FROM loose ORDER BY value") == first)
    #expect(try bench.repository.verify().problems == [])
  }

  @Test func generatedColumnsAreCommittedByWhatTheyAreMadeOf() throws {
    let bench = try HistoryBench(
      """
      CREATE TABLE sums(
        id TEXT PRIMARY KEY NOT NULL, a INTEGER, b INTEGER DEFAULT (1 + 1),
        total INTEGER AS (a + b) VIRTUAL, kept INTEGER AS (a * b) STORED) STRICT;
      """
    )
    try bench.commit("INSERT INTO sums(id, a) VALUES('x', 3)")
    try bench.commit("UPDATE sums SET a = 4")
    #expect(
      try bench.repository.diff("HEAD~1", "HEAD").map(\.text) == ["update sums 'x' [a: 3 → 4]"]
    )
    try bench.repository.checkout("HEAD~1")
    #expect(try bench.rows("SELECT * FROM sums") == ["'x', 3, 2, 5, 6"])
  }

  @Test func whatIsRolledBackIsNoChange() throws {
    let bench = try HistoryBench()
    try bench.commit("INSERT INTO people VALUES('a', 'Ada', 1, NULL)")
    try bench.database.execute("BEGIN; UPDATE people SET score = 2; ROLLBACK")
    #expect(try bench.repository.status().isClean)
    try bench.database.execute(
      "BEGIN; UPDATE people SET score = 3; SAVEPOINT s; UPDATE people SET name = 'x'; ROLLBACK TO s; COMMIT"
    )
    #expect(try bench.repository.changes().map(\.text) == ["update people 'a' [score: 1 → 3]"])
  }

  @Test func cascadesAndTriggersAreInTheSameCommitOnce() throws {
    let bench = try HistoryBench(
      """
      CREATE TABLE parents(id TEXT PRIMARY KEY NOT NULL);
      CREATE TABLE children(
        id TEXT PRIMARY KEY NOT NULL, parent TEXT REFERENCES parents(id) ON DELETE CASCADE);
      CREATE TABLE audit(id TEXT PRIMARY KEY NOT NULL, what TEXT);
      CREATE TRIGGER audited AFTER DELETE ON children BEGIN
        INSERT INTO audit VALUES(old.id, 'deleted'); END;
      """
    )
    try bench.commit("INSERT INTO parents VALUES('p'); INSERT INTO children VALUES('c', 'p')")
    try bench.commit("DELETE FROM parents")
    #expect(
      try bench.repository.diff("HEAD~1", "HEAD").map(\.text) == [
        "insert audit 'c' [what: NULL → 'deleted']", "delete children 'c' [parent: 'p' → NULL]",
        "delete parents 'p' []",
      ]
    )
  }

  @Test func editsOfOtherConnectionsAreInTheNextCommit() throws {
    let folder = try ScratchFolder()
    let bench = try HistoryBench(path: folder.file("shop.db"))
    let other = try DatabaseFile(path: folder.file("shop.db"))
    try other.execute("INSERT INTO people VALUES('a', 'Ada', 1, NULL)")
    #expect(try bench.repository.status().tables.map(\.inserted) == [1])
    #expect(try bench.repository.commit() != nil)
    // The mirrors are cleared for all of them.
    let second = try ChangesetRepository(other)
    #expect(try second.status().isClean)
    #expect(try second.head() == bench.repository.head())
  }

  @Test func updatesThatThrowLeaveNothing() throws {
    struct Trouble: Error {}
    let bench = try HistoryBench()
    #expect(throws: Trouble.self) {
      try bench.repository.commit { handle in
        try SQLiteConnection(borrowing: handle).execute("INSERT INTO people(id) VALUES('a')")
        throw Trouble()
      }
    }
    #expect(try bench.rows("SELECT * FROM people") == [])
    #expect(try bench.repository.status().isClean)
    try bench.database.execute("BEGIN")
    let error = #expect(throws: ChangesetError.self) { try bench.repository.commit() }
    #expect(error?.code == .misuse)
  }
}

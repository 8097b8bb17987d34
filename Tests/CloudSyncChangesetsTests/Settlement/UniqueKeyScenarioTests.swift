import CloudSyncCore
import CloudSyncSQLite
import Testing

@testable import CloudSyncChangesets

/// Rows that may not be in a table together, after a merge.
@Suite
struct UniqueKeyScenarioTests {
  private static let people = """
    CREATE TABLE people(id TEXT PRIMARY KEY NOT NULL, email TEXT UNIQUE, name TEXT);
    CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, person TEXT NOT NULL REFERENCES people(email),
      text TEXT);
    """
  private static let strict = """
    CREATE TABLE people(id TEXT PRIMARY KEY NOT NULL, email TEXT NOT NULL UNIQUE, name TEXT);
    CREATE TABLE cards(id TEXT PRIMARY KEY NOT NULL, person TEXT REFERENCES people(id));
    CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, person TEXT NOT NULL REFERENCES people(id));
    CREATE TABLE words(id TEXT PRIMARY KEY NOT NULL, note TEXT NOT NULL REFERENCES notes(id));
    """

  // MARK: 36

  @Test
  func ofTwoRowsWithOneEMailTheNewerKeepsIt() throws {
    let bench = try MergeBench(Self.people)
    let a = try bench.commit("INSERT INTO people VALUES('a', 'e', 'Ada')", at: 10)
    let b = try bench.commit("INSERT INTO people VALUES('b', 'e', 'Bob')", at: 20)
    let m = try bench.merge(a, b)
    #expect(
      try bench.rows("SELECT * FROM people ORDER BY id", at: m) == [
        "'a' NULL 'Ada'", "'b' 'e' 'Bob'",
      ]
    )
    #expect(bench.decisions == ["unique people 'a': email=NULL | email='e'"])
  }

  @Test
  func ofTwoRowsAtOneTimeTheBytesOfTheKeyDecide() throws {
    let bench = try MergeBench(Self.people)
    let a = try bench.commit("INSERT INTO people VALUES('a', 'e', 'Ada')", at: 10)
    let b = try bench.commit("INSERT INTO people VALUES('b', 'e', 'Bob')", at: 10)
    let m = try bench.merge(a, b)
    #expect(try bench.rows("SELECT email FROM people ORDER BY id", at: m) == ["'e'", "NULL"])
  }

  @Test
  func aKeyThatMustBeIsSetAsideWithItsRow() throws {
    let bench = try MergeBench(Self.strict)
    let a = try bench.commit("INSERT INTO people VALUES('a', 'e', 'Ada')", at: 10)
    let b = try bench.commit("INSERT INTO people VALUES('b', 'e', 'Bob')", at: 20)
    let m = try bench.merge(a, b)
    #expect(try bench.rows("SELECT * FROM people", at: m) == ["'b' 'e' 'Bob'"])
    #expect(bench.decisions == ["unique people 'a' aside:  | email='e' name='Ada'"])
  }

  @Test
  func aLoserGetsTheNameThatTheAppGivesIt() throws {
    let bench = try MergeBench(Self.strict)
    bench.rules.tables["people"] = .init(
      uniqueKeys: .rename { conflict in
        conflict.values.map { .string("\($0.stringValue ?? "") \(conflict.attempt)") }
      }
    )
    let base = try bench.commit("INSERT INTO people VALUES('c', 'e 1', 'Cy')", at: 5)
    let a = try bench.commit("INSERT INTO people VALUES('a', 'e', 'Ada')", on: base, at: 10)
    let b = try bench.commit("INSERT INTO people VALUES('b', 'e', 'Bob')", on: base, at: 20)
    let m = try bench.merge(a, b)
    #expect(
      try bench.rows("SELECT id, email FROM people ORDER BY id", at: m)
        == ["'a' 'e 2'", "'b' 'e'", "'c' 'e 1'"]
    )
    #expect(bench.decisions == ["unique people 'a': email='e 2' | email='e'"])
  }

  @Test
  func ofThreeRowsWithOneEMailTheNewestKeepsItInAnyOrder() throws {
    let bench = try MergeBench(Self.strict)
    let a = try bench.commit("INSERT INTO people VALUES('a', 'e', 'Ada')", at: 10)
    let b = try bench.commit("INSERT INTO people VALUES('b', 'e', 'Bob')", at: 30)
    let c = try bench.commit("INSERT INTO people VALUES('c', 'e', 'Cy')", at: 20)
    for (one, two, three) in [(a, b, c), (b, c, a), (a, c, b)] {
      let m = try bench.merge(try bench.merge(one, two), three)
      #expect(try bench.rows("SELECT id FROM people", at: m) == ["'b'"])
    }
  }

  @Test
  func childrenFollowALoserWhoseKeyBecomesAnother() throws {
    let bench = try MergeBench(
      """
      CREATE TABLE people(id TEXT PRIMARY KEY NOT NULL, email TEXT NOT NULL UNIQUE);
      CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, person TEXT NOT NULL REFERENCES people(email));
      """
    )
    bench.rules.tables["people"] = .init(
      uniqueKeys: .rename { conflict in conflict.values.map { .string("\($0.stringValue ?? "")!") }
      }
    )
    let base = try bench.commit("INSERT INTO people VALUES('a', 'old')", at: 5)
    let a = try bench.commit(
      "INSERT INTO notes VALUES('n', 'old')",
      on: base,
      at: 10
    )
    let b = try bench.commit("UPDATE people SET email = 'new'", on: base, at: 20)
    let m = try bench.merge(a, b)
    #expect(try bench.rows("SELECT person FROM notes", at: m) == ["'new'"])
  }

  // MARK: 37

  @Test
  func childrenOfARowThatIsSetAsideLetGoOrAreSetAsideToo() throws {
    let bench = try MergeBench(Self.strict)
    let a = try bench.commit(
      """
      INSERT INTO people VALUES('a', 'e', 'Ada'); INSERT INTO cards VALUES('c', 'a');
      INSERT INTO notes VALUES('n', 'a'); INSERT INTO words VALUES('w', 'n');
      """,
      at: 10
    )
    let b = try bench.commit("INSERT INTO people VALUES('b', 'e', 'Bob')", at: 20)
    let m = try bench.merge(a, b)
    #expect(try bench.rows("SELECT * FROM cards", at: m) == ["'c' NULL"])
    #expect(try bench.rows("SELECT id FROM notes UNION SELECT id FROM words", at: m) == [])
    #expect(
      bench.decisions == [
        "foreignKey cards 'c': person=NULL | person='a'",
        "foreignKey notes 'n' aside:  | person='a'",
        "unique people 'a' aside:  | email='e' name='Ada'",
        "foreignKey words 'w' aside:  | note='n'",
      ]
    )
  }

  // MARK: 38

  @Test
  func swappedValuesMeetANewRow() throws {
    let bench = try MergeBench("CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, place INTEGER UNIQUE)")
    let base = try bench.commit("INSERT INTO t VALUES('a', 1), ('b', 2), ('c', 3)", at: 1)
    let a = try bench.commit(
      """
      UPDATE t SET place = NULL; UPDATE t SET place = CASE id WHEN 'a' THEN 2 WHEN 'b' THEN 3 ELSE 1 END
      """,
      on: base,
      at: 10
    )
    let b = try bench.commit(
      "UPDATE t SET place = 9 WHERE id = 'c'; INSERT INTO t VALUES('d', 3)",
      on: base,
      at: 20
    )
    let m = try bench.merge(a, b)
    #expect(
      try bench.rows("SELECT * FROM t ORDER BY id", at: m) == [
        "'a' 2", "'b' NULL", "'c' 9", "'d' 3",
      ]
    )
  }

  // MARK: 39

  @Test
  func chainsOfTwoUniqueKeysEndAlikeFromEverySide() throws {
    let sql =
      "CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, p TEXT NOT NULL UNIQUE, q TEXT NOT NULL UNIQUE)"
    let inserts = ["('x', 'one', 'x')", "('y', 'one', 'two')", "('z', 'z', 'two')"]
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
      let bench = try MergeBench(sql)
      var commits: [ChangesetID] = []
      for place in order {
        commits.append(
          try bench.commit("INSERT INTO t VALUES\(inserts[place])", at: 10 * (place + 1))
        )
      }
      let together = try bench.merge(commits[0], commits[1])
      let m = try bench.merge(together, commits[2])
      let rows = try bench.rows("SELECT id FROM t ORDER BY id", at: m)
      // x comes after y only where y has set it aside before z came.
      #expect(rows == (order.last == 2 ? ["'z'"] : ["'x'", "'z'"]), "\(order)")
    }
  }

  @Test
  func ofAChainInOneMergeTheStrongestIsTakenFirst() throws {
    let bench = try MergeBench(
      "CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, p TEXT NOT NULL UNIQUE, q TEXT NOT NULL UNIQUE)"
    )
    let a = try bench.commit("INSERT INTO t VALUES('y', 'one', 'two')", at: 20)
    let x = try bench.commit("INSERT INTO t VALUES('x', 'one', 'x')", at: 10)
    let xz = try bench.commit("INSERT INTO t VALUES('z', 'z', 'two')", on: x, at: 30)
    // z beats y, and so x, which y would have beaten, stays.
    let m = try bench.merge(a, xz)
    #expect(try bench.rows("SELECT id FROM t ORDER BY id", at: m) == ["'x'", "'z'"])
    #expect(bench.decisions == ["unique t 'y' aside:  | p='one' q='two'"])
  }

  // MARK: 40

  @Test
  func collationsPredicatesAndExpressionsCount() throws {
    let bench = try MergeBench(
      """
      CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, a TEXT, b TEXT, c TEXT, gone INTEGER);
      CREATE UNIQUE INDEX nocase ON t(a COLLATE NOCASE);
      CREATE UNIQUE INDEX part ON t(b) WHERE gone IS NULL;
      CREATE UNIQUE INDEX expression ON t(lower(c));
      """
    )
    let a = try bench.commit(
      "INSERT INTO t VALUES('1', 'Q', NULL, NULL, NULL), ('2', NULL, 'b', NULL, NULL),"
        + " ('3', NULL, 'old', NULL, 1), ('4', NULL, NULL, 'Ä x', NULL)",
      at: 10
    )
    let b = try bench.commit(
      "INSERT INTO t VALUES('5', 'q', NULL, NULL, NULL), ('6', NULL, 'b', NULL, NULL),"
        + " ('7', NULL, 'old', NULL, NULL), ('8', NULL, NULL, 'Ä X', NULL)",
      at: 20
    )
    let m = try bench.merge(a, b)
    #expect(
      bench.decisions == [
        "unique t '1': a=NULL | a='Q'", "unique t '2': b=NULL | b='b'",
        "unique t '4': c=NULL | c='Ä x'",
      ]
    )
    #expect(try bench.rows("SELECT count(*) FROM t", at: m) == ["8"])
  }

  @Test
  func keysThatACollationTakesForOneAreSettled() throws {
    let bench = try MergeBench(
      "CREATE TABLE t(id TEXT PRIMARY KEY COLLATE NOCASE NOT NULL, v TEXT)"
    )
    let a = try bench.commit("INSERT INTO t VALUES('K', 'A')", at: 10)
    let b = try bench.commit("INSERT INTO t VALUES('k', 'B')", at: 20)
    let m = try bench.merge(a, b)
    #expect(try bench.rows("SELECT * FROM t", at: m).count == 1)
    #expect(bench.conflicts.count == 1 && bench.conflicts[0].isSetAside)
  }

  @Test
  func aLoserWithoutAFreeNameIsSetAside() throws {
    let bench = try MergeBench(Self.strict)
    bench.rules.tables["people"] = .init(uniqueKeys: .rename { _ in [.string("taken")] })
    let base = try bench.commit("INSERT INTO people VALUES('t', 'taken', 'T')", at: 5)
    let a = try bench.commit("INSERT INTO people VALUES('a', 'e', 'Ada')", on: base, at: 10)
    let b = try bench.commit("INSERT INTO people VALUES('b', 'e', 'Bob')", on: base, at: 20)
    let m = try bench.merge(a, b)
    #expect(try bench.rows("SELECT id FROM people ORDER BY id", at: m) == ["'b'", "'t'"])
    #expect(bench.decisions == ["unique people 'a' aside:  | email='e' name='Ada'"])
  }
}

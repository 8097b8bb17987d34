import CloudSyncSQLite
import CloudSyncSQLiteSupport
import Testing

@testable import CloudSyncChangesets

/// Rows whose parents the other side has deleted, or has given another key.
@Suite
struct ForeignKeyScenarioTests {
  private func bench(_ key: String, _ column: String = "p TEXT") throws -> MergeBench {
    try MergeBench(
      """
      CREATE TABLE parents(id TEXT PRIMARY KEY NOT NULL, name TEXT);
      CREATE TABLE children(id TEXT PRIMARY KEY NOT NULL, \(column) REFERENCES parents(id) \(key), v TEXT);
      """
    )
  }

  /// A deletes the parent, B inserts a child.
  private func orphan(_ bench: MergeBench, isSwapped: Bool = false) throws -> [String] {
    let base = try bench.commit(
      "INSERT INTO parents VALUES('p', 'P'), ('d', 'D')",
      on: nil,
      at: 1
    )
    let a = try bench.commit(
      "DELETE FROM parents WHERE id = 'p'",
      on: base,
      at: isSwapped ? 20 : 10
    )
    let b = try bench.commit(
      "INSERT INTO children VALUES('c', 'p', 'C')",
      on: base,
      at: isSwapped ? 10 : 20
    )
    let m = try bench.merge(a, b)
    return try bench.rows(
      """
      SELECT 'parent', id, name FROM parents UNION ALL SELECT 'child', id, p FROM children ORDER BY 1, 2
      """,
      at: m
    )
  }

  private static let d = "'parent' 'd' 'D'"
  private static let p = "'parent' 'p' 'P'"

  /// Both sides edit a row that refers by two columns, one each.
  @Test(arguments: [true, false], ["", "ON UPDATE CASCADE ON DELETE CASCADE"])
  func ofTwoHalvesTheLaterSidesReferenceStays(isFirstLater: Bool, actions: String) throws {
    let bench = try MergeBench(
      """
      CREATE TABLE places(x TEXT NOT NULL, y TEXT NOT NULL, PRIMARY KEY(x, y));
      CREATE TABLE visits(id TEXT PRIMARY KEY NOT NULL, x TEXT, y TEXT, v TEXT,
        FOREIGN KEY(x, y) REFERENCES places \(actions));
      """
    )
    let base = try bench.commit(
      """
      INSERT INTO places VALUES('1', '1'), ('1', '2'), ('2', '1');
      INSERT INTO visits VALUES('a', '1', '1', NULL), ('n', '1', NULL, NULL)
      """,
      on: nil,
      at: 1
    )
    let a = try bench.commit(
      "UPDATE visits SET x = '2', v = 'A' WHERE id = 'a'; UPDATE visits SET x = '9' WHERE id = 'n'",
      on: base,
      at: isFirstLater ? 20 : 10
    )
    let b = try bench.commit(
      "UPDATE visits SET y = '2'",
      on: base,
      at: isFirstLater ? 10 : 20
    )
    let rows = try bench.rows("SELECT * FROM visits ORDER BY id", at: try bench.merge(a, b))
    #expect(
      rows
        == (isFirstLater
          ? ["'a' '2' '1' 'A'", "'n' '9' NULL NULL"] : ["'a' '1' '2' 'A'", "'n' '1' '2' NULL"])
    )
    #expect(bench.decisions.count == 2, "\(bench.decisions)")
  }

  // MARK: 41

  @Test(arguments: [true, false], [true, false])
  func cascadeDeletesTheChild(enforces: Bool, isSwapped: Bool) throws {
    let bench = try bench("ON DELETE CASCADE")
    bench.enforces = enforces
    #expect(try orphan(bench, isSwapped: isSwapped) == [Self.d])
    #expect(bench.decisions == ["foreignKey children 'c':  | p='p' v='C'"])
  }

  @Test(arguments: [true, false])
  func setNullLetsTheChildGo(enforces: Bool) throws {
    let bench = try bench("ON DELETE SET NULL")
    bench.enforces = enforces
    #expect(try orphan(bench) == ["'child' 'c' NULL", Self.d])
    #expect(bench.decisions == ["foreignKey children 'c': p=NULL | p='p'"])
  }

  @Test
  func setNullWhereThereMustBeAParentBringsItBack() throws {
    let bench = try bench("ON DELETE SET NULL", "p TEXT NOT NULL")
    #expect(try orphan(bench) == ["'child' 'c' 'p'", Self.d, Self.p])
  }

  @Test
  func setDefaultRefersToTheDefaultsRow() throws {
    let bench = try bench("ON DELETE SET DEFAULT", "p TEXT NOT NULL DEFAULT 'd'")
    #expect(try orphan(bench) == ["'child' 'c' 'd'", Self.d])
  }

  @Test
  func setDefaultWithoutSuchARowBringsTheParentBack() throws {
    let bench = try bench("ON DELETE SET DEFAULT", "p TEXT NOT NULL DEFAULT 'nobody'")
    #expect(try orphan(bench) == ["'child' 'c' 'p'", Self.d, Self.p])
  }

  @Test(arguments: ["ON DELETE RESTRICT", "ON DELETE NO ACTION"], OrphanPolicy.allCases)
  func otherwiseThePolicyOfOrphansDecides(key: String, policy: OrphanPolicy) throws {
    for enforces in [true, false] {
      let bench = try bench(key)
      bench.enforces = enforces
      bench.rules.tables["children"] = .init(orphans: policy)
      let expected =
        switch policy {
        case .restoreParent: ["'child' 'c' 'p'", Self.d, Self.p]
        case .deleteChildren: [Self.d]
        case .detachChildren: ["'child' 'c' NULL", Self.d]
        }
      #expect(try orphan(bench) == expected)
      #expect(bench.conflicts.count == 1)
    }
  }

  @Test
  func aRestoredParentIsAllThatItWas() throws {
    let bench = try bench("")
    #expect(try orphan(bench) == ["'child' 'c' 'p'", Self.d, Self.p])
    #expect(bench.decisions == ["foreignKey parents 'p': name='P' | "])
  }

  @Test
  func whatWasDanglingOnItsOwnSideStaysSo() throws {
    let bench = try bench("ON DELETE CASCADE")
    bench.enforces = false
    let base = try bench.commit("INSERT INTO parents VALUES('p', 'P')", at: 1)
    let a = try bench.commit("UPDATE parents SET name = 'Q'", on: base, at: 10)
    let b = try bench.commit("INSERT INTO children VALUES('c', 'nobody', 'C')", on: base, at: 20)
    let m = try bench.merge(a, b)
    #expect(try bench.rows("SELECT id, p FROM children", at: m) == ["'c' 'nobody'"])
  }

  /// Foreign keys were off: the side that has deleted the parent has left its child as it was.
  @Test(arguments: ["ON DELETE CASCADE", "ON DELETE SET NULL", "ON DELETE SET DEFAULT", ""])
  func whatASideHasOrphanedItselfStaysSo(key: String) throws {
    for isSwapped in [false, true] {
      let bench = try bench(key)
      bench.enforces = false
      let base = try bench.commit(
        "INSERT INTO parents VALUES('p', 'P'); INSERT INTO children VALUES('c', 'p', 'C')",
        at: 1
      )
      let a = try bench.commit("DELETE FROM parents", on: base, at: 10)
      let b = try bench.commit("UPDATE children SET v = 'D'", on: base, at: 20)
      let m = try isSwapped ? bench.merge(b, a) : bench.merge(a, b)
      #expect(try bench.rows("SELECT id, p, v FROM children", at: m) == ["'c' 'p' 'D'"])
      #expect(try bench.rows("SELECT id FROM parents", at: m) == [])
      #expect(bench.conflicts.isEmpty)
    }
  }

  // MARK: 42

  @Test
  func cascadesGoDownAChain() throws {
    let bench = try MergeBench(Self.chain("ON DELETE CASCADE", "ON DELETE CASCADE"))
    let base = try bench.commit("INSERT INTO a VALUES('a'); INSERT INTO b VALUES('b', 'a')", at: 1)
    let one = try bench.commit("DELETE FROM a", on: base, at: 10)
    let other = try bench.commit(
      "INSERT INTO b VALUES('b2', 'a'); INSERT INTO c VALUES('c', 'b'), ('c2', 'b2')",
      on: base,
      at: 20
    )
    let m = try bench.merge(one, other)
    #expect(try bench.rows(Self.all, at: m) == [])
    #expect(bench.conflicts.map(\.table) == ["b", "c", "c"])
  }

  @Test
  func aRowThatMustStayBringsBackWhatItHangsOn() throws {
    // The middle one goes with the first, and the last one needs the middle one.
    let bench = try MergeBench(Self.chain("ON DELETE CASCADE", ""))
    let base = try bench.commit("INSERT INTO a VALUES('a'); INSERT INTO b VALUES('b', 'a')", at: 1)
    let one = try bench.commit("DELETE FROM a", on: base, at: 10)
    let other = try bench.commit("INSERT INTO c VALUES('c', 'b')", on: base, at: 20)
    let m = try bench.merge(one, other)
    #expect(try bench.rows(Self.all, at: m) == ["'a' 'a'", "'b' 'b'", "'c' 'c'"])
  }

  @Test
  func aRestoredParentWhoseOwnParentIsGoneBringsThatBack() throws {
    let bench = try MergeBench(Self.chain("", ""))
    let base = try bench.commit("INSERT INTO a VALUES('a'); INSERT INTO b VALUES('b', 'a')", at: 1)
    let one = try bench.commit("DELETE FROM b; DELETE FROM a", on: base, at: 10)
    let other = try bench.commit("INSERT INTO c VALUES('c', 'b')", on: base, at: 20)
    let m = try bench.merge(one, other)
    #expect(try bench.rows(Self.all, at: m) == ["'a' 'a'", "'b' 'b'", "'c' 'c'"])
  }

  @Test
  func rowsThatReferToEachOtherAreSettledTogether() throws {
    for action in ["ON DELETE CASCADE", "ON DELETE SET NULL", ""] {
      let bench = try MergeBench(
        """
        CREATE TABLE a(id TEXT PRIMARY KEY NOT NULL, b TEXT REFERENCES b(id) \(action)
          DEFERRABLE INITIALLY DEFERRED);
        CREATE TABLE b(id TEXT PRIMARY KEY NOT NULL, a TEXT REFERENCES a(id) \(action)
          DEFERRABLE INITIALLY DEFERRED);
        """
      )
      let base = try bench.commit(
        "BEGIN; INSERT INTO a VALUES('a', 'b'); INSERT INTO b VALUES('b', 'a'); COMMIT",
        at: 1
      )
      let one = try bench.commit("BEGIN; DELETE FROM a; DELETE FROM b; COMMIT", on: base, at: 10)
      let other = try bench.commit("INSERT INTO b VALUES('b2', 'a')", on: base, at: 20)
      let m = try bench.merge(one, other)
      let rows = try bench.rows(
        "SELECT id, b FROM a UNION ALL SELECT id, a FROM b ORDER BY 1",
        at: m
      )
      switch action {
      case "ON DELETE CASCADE": #expect(rows == [])
      case "ON DELETE SET NULL": #expect(rows == ["'b2' NULL"])
      default: #expect(rows == ["'a' 'b'", "'b' 'a'", "'b2' 'a'"])
      }
    }
  }

  @Test
  func aTreeOfItsOwnRowsIsSettledToItsLeaves() throws {
    let bench = try MergeBench(
      "CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, up TEXT REFERENCES t(id) ON DELETE CASCADE)"
    )
    let base = try bench.commit("INSERT INTO t VALUES('r', NULL), ('s', 'r')", at: 1)
    let one = try bench.commit("DELETE FROM t WHERE id = 'r'", on: base, at: 10)
    let other = try bench.commit(
      "INSERT INTO t VALUES('x', 's'), ('y', 'x'), ('z', 'z')",
      on: base,
      at: 20
    )
    let m = try bench.merge(one, other)
    #expect(try bench.rows("SELECT * FROM t", at: m) == ["'z' 'z'"])
  }

  @Test
  func anEditedChildOfADeletedParentIsSettledAsAnInsertedOne() throws {
    // The deletion took the child along; the edit brings it back, and with it what it refers to.
    let bench = try bench("ON DELETE CASCADE")
    let base = try bench.commit(
      "INSERT INTO parents VALUES('p', 'P'); INSERT INTO children VALUES('c', 'p', 'old')",
      at: 1
    )
    let a = try bench.commit("DELETE FROM parents", on: base, at: 10)
    let b = try bench.commit("UPDATE children SET v = 'new'", on: base, at: 20)
    let m = try bench.merge(a, b)
    #expect(try bench.rows("SELECT id FROM parents UNION SELECT id FROM children", at: m) == [])
    #expect(
      bench.decisions == [
        "deletion children 'c': v='new' | ", "foreignKey children 'c':  | p='p' v='new'",
      ]
    )
  }

  @Test(
    arguments: [
      ("ON UPDATE CASCADE", "'new'"), ("ON UPDATE SET NULL", "NULL"),
      ("ON UPDATE RESTRICT", "'new'"),
      ("", "'new'"), ("ON UPDATE SET DEFAULT", "'other'"),
    ]
  )
  func aChildFollowsAParentOfAnotherKey(action: String, expected: String) throws {
    let bench = try MergeBench(
      """
      CREATE TABLE parents(id TEXT PRIMARY KEY NOT NULL, code TEXT UNIQUE COLLATE NOCASE);
      CREATE TABLE children(id TEXT PRIMARY KEY NOT NULL,
        p TEXT DEFAULT 'other' REFERENCES parents(code) \(action));
      """
    )
    let base = try bench.commit("INSERT INTO parents VALUES('p', 'old'), ('q', 'other')", at: 1)
    let a = try bench.commit("UPDATE parents SET code = 'new' WHERE id = 'p'", on: base, at: 10)
    let b = try bench.commit("INSERT INTO children VALUES('c', 'OLD')", on: base, at: 20)
    let m = try bench.merge(a, b)
    #expect(try bench.rows("SELECT p FROM children", at: m) == [expected])
  }

  @Test
  func aRestoredParentMeetsAnotherOfItsUniqueKey() throws {
    let bench = try MergeBench(
      """
      CREATE TABLE parents(id TEXT PRIMARY KEY NOT NULL, mail TEXT NOT NULL UNIQUE);
      CREATE TABLE children(id TEXT PRIMARY KEY NOT NULL, p TEXT REFERENCES parents(id));
      """
    )
    let base = try bench.commit("INSERT INTO parents VALUES('p', 'm')", at: 1)
    let a = try bench.commit(
      "DELETE FROM parents; INSERT INTO parents VALUES('q', 'm')",
      on: base,
      at: 10
    )
    let b = try bench.commit("INSERT INTO children VALUES('c', 'p')", on: base, at: 20)
    let m = try bench.merge(a, b)
    // Nobody has written what comes back: the row that was inserted keeps the key, and the child lets go.
    #expect(try bench.rows("SELECT id FROM parents", at: m) == ["'q'"])
    #expect(try bench.rows("SELECT p FROM children", at: m) == ["NULL"])
    #expect(bench.conflicts.filter(\.isSetAside).map(\.key) == [RowKey([.text("p")])])
  }

  @Test
  func compoundKeysAreSettledWhole() throws {
    let bench = try MergeBench(
      """
      CREATE TABLE parents(a INTEGER NOT NULL, b TEXT NOT NULL, PRIMARY KEY(a, b)) WITHOUT ROWID;
      CREATE TABLE children(id TEXT PRIMARY KEY NOT NULL, x INTEGER, y TEXT,
        FOREIGN KEY(y, x) REFERENCES parents(b, a) ON DELETE SET NULL);
      """
    )
    let base = try bench.commit("INSERT INTO parents VALUES(1, 'b'), (2, 'b')", at: 1)
    let a = try bench.commit("DELETE FROM parents WHERE a = 1", on: base, at: 10)
    let b = try bench.commit(
      "INSERT INTO children VALUES('c', 1, 'b'), ('d', 2, 'b')",
      on: base,
      at: 20
    )
    let m = try bench.merge(a, b)
    #expect(
      try bench.rows("SELECT * FROM children ORDER BY 1", at: m) == ["'c' NULL NULL", "'d' 2 'b'"]
    )
  }

  private static func chain(_ first: String, _ second: String) -> String {
    """
    CREATE TABLE a(id TEXT PRIMARY KEY NOT NULL);
    CREATE TABLE b(id TEXT PRIMARY KEY NOT NULL, a TEXT NOT NULL REFERENCES a(id) \(first));
    CREATE TABLE c(id TEXT PRIMARY KEY NOT NULL, b TEXT NOT NULL REFERENCES b(id) \(second));
    """
  }

  private static let all =
    "SELECT 'a', id FROM a UNION ALL SELECT 'b', id FROM b UNION ALL SELECT 'c', id FROM c"

  /// A parent got another unique value and a child by it on one side, and was deleted on the other.
  @Test(arguments: [OrphanPolicy.restoreParent, .deleteChildren, .detachChildren])
  func aParentThatWasRenamedHereAndDeletedThere(orphans: OrphanPolicy) throws {
    let schema = """
      CREATE TABLE items(id TEXT PRIMARY KEY NOT NULL, name TEXT UNIQUE, price INTEGER);
      CREATE TABLE uses(id TEXT PRIMARY KEY NOT NULL, item TEXT REFERENCES items(name));
      """
    let settings = [
      "items": ChangesetOptions.Table(merging: TableMergePolicy(deletes: .deleteWins)),
      "uses": ChangesetOptions.Table(orphans: orphans),
    ]
    let desk = try HistoryBench(schema, replica: "desk", settings: settings)
    let phone = try HistoryBench(schema, replica: "phone", settings: settings)
    try desk.commit("INSERT INTO items VALUES('k', 'w', 5)")
    try phone.sync(from: desk)
    try phone.commit("UPDATE items SET name = 'X'; INSERT INTO uses VALUES('u', 'X')")
    try desk.commit("DELETE FROM items")
    try HistoryBench.settle([desk, phone])
    for query in ["SELECT * FROM items", "SELECT * FROM uses"] {
      try HistoryBench.expectEqual([desk, phone], query)
    }
    #expect(try desk.rows("PRAGMA foreign_key_check") == [])
    let (items, uses) = (try desk.rows("SELECT * FROM items"), try desk.rows("SELECT * FROM uses"))
    switch orphans {
    case .restoreParent: #expect((items, uses) == (["'k', 'X', 5"], ["'u', 'X'"]))
    case .deleteChildren: #expect((items, uses) == ([], []))
    case .detachChildren: #expect((items, uses) == ([], ["'u', NULL"]))
    }
  }
}

import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import CloudSyncTestSupport
import Testing

@testable import CloudSyncChangesets

/// Values that a table holds as others, since its column has another type, are what the history says.
@Suite struct ConvertedValueTests {
  private static func schema(_ type: String) -> String {
    "CREATE TABLE people(id TEXT PRIMARY KEY NOT NULL, name TEXT, place \(type), note)"
  }

  private static func rebuild(_ type: String) -> String {
    """
    BEGIN;
    CREATE TABLE people_new(id TEXT PRIMARY KEY NOT NULL, name TEXT, place \(type), note);
    INSERT INTO people_new SELECT * FROM people;
    DROP TABLE people;
    ALTER TABLE people_new RENAME TO people;
    COMMIT
    """
  }

  private static let all = "SELECT id, place FROM people ORDER BY id"
  private static let notes = "SELECT name FROM sqlite_schema WHERE name LIKE '%converted%'"

  private static func bench(_ type: String, _ replica: String) throws -> HistoryBench {
    try HistoryBench(schema(type), replica: replica)
  }

  @Test(
    arguments: SuiteSize.some(
      2,
      of: [("INTEGER", "REAL"), ("TEXT", "INTEGER"), ("INTEGER", "TEXT"), ("REAL", "INT")]
    )
  )
  func aColumnsTypeChangesAndNobodyIsStuck(former: String, later: String) throws {
    let (one, other) = (try Self.bench(former, "desk"), try Self.bench(former, "phone"))
    try one.commit("INSERT INTO people VALUES('a', 'Ada', 1, 'n'), ('b', 'Bob', 2, NULL)")
    try other.sync(from: one)
    try one.database.execute(Self.rebuild(later))
    try one.rescan()
    // What the new type has made of values is no edit, which would count for more than those of others.
    #expect(try one.repository.changes() == [])
    try one.repository.commit()
    try other.commit("UPDATE people SET place = 5 WHERE id = 'a'")
    try one.sync(from: other)
    try other.sync(from: one)
    try HistoryBench.expectAgreement([one, other])
    let held = try one.rows("SELECT place + 0 = 5 FROM people WHERE id = 'a'")
    #expect(held == ["1"])
    try one.commit("UPDATE people SET place = 7, name = 'Eve' WHERE id = 'b'")
    try one.commit("UPDATE people SET name = 'Eva' WHERE id = 'a'")
    try other.sync(from: one)
    try HistoryBench.expectAgreement([one, other])
    #expect(
      try other.rows("SELECT place + 0 FROM people ORDER BY id").map { $0.first } == ["5", "7"]
    )
    // The other one does the same later.
    try other.database.execute(Self.rebuild(later))
    try other.rescan()
    try other.repository.commit()
    try one.sync(from: other)
    try HistoryBench.expectAgreement([one, other])
    #expect(try one.rows(Self.all) == (try other.rows(Self.all)))
    try other.commit("DELETE FROM people WHERE id = 'b'")
    try one.sync(from: other)
    try HistoryBench.expectAgreement([one, other])
  }

  @Test func olderCommitsCanBeLookedAtAndTakenBack() throws {
    let one = try Self.bench("INTEGER", "desk")
    try one.commit("INSERT INTO people VALUES('a', 'Ada', 1, 'n')")
    try one.commit("UPDATE people SET place = 2")
    try one.database.execute(Self.rebuild("REAL"))
    try one.rescan()
    try one.commit("UPDATE people SET place = 2.5")
    try one.repository.checkout("HEAD~1")
    #expect(try one.rows(Self.all) == ["'a', 2.0"])
    #expect(try one.repository.verify().problems == [])
    try one.repository.checkout("HEAD~2")
    #expect(try one.rows(Self.all) == ["'a', 1.0"])
    try one.repository.switchBranch("main")
    #expect(try one.rows(Self.all) == ["'a', 2.5"])
    try one.repository.undo()
    #expect(try one.rows(Self.all) == ["'a', 2.0"])
    try one.database.execute("UPDATE people SET place = 9; DELETE FROM people")
    try one.repository.discard()
    #expect(try one.rows(Self.all) == ["'a', 2.0"])
    try HistoryBench.expectAgreement([one])
  }

  /// An edit and its contrary leave nothing that is kept of a value.
  @Test func whatIsKeptGoesWithTheValue() throws {
    let (one, other) = (try Self.bench("INTEGER", "desk"), try Self.bench("REAL", "phone"))
    try one.commit("INSERT INTO people VALUES('a', 'Ada', 1, 'n'), ('b', 'Bob', 2, 'm')")
    try other.sync(from: one)
    #expect(try other.rows(Self.all) == ["'a', 1.0", "'b', 2.0"])
    try other.database.execute("UPDATE people SET place = 3 WHERE id = 'a'")
    try other.database.execute("UPDATE people SET place = 1 WHERE id = 'a'")
    #expect(try other.repository.commit() == nil)
    try other.commit("UPDATE people SET place = 3 WHERE id = 'a'")
    let change = try other.commit("UPDATE people SET place = 1 WHERE id = 'a'")
    #expect(
      try other.repository.show(Revision(#require(change).id)).changes.map(\.text)
        == ["update people 'a' [place: 3.0 → 1.0]"]
    )
    try HistoryBench.expectAgreement([other])
    try other.commit("DELETE FROM people WHERE id = 'b'")
    try other.commit("INSERT INTO people VALUES('b', 'Bob', 2, 'm')")
    try one.sync(from: other)
    try HistoryBench.expectAgreement([one, other])
    #expect(try one.rows(Self.all) == ["'a', 1", "'b', 2"])
    #expect(
      try one.repository.show(.head).changes.map(\.text)
        == ["insert people 'b' [name: NULL → 'Bob', note: NULL → 'm', place: NULL → 2.0]"]
    )
  }

  /// Triggers of the app write too: only what the table itself has made of a value is kept.
  @Test func triggersOfTheAppChangeNothingOfIt() throws {
    let (one, other) = (try Self.bench("INTEGER", "desk"), try Self.bench("REAL", "phone"))
    try other.database.execute(
      """
      CREATE TRIGGER named AFTER UPDATE OF name ON people BEGIN
        UPDATE people SET place = place + 1, note = 'seen' WHERE id = NEW.id; END;
      """
    )
    try one.commit("INSERT INTO people VALUES('a', 'Ada', 1, 'n'), ('b', 'Bob', 2, 'm')")
    try other.sync(from: one)
    try one.commit("UPDATE people SET name = 'Eve', place = 4 WHERE id = 'a'")
    try one.commit("UPDATE people SET name = 'Eva' WHERE id = 'b'")
    try other.sync(from: one)
    #expect(try other.rows(Self.all) == ["'a', 4.0", "'b', 2.0"])
    try HistoryBench.expectAgreement([one, other])
    try other.commit("UPDATE people SET name = 'Ida' WHERE id = 'b'")
    try one.sync(from: other)
    #expect(try one.rows(Self.all) == ["'a', 4", "'b', 3"])
    try HistoryBench.expectAgreement([one, other])
    try one.commit("DELETE FROM people WHERE id = 'b'")
    try other.sync(from: one)
    try one.commit("INSERT INTO people VALUES('b', 'Bob', 3, 'm')")
    try other.sync(from: one)
    try HistoryBench.expectAgreement([one, other])
  }

  /// A column that goes through several types holds what one of the last type holds.
  @Test func tablesThatAreDeclaredAlikeHoldTheSame() throws {
    let (one, other) = (try Self.bench("INTEGER", "desk"), try Self.bench("INTEGER", "phone"))
    try one.commit("INSERT INTO people VALUES('a', 'Ada', 1, 'n'), ('b', 'Bob', 2, 'm')")
    try other.sync(from: one)
    for type in ["REAL", "BLOB"] {
      try one.database.execute(Self.rebuild(type))
      try one.rescan()
      try one.repository.commit()
    }
    try other.database.execute(Self.rebuild("BLOB"))
    try other.rescan()
    try other.repository.commit()
    try HistoryBench.settle([one, other])
    try HistoryBench.expectAgreement([one, other])
    #expect(try one.rows(Self.all) == ["'a', 1", "'b', 2"])
    #expect(try other.rows(Self.all) == ["'a', 1", "'b', 2"])
    #expect(try one.rows(Self.notes) == [])
  }

  @Test func bothMakeOneMergeOfTheSameParents() throws {
    let (one, other) = (try Self.bench("INTEGER", "desk"), try Self.bench("REAL", "phone"))
    try one.commit("INSERT INTO people VALUES('a', 'Ada', 1, 'n'), ('b', 'Bob', 2, 'm')")
    try other.sync(from: one)
    try one.commit("UPDATE people SET name = 'Eve', place = 3 WHERE id = 'a'")
    try other.commit("UPDATE people SET name = 'Rob' WHERE id = 'b'")
    try one.take(from: other)
    try other.take(from: one)
    for bench in [one, other] {
      try bench.repository.mergeAll()
      try bench.repository.pull()
    }
    try HistoryBench.expectAgreement([one, other])
  }

  @Test func aKeyOfAnotherTypeIsAnotherKey() throws {
    let schema = { (type: String) in "CREATE TABLE people(id \(type) PRIMARY KEY NOT NULL, name)" }
    let (one, other) = (
      try HistoryBench(schema("INT"), replica: "desk"),
      try HistoryBench(schema("TEXT"), replica: "phone")
    )
    try one.commit("INSERT INTO people VALUES(1, 'Ada')")
    let refused = #expect(throws: ChangesetError.self) { try other.sync(from: one) }
    #expect(refused?.code == .needsUpgrade)
    #expect(refused?.reason.contains("keys of another type") == true)
    #expect(try other.rows("SELECT * FROM people") == [])
  }

  /// A type that is taken back leaves values as they were written.
  @Test func aTypeThatIsTakenBackChangesNothing() throws {
    let (one, other) = (try Self.bench("TEXT", "desk"), try Self.bench("TEXT", "phone"))
    try one.commit("INSERT INTO people VALUES('a', 'Ada', '007', 'n'), ('b', 'Bob', '5.0', 'm')")
    try other.sync(from: one)
    for type in ["INTEGER", "TEXT"] {
      try one.database.execute(Self.rebuild(type))
      try one.rescan()
      #expect(try one.repository.changes() == [])
    }
    #expect(try one.rows(Self.all) == ["'a', '007'", "'b', '5.0'"])
    #expect(try one.rows(Self.notes) == [])
    try HistoryBench.settle([one, other])
    try HistoryBench.expectAgreement([one, other])
    try one.database.execute(Self.rebuild("INTEGER"))
    try one.rescan()
    try one.database.execute(Self.rebuild("REAL"))
    try one.rescan()
    #expect(try one.repository.changes() == [])
    #expect(try one.rows(Self.all) == ["'a', 7.0", "'b', 5.0"])
    try HistoryBench.expectAgreement([one])
  }

  /// What a real cannot hold is kept beside it, as it was written.
  @Test func numbersThatARealCannotHoldStay() throws {
    let (one, other) = (try Self.bench("", "desk"), try Self.bench("REAL", "phone"))
    try one.commit(
      """
      INSERT INTO people VALUES('a', 'Ada', 9007199254740993, 'n'), ('b', 'Bob', 0.0 * -1, 'm'),
        ('c', 'Cy', '1234567890123456789', 'o'), ('d', 'Di', '2024-01-01', 'p')
      """
    )
    try other.sync(from: one)
    try HistoryBench.expectAgreement([one, other])
    try one.commit("UPDATE people SET place = 2 WHERE id = 'b'")
    try other.sync(from: one)
    try HistoryBench.expectAgreement([one, other])
    try one.database.execute(Self.rebuild("REAL"))
    try one.rescan()
    #expect(try one.repository.changes() == [])
    try one.repository.commit()
    try HistoryBench.settle([one, other])
    try HistoryBench.expectAgreement([one, other])
    #expect(try one.rows(Self.all) == (try other.rows(Self.all)))
  }

  /// A row that is parked, and one in its place, have nothing of what the row before was made of.
  @Test func aRowInThePlaceOfAParkedOneIsItself() throws {
    let one = try HistoryBench(
      "CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, x, y)",
      replica: "desk"
    )
    let other = try HistoryBench(
      "CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, x INTEGER, y CHECK(y IS NOT 'bad'))",
      replica: "phone"
    )
    try one.commit("INSERT INTO t VALUES('1', '5.0', 'a'), ('2', ' 5', 'b')")
    try other.sync(from: one)
    #expect(try other.rows("SELECT x FROM t") == ["5", "5"])
    try one.commit("UPDATE t SET x = 5, y = 'bad' WHERE id = '1'")
    try other.sync(from: one)
    #expect(try other.repository.status().parked.count == 1)
    try other.commit("INSERT INTO t VALUES('1', 5, 'mine')")
    #expect(try other.repository.verify().problems == [])
    try HistoryBench.settle([one, other])
    try one.commit("UPDATE t SET x = 6 WHERE id = '1'")
    try other.sync(from: one)
    try HistoryBench.expectAgreement([one, other])
    #expect(try other.rows("SELECT x, y FROM t WHERE id = '1'") == ["6, 'mine'"])
  }

  @Test func aKeyThatGetsAnotherTypeIsRefused() throws {
    let one = try HistoryBench("CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, x)", replica: "desk")
    try one.commit("INSERT INTO t VALUES('1', 5)")
    try one.database.execute(
      "CREATE TABLE u(id INT PRIMARY KEY NOT NULL, x); INSERT INTO u SELECT * FROM t; DROP TABLE t;"
        + " ALTER TABLE u RENAME TO t"
    )
    let refused = #expect(throws: ChangesetError.self) { try one.rescan() }
    #expect(refused?.code == .needsMigration)
  }

  /// A unique key that one copy alone has is settled by it also after a merge of the other's.
  @Test func aMergeIsOfTheSchemaOfItsMaker() throws {
    let (one, other) = (
      try Self.bench("INTEGER", "desk"),
      try HistoryBench(
        "CREATE TABLE people(id TEXT PRIMARY KEY NOT NULL, name TEXT UNIQUE, place REAL, note)",
        replica: "phone"
      )
    )
    try one.commit("INSERT INTO people VALUES('a', 'Ada', 1, 'n'), ('b', 'Bob', 2, 'm')")
    try other.sync(from: one)
    try one.commit("UPDATE people SET place = 3 WHERE id = 'a'")
    try other.commit("UPDATE people SET place = 4 WHERE id = 'b'")
    try one.sync(from: other)
    let merge = try one.repository.read { (work) throws(ChangesetError) in
      let head = try work.log.row(work.heads.position().seq ?? 0)
      return (head.kind, try work.dictionaries.schemaID(number: head.schema) == work.tables.id)
    }
    #expect(merge.0 == .merge && merge.1)
  }

  // MARK: Names

  private static let typed =
    "CREATE TABLE people(id TEXT PRIMARY KEY NOT NULL, name TEXT, place REAL, note)"

  /// Two copies of unlike types, one of which holds reals where the history says integers.
  private static func unlike() throws -> (HistoryBench, HistoryBench) {
    let (one, other) = (try bench("", "desk"), try HistoryBench(typed, replica: "phone"))
    try one.commit("INSERT INTO people VALUES('a', 'Ada', 1, 'n'), ('b', 'Bob', 2, 'm')")
    try other.sync(from: one)
    #expect(try other.rows("SELECT count(*) FROM changesets_converted") == ["2"])
    return (one, other)
  }

  @Test(arguments: [
    "ALTER TABLE people RENAME COLUMN place TO spot", "ALTER TABLE people RENAME TO folk",
    "ALTER TABLE people RENAME COLUMN place TO spot; ALTER TABLE people RENAME TO folk",
  ])
  func whatIsKnownOfValuesFollowsANewName(change: String) throws {
    for migrates in [false, true] {
      let (_, other) = try Self.unlike()
      try other.change(change, migrates: migrates)
      #expect(try other.repository.changes() == [])
      #expect(try other.repository.verify().problems == [])
      #expect(try other.rows("SELECT count(*) FROM changesets_converted") == ["2"], "\(migrates)")
      let changes = try other.repository.show("HEAD").changes.flatMap(\.cells)
        .filter { ["place", "spot"].contains($0.column) }
        .flatMap { [$0.old, $0.new].map { $0.column?.literal ?? "?" } }
      #expect(Set(changes).isSubset(of: ["1", "2", "NULL"]), "\(changes)")
    }
  }

  /// A column that gets another name and another type at once is the same one, where its values show it.
  @Test(
    arguments: SuiteSize.some(
      2,
      of: [("TEXT", "INTEGER"), ("INTEGER", "TEXT"), ("INTEGER", "REAL")]
    )
  )
  func aNewNameAndANewTypeAtOnce(former: String, later: String) throws {
    for migrates in [false, true] {
      let (one, other) = (try Self.bench(former, "desk"), try Self.bench(former, "phone"))
      try one.commit("INSERT INTO people VALUES('a', 'Ada', 1, 'n'), ('b', 'Bob', 2, NULL)")
      try other.sync(from: one)
      try other.commit("UPDATE people SET place = 5 WHERE id = 'b'")
      let change = """
        CREATE TABLE rebuilt(id TEXT PRIMARY KEY NOT NULL, name TEXT, spot \(later), note);
        INSERT INTO rebuilt SELECT * FROM people; DROP TABLE people;
        ALTER TABLE rebuilt RENAME TO people
        """
      for bench in [one, other] {
        try bench.change(change, migrates: migrates)
        #expect(try bench.repository.changes() == [])
      }
      try one.commit("UPDATE people SET note = 'later'")
      try HistoryBench.settle([one, other])
      #expect(
        try one.rows("SELECT spot + 0 = 5 FROM people WHERE id = 'b'") == ["1"],
        "\(former) \(later) \(migrates)"
      )
      try HistoryBench.expectAgreement([one, other])
    }
  }

  @Test func aNewNameAndTypeOfSomeValuesIsAskedFor() throws {
    let one = try Self.bench("TEXT", "desk")
    try one.commit("INSERT INTO people VALUES('a', 'Ada', 'x', 'n'), ('b', 'Bob', 'y', NULL)")
    try one.database.execute(
      """
      CREATE TABLE rebuilt(id TEXT PRIMARY KEY NOT NULL, name TEXT, spot BLOB, note);
      INSERT INTO rebuilt SELECT * FROM people; DROP TABLE people;
      ALTER TABLE rebuilt RENAME TO people; UPDATE people SET spot = 'z' WHERE id = 'b'
      """
    )
    let asked = #expect(throws: ChangesetError.self) { try one.rescan() }
    #expect(asked?.reason.contains("1 of 2 rows") == true)
    try ChangesetRepository.rescan(
      one.database,
      renamed: ["people": ["place": "spot"]],
      options: HistoryBench.options()
    )
    #expect(try one.repository.changes().count == 1)
    try Self.expectWhole(one)
  }

  private static func expectWhole(_ bench: HistoryBench) throws {
    #expect(try bench.repository.verify().problems == [])
    try bench.repository.commit()
    try HistoryBench.expectAgreement([bench])
  }

  // MARK: Foreign and unique keys

  @Test func aForeignKeyRefersToWhatItsTableMakesOfValues() throws {
    let schema = { (code: String) in
      """
      CREATE TABLE parents(id TEXT PRIMARY KEY NOT NULL, code \(code) UNIQUE);
      CREATE TABLE children(id TEXT PRIMARY KEY NOT NULL, parent INTEGER REFERENCES parents(code))
      """
    }
    let text = try HistoryBench(schema("TEXT"), replica: "desk")
    let number = try HistoryBench(schema("INTEGER"), replica: "phone")
    try text.commit("INSERT INTO parents VALUES('p', '5')")
    try number.sync(from: text)
    try text.commit("DELETE FROM parents")
    try number.commit("INSERT INTO children VALUES('c', 5)")
    for bench in [text, number] {
      try bench.take(from: bench === text ? number : text)
      try bench.repository.mergeAll()
      try bench.repository.pull()
    }
    for bench in [text, number] {
      #expect(try bench.rows("PRAGMA foreign_key_check") == [])
      #expect(try bench.rows("SELECT count(*) FROM children, parents") == ["1"])
    }
    try HistoryBench.expectAgreement([text, number])
  }

  /// Where the types differ in what is equal, the copies are one after the next exchange.
  @Test(arguments: ["'5'", "'5.0'", "' 5'", "'05'"])
  func aUniqueKeyHoldsOfWhatItsTablesMakeOfValues(text value: String) throws {
    let schema = { (code: String) in
      "CREATE TABLE people(id TEXT PRIMARY KEY NOT NULL, code \(code) UNIQUE)"
    }
    let text = try HistoryBench(schema("TEXT"), replica: "desk")
    let number = try HistoryBench(schema("INTEGER"), replica: "phone")
    try text.commit("INSERT INTO people VALUES('z', '1')")
    try number.sync(from: text)
    try text.commit("INSERT INTO people VALUES('a', \(value))")
    try number.commit("INSERT INTO people VALUES('b', 5)")
    for bench in [text, number] {
      try bench.take(from: bench === text ? number : text)
      try bench.repository.mergeAll()
    }
    for bench in [text, number] { try bench.repository.pull() }
    if value == "'5'" { try HistoryBench.expectAgreement([text, number]) }
    try HistoryBench.settle([text, number])
    try HistoryBench.expectAgreement([text, number])
  }

  /// The first value that is held as another one is noted in the midst of the migration.
  @Test func whoLooksAtAnOlderCommitGivesAColumnAnotherType() throws {
    let (one, other) = (try Self.bench("INTEGER", "desk"), try Self.bench("INTEGER", "phone"))
    try one.commit("INSERT INTO people VALUES('a', 'Ada', 1, 'n'), ('b', 'Bob', 2, NULL)")
    try one.commit("UPDATE people SET name = 'Bo' WHERE id = 'b'")
    try other.sync(from: one)
    let old = try #require(try other.repository.log().last)
    try other.repository.checkout(Revision(old.id))
    let height = "ALTER TABLE people ADD COLUMN height INTEGER NOT NULL DEFAULT 170"
    let migrate = { (bench: HistoryBench, sql: String) in
      try ChangesetRepository.migrate(bench.database, options: HistoryBench.options()) { handle in
        try SQLiteConnection(borrowing: handle).execute(sql)
      }
    }
    try migrate(one, height)
    try one.commit("UPDATE people SET height = 180 WHERE id = 'a'")
    try other.take(from: one)

    try migrate(
      other,
      """
      CREATE TABLE people_new(
        id TEXT PRIMARY KEY NOT NULL, name TEXT, place REAL, note, height INTEGER NOT NULL DEFAULT 170);
      INSERT INTO people_new SELECT id, name, place, note, 100 + place FROM people;
      DROP TABLE people;
      ALTER TABLE people_new RENAME TO people
      """
    )
    #expect(try other.repository.head().id == old.id)
    #expect(try other.repository.status().isClean)
    #expect(try other.repository.verify().problems == [])
    #expect(
      try other.rows("SELECT id, place, height FROM people ORDER BY id")
        == ["'a', 1.0, 170", "'b', 2.0, 170"]
    )
    try other.repository.switchBranch("main")
    #expect(try other.repository.verify().problems == [])
    #expect(
      try other.rows("SELECT name, place, height FROM people WHERE id = 'a'") == ["'Ada', 1.0, 180"]
    )
  }
}

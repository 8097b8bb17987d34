import CloudSyncChangesets
import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import Testing

/// A column or a table that is called otherwise is the same: what others have edited meanwhile under its former name meets
/// what was edited here as if nothing had been renamed.
@Suite struct RenamedMergeTests {
  private static let renaming = "ALTER TABLE people RENAME COLUMN name TO called"

  private static func migrate(_ bench: HistoryBench, _ sql: String = renaming) throws {
    try ChangesetRepository.migrate(bench.database, options: HistoryBench.options()) {
      try SQLiteConnection(borrowing: $0).execute(sql)
    }
  }

  /// A history of a replica whose app brings commits of older versions up.
  private static func able(_ bench: HistoryBench) throws -> ChangesetRepository {
    var options = HistoryBench.options(replica: "desk")
    options.migrate = { try SQLiteConnection(borrowing: $0).execute(renaming) }
    return try ChangesetRepository(bench.database, options: options)
  }

  /// Replicas with the same three people.
  private static func benches(
    _ names: [String],
    settings: [String: ChangesetOptions.Table] = [:]
  ) throws -> [HistoryBench] {
    let benches = try names.map { try HistoryBench(replica: $0, settings: settings) }
    try benches[0]
      .commit(
        "INSERT INTO people(id, name, score) VALUES('a', 'Ada', 1), ('b', 'Bob', 2), ('c', 'Cy', 3)"
      )
    for bench in benches.dropFirst() { try bench.sync(from: benches[0]) }
    return benches
  }

  /// A desk and a phone that edit the same row and migrate, each before it hears of the other, one of them later.
  private static func meet(
    desk edit: String = "UPDATE people SET note = 'desk' WHERE id = 'a'",
    phone other: String,
    isDeskLater: Bool,
    migration: String = renaming,
    settings: [String: ChangesetOptions.Table] = [:],
    query: String = "SELECT * FROM people ORDER BY id"
  ) throws -> HistoryBench {
    let benches = try benches(["desk", "phone"], settings: settings)
    let (desk, phone) = (benches[0], benches[1])
    (isDeskLater ? desk : phone).pass(seconds: 1_000)
    try desk.commit(edit)
    try phone.commit(other)
    try migrate(desk, migration)
    try migrate(phone, migration)
    try HistoryBench.settle(isDeskLater ? [desk, phone] : [phone, desk])
    try HistoryBench.expectEqual([desk, phone], query)
    return desk
  }

  /// In changes columns are in the order of their names.
  @Test(
    arguments: ["called", "nickname"],
    [[true, true], [true, false], [false, true], [false, false]]
  )
  func aColumnThatGetsItsNameBackIsTheSame(passing: String, choices: [Bool]) throws {
    let (isDeskLater, isPhoneMigrated) = (choices[0], choices[1])
    let benches = try Self.benches(["desk", "phone"])
    let (desk, phone) = (benches[0], benches[1])
    (isDeskLater ? desk : phone).pass(seconds: 1_000)
    try phone.commit("UPDATE people SET name = 'Ida' WHERE id = 'a'")
    for bench in isPhoneMigrated ? [desk, phone] : [desk] {
      try Self.migrate(bench, "ALTER TABLE people RENAME COLUMN name TO \(passing)")
      try Self.migrate(bench, "ALTER TABLE people RENAME COLUMN \(passing) TO name")
    }
    try HistoryBench.settle([phone, desk])
    try HistoryBench.settle([desk, phone])
    try HistoryBench.expectEqual([desk, phone], "SELECT * FROM people ORDER BY id")
    for bench in [desk, phone] {
      #expect(try bench.rows("SELECT name FROM people ORDER BY id") == ["'Ida'", "'Bob'", "'Cy'"])
      #expect(try bench.repository.verify().problems == [])
    }
  }

  /// Changes name columns by their bytes, whatever SQLite takes for the same name.
  @Test(arguments: [true, false])
  func aColumnThatIsOnlySpelledOtherwiseIsRenamedToo(isDeskLater: Bool) throws {
    let desk = try Self.meet(
      phone: "UPDATE people SET name = 'Ida' WHERE id = 'a'",
      isDeskLater: isDeskLater,
      migration: "ALTER TABLE people RENAME COLUMN name TO Name"
    )
    #expect(try desk.rows("SELECT Name, note FROM people WHERE id = 'a'") == ["'Ida', 'desk'"])
  }

  @Test(arguments: [true, false])
  func anEditToNullOfARenamedColumnStays(isDeskLater: Bool) throws {
    let desk = try Self.meet(
      phone: "UPDATE people SET name = NULL WHERE id = 'a'",
      isDeskLater: isDeskLater
    )
    #expect(try desk.rows("SELECT called, note FROM people WHERE id = 'a'") == ["NULL, 'desk'"])
    #expect(try desk.repository.conflicts() == [])
  }

  @Test(arguments: [true, false])
  func additionsToARenamedCounterCountOnce(isDeskLater: Bool) throws {
    var rules = ChangesetOptions.Table()
    rules.merging.columns = ["score": .counter, "points": .counter]
    let desk = try Self.meet(
      desk: "UPDATE people SET score = score + 10 WHERE id = 'a'",
      phone: "UPDATE people SET score = score + 100 WHERE id = 'a'",
      isDeskLater: isDeskLater,
      migration: "ALTER TABLE people RENAME COLUMN score TO points",
      settings: ["people": rules]
    )
    #expect(try desk.rows("SELECT points FROM people ORDER BY id") == ["111", "2", "3"])
  }

  @Test(arguments: [true, false])
  func aRenamedTableKeepsWhatOthersHaveDoneInIt(isDeskLater: Bool) throws {
    let desk = try Self.meet(
      phone: """
        UPDATE people SET name = 'Eve' WHERE id = 'a'; DELETE FROM people WHERE id = 'b';
        INSERT INTO people(id, name) VALUES('d', 'Dot')
        """,
      isDeskLater: isDeskLater,
      migration: "ALTER TABLE people RENAME TO persons",
      query: "SELECT * FROM persons ORDER BY id"
    )
    #expect(
      try desk.rows("SELECT id, name, note FROM persons ORDER BY id")
        == ["'a', 'Eve', 'desk'", "'c', 'Cy', NULL", "'d', 'Dot', NULL"]
    )
    #expect(try desk.repository.conflicts() == [])
  }

  @Test(arguments: [true, false])
  func aTableMayBeRenamedWithAColumnWhileOthersComeAndGo(isDeskLater: Bool) throws {
    let desk = try Self.meet(
      phone: """
        UPDATE people SET name = NULL WHERE id = 'a'; DELETE FROM people WHERE id = 'b';
        INSERT INTO people VALUES('d', 'Dot', 4, 'phone')
        """,
      isDeskLater: isDeskLater,
      migration: """
        ALTER TABLE people RENAME TO persons; ALTER TABLE persons RENAME COLUMN name TO called;
        ALTER TABLE persons DROP COLUMN note; ALTER TABLE persons ADD COLUMN size DEFAULT 7;
        UPDATE persons SET score = 10 * score
        """,
      query: "SELECT * FROM persons ORDER BY id"
    )
    #expect(
      try desk.rows("SELECT id, called, score, size FROM persons ORDER BY id")
        == ["'a', NULL, 10, 7", "'c', 'Cy', 30, 7", "'d', 'Dot', 40, 7"]
    )
  }

  @Test(arguments: [true, false])
  func aRenamedTableMayHaveARenamedColumnSinceAnotherMigration(isDeskLater: Bool) throws {
    let benches = try Self.benches(["desk", "phone"])
    (isDeskLater ? benches[0] : benches[1]).pass(seconds: 1_000)
    try benches[0].commit("UPDATE people SET note = 'desk' WHERE id = 'a'")
    try benches[1].commit("UPDATE people SET name = 'Eve' WHERE id = 'a'")
    for bench in benches {
      try Self.migrate(bench)
      try Self.migrate(bench, "ALTER TABLE people RENAME TO persons")
      try Self.migrate(bench, "ALTER TABLE persons RENAME COLUMN called TO title")
    }
    try HistoryBench.settle(benches)
    try HistoryBench.expectEqual(benches, "SELECT * FROM persons ORDER BY id")
    #expect(
      try benches[0].rows("SELECT title, note FROM persons WHERE id = 'a'") == ["'Eve', 'desk'"]
    )
  }

  @Test(arguments: [true, false])
  func aColumnMayBeRenamedTwiceHereAndOnceThere(isDeskLater: Bool) throws {
    let benches = try Self.benches(["desk", "phone"])
    (isDeskLater ? benches[0] : benches[1]).pass(seconds: 1_000)
    try benches[0].commit("UPDATE people SET note = 'desk'")
    try benches[1].commit("UPDATE people SET name = NULL WHERE id = 'a'")
    try Self.migrate(benches[0])
    try benches[0].commit("UPDATE people SET called = 'Rob' WHERE id = 'b'")
    try Self.migrate(benches[0], "ALTER TABLE people RENAME COLUMN called TO title")
    try Self.migrate(benches[1], "ALTER TABLE people RENAME COLUMN name TO title")
    try HistoryBench.settle(benches)
    try HistoryBench.expectEqual(benches)
    #expect(
      try benches[0].rows("SELECT title, note FROM people ORDER BY id")
        == ["NULL, 'desk'", "'Rob', 'desk'", "'Cy', 'desk'"]
    )
  }

  @Test(arguments: [[0, 1, 2], [2, 1, 0], [1, 0, 2]])
  func editsOfThreeReplicasMeetWhicheverComesFirst(order: [Int]) throws {
    let benches = try Self.benches(["desk", "phone", "tablet"])
    for (place, bench) in order.enumerated() { benches[bench].pass(seconds: Int64(place) * 1_000) }
    try benches[0].commit("UPDATE people SET note = 'desk'")
    try benches[1].commit("UPDATE people SET name = 'Phone' WHERE id = 'a'")
    try benches[2]
      .commit("UPDATE people SET name = NULL WHERE id = 'b'; DELETE FROM people WHERE id = 'c'")
    try Self.migrate(benches[order[0]])
    // One that has migrated waits for the others, which merge among themselves before they do.
    try benches[order[0]].take(from: benches[order[1]])
    #expect(try benches[order[0]].repository.mergeAll() == [])
    try benches[order[2]].sync(from: benches[order[1]])
    for place in [order[1], order[2]] { try Self.migrate(benches[place]) }
    try HistoryBench.settle(order.map { benches[$0] })
    try HistoryBench.expectEqual(benches)
    #expect(
      try benches[0].rows("SELECT id, called, note FROM people ORDER BY id")
        == ["'a', 'Phone', 'desk'", "'b', NULL, 'desk'", "'c', 'Cy', 'desk'"]
    )
  }

  @Test(arguments: [true, false])
  func aHeadThatIsBroughtUpHereKeepsItsEdits(isDeskLater: Bool) throws {
    let benches = try Self.benches(["desk", "phone"])
    let (desk, phone) = (benches[0], benches[1])
    (isDeskLater ? desk : phone).pass(seconds: 1_000)
    try phone.commit("UPDATE people SET name = 'Eve' WHERE id = 'a'")
    try phone.commit("UPDATE people SET name = NULL WHERE id = 'b'")
    try desk.commit("UPDATE people SET note = 'desk'")
    try Self.migrate(desk)
    try desk.take(from: phone)
    let able = try Self.able(desk)
    #expect(try able.mergeAll().count == 1)
    try able.pull()
    #expect(
      try desk.rows("SELECT called, note FROM people ORDER BY id")
        == ["'Eve', 'desk'", "NULL, 'desk'", "'Cy', 'desk'"]
    )
    try Self.migrate(phone)
    try HistoryBench.settle(benches)
    try HistoryBench.expectEqual(benches)
  }

  @Test(arguments: [true, false])
  func soDoesABranchThatIsMerged(isMainLater: Bool) throws {
    let desk = try Self.benches(["desk"])[0]
    try desk.repository.createBranch("idea")
    let edit = { try desk.commit("UPDATE people SET note = 'main'") }
    if !isMainLater { _ = try edit() }
    try desk.repository.switchBranch("idea")
    try desk.commit("UPDATE people SET name = NULL WHERE id = 'a'")
    try desk.commit("UPDATE people SET name = 'Eve' WHERE id = 'b'")
    try desk.repository.switchBranch("main")
    if isMainLater { _ = try edit() }
    try Self.migrate(desk)
    let able = try Self.able(desk)
    try able.merge("idea")
    try able.pull()
    #expect(
      try desk.rows("SELECT called, note FROM people ORDER BY id")
        == ["NULL, 'main'", "'Eve', 'main'", "'Cy', 'main'"]
    )
    #expect(try able.verify().problems == [])
  }

  @Test func anEditFromBeforeIsTakenBackUnderThePresentName() throws {
    let desk = try Self.benches(["desk"])[0]
    let edit = try #require(try desk.commit("UPDATE people SET name = 'Eve' WHERE id = 'a'"))
    try Self.migrate(desk)
    try desk.commit("UPDATE people SET called = 'Rob' WHERE id = 'b'")
    try desk.repository.revert(Revision(edit.id))
    #expect(
      try desk.rows("SELECT called FROM people ORDER BY id") == ["'Ada'", "'Rob'", "'Cy'"]
    )
    #expect(try desk.repository.verify().problems == [])
  }

  // MARK: What is no rename

  @Test(arguments: [true, false])
  func aColumnThatComesWhereAnotherGoesIsAnotherOne(isDeskLater: Bool) throws {
    let desk = try Self.meet(
      desk: "UPDATE people SET score = 7 WHERE id = 'a'",
      phone: "UPDATE people SET note = 'phone' WHERE id = 'a'",
      isDeskLater: isDeskLater,
      migration: "ALTER TABLE people DROP COLUMN note; ALTER TABLE people ADD COLUMN memo"
    )
    #expect(try desk.rows("SELECT score, memo FROM people WHERE id = 'a'") == ["7, NULL"])
  }

  @Test(arguments: [true, false])
  func columnsThatCannotBeToldApartKeepTheirValues(isDeskLater: Bool) throws {
    let desk = try Self.meet(
      phone: "UPDATE people SET score = 5 WHERE id = 'b'",
      isDeskLater: isDeskLater,
      migration: """
        ALTER TABLE people ADD COLUMN called TEXT; ALTER TABLE people ADD COLUMN title TEXT;
        UPDATE people SET called = name, title = name; ALTER TABLE people DROP COLUMN name
        """
    )
    #expect(
      try desk.rows("SELECT called, title, score FROM people ORDER BY id")
        == ["'Ada', 'Ada', 1", "'Bob', 'Bob', 5", "'Cy', 'Cy', 3"]
    )
  }

  @Test(arguments: [true, false])
  func aColumnWithADefaultIsRenamedToo(isDeskLater: Bool) throws {
    let migration = "ALTER TABLE people RENAME COLUMN kind TO sort"
    let benches = try ["desk", "phone"]
      .map {
        try HistoryBench(
          "CREATE TABLE people(id TEXT PRIMARY KEY NOT NULL, kind TEXT DEFAULT 'x', note)",
          replica: $0
        )
      }
    try benches[0].commit("INSERT INTO people(id) VALUES('a'), ('b')")
    try benches[1].sync(from: benches[0])
    benches[isDeskLater ? 0 : 1].pass(seconds: 1_000)
    try benches[0].commit("UPDATE people SET note = 'desk'")
    try benches[1]
      .commit(
        """
        UPDATE people SET kind = NULL WHERE id = 'a'; INSERT INTO people(id) VALUES('c');
        INSERT INTO people VALUES('d', NULL, NULL)
        """
      )
    for bench in benches { try Self.migrate(bench, migration) }
    try HistoryBench.settle(benches)
    try HistoryBench.expectEqual(benches)
    #expect(
      try benches[0].rows("SELECT id, sort, note FROM people ORDER BY id")
        == ["'a', NULL, 'desk'", "'b', 'x', 'desk'", "'c', 'x', NULL", "'d', NULL, NULL"]
    )
  }
}

import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import CloudSyncSimulator
import CloudSyncTestSupport
import Testing

@testable import CloudSyncChangesets

/// A row that the tables here refuse is parked, told by name, and stops nothing else.
@Suite struct ParkedRowTests {
  private static let free = """
    CREATE TABLE people(id TEXT PRIMARY KEY NOT NULL, name TEXT, low INTEGER, high INTEGER);
    """
  /// The same schema to a history: checks and collations of keys are no part of it.
  private static let strict = """
    CREATE TABLE people(
      id TEXT PRIMARY KEY NOT NULL COLLATE NOCASE, name TEXT, low INTEGER, high INTEGER,
      CONSTRAINT ordered CHECK(low <= high));
    """
  private static let all = "SELECT id, name, low, high FROM people ORDER BY id"

  private static func benches() throws -> (free: HistoryBench, strict: HistoryBench) {
    (try HistoryBench(free, replica: "free"), try HistoryBench(strict, replica: "strict"))
  }

  @Test func everythingElseGoesOnAndTheRowIsTold() throws {
    let (free, strict) = try Self.benches()
    try free.commit("INSERT INTO people VALUES('a', 'Ada', 1, 2), ('b', 'Bob', 3, 4)")
    try strict.sync(from: free)
    try free.commit(
      """
      UPDATE people SET low = 9 WHERE id = 'a'; UPDATE people SET name = 'Rob' WHERE id = 'b';
      INSERT INTO people VALUES('B', 'Bea', 1, 1)
      """
    )
    try strict.sync(from: free)
    #expect(try strict.rows(Self.all) == ["'b', 'Rob', 3, 4"])
    let status = try strict.repository.status()
    #expect(status.isClean)
    #expect(status.head.id == (try free.repository.head().id))
    #expect(status.parked.map(\.table) == ["people", "people"])
    #expect(status.parked.map(\.key) == [[.string("B")], [.string("a")]])
    #expect(status.parked[0].reason.contains("people.id"))
    #expect(status.parked[1].reason.contains("ordered"))
    let conflicts = try strict.repository.conflicts()
    #expect(conflicts.map(\.kind) == [.parked, .parked])
    #expect(conflicts[1].lost.map { "\($0.column) \($0.value)" }.count == 3)
    #expect(throws: ChangesetError.self) { try strict.repository.restoreConflict(conflicts[0]) }
    #expect(try strict.repository.verify().problems == [])
    // Edits of both go on and arrive.
    try strict.commit("UPDATE people SET high = 7 WHERE id = 'b'")
    try free.sync(from: strict)
    #expect(try free.rows(Self.all).contains("'b', 'Rob', 3, 7"))
    #expect(try free.rows(Self.all).contains("'a', 'Ada', 9, 2"))
    try strict.repository.rescan()
    #expect(try strict.repository.status().isClean)
  }

  @Test func aRowComesBackWhenItIsMended() throws {
    let (free, strict) = try Self.benches()
    try free.commit("INSERT INTO people VALUES('a', 'Ada', 9, 2), ('b', 'Bob', 9, 3)")
    try strict.sync(from: free)
    #expect(try strict.rows(Self.all) == [])
    // A change that leaves it broken, then one that mends it, and a deletion.
    try free.commit("UPDATE people SET name = 'Ada L.' WHERE id = 'a'")
    try strict.sync(from: free)
    #expect(try strict.repository.status().parked.count == 2)
    #expect(try strict.repository.verify().problems == [])
    try free.commit("UPDATE people SET high = 10 WHERE id = 'a'; DELETE FROM people WHERE id = 'b'")
    try strict.sync(from: free)
    #expect(try strict.rows(Self.all) == ["'a', 'Ada L.', 9, 10"])
    #expect(try strict.repository.status().parked == [])
    #expect(try strict.rows("SELECT name FROM sqlite_schema WHERE name LIKE '%parked%'") == [])
    try HistoryBench.expectEqual([free, strict], Self.all)
  }

  @Test func aRowThatOneSideHasKeptFromADeletionIsParkedAndStaysEverywhere() throws {
    let (free, strict) = try Self.benches()
    let other = try HistoryBench(Self.free, replica: "other")
    try free.commit("INSERT INTO people VALUES('a', 'Ada', 1, 2), ('b', 'Bob', 1, 1)")
    try HistoryBench.settle([free, strict, other])
    try free.commit("UPDATE people SET low = 9 WHERE id = 'a'")
    try strict.commit("DELETE FROM people WHERE id = 'a'")
    // Both merge: what only the tables of one refuse is no reason to take the row from the others.
    try strict.sync(from: free)
    try other.sync(from: free, strict)
    #expect(try strict.repository.head() == other.repository.head())
    #expect(try strict.repository.status().parked.map(\.key) == [[.string("a")]])
    try HistoryBench.settle([free, strict, other])
    #expect(try free.rows(Self.all) == ["'a', 'Ada', 9, 2", "'b', 'Bob', 1, 1"])
    #expect(try strict.repository.verify().problems == [])
  }

  @Test func anEditInItsPlaceCountsAsAChangeOfIt() throws {
    let (free, strict) = try Self.benches()
    try free.commit("INSERT INTO people VALUES('a', 'Ada', 9, 2)")
    try strict.sync(from: free)
    strict.pass(seconds: 60)
    try strict.database.execute("INSERT INTO people VALUES('a', 'Ada', 1, 2)")
    #expect(
      try strict.repository.changes().map(\.text) == ["update people 'a' [low: 9 → 1]"]
    )
    // Taken back it is parked again.
    try strict.repository.discard()
    #expect(try strict.rows(Self.all) == [])
    #expect(try strict.repository.status().parked.count == 1)
    #expect(try strict.repository.verify().problems == [])
    try strict.commit("INSERT INTO people VALUES('a', 'Ada', 1, 2)")
    #expect(try strict.repository.status().parked == [])
    try free.sync(from: strict)
    try HistoryBench.expectEqual([free, strict], Self.all)
    #expect(try free.rows(Self.all) == ["'a', 'Ada', 1, 2"])
  }

  @Test func oldCommitsAndBackAndMergesWorkWithParkedRows() throws {
    let (free, strict) = try Self.benches()
    try free.commit("INSERT INTO people VALUES('a', 'Ada', 1, 2), ('c', 'Cy', 1, 1)")
    try free.commit("UPDATE people SET low = 9 WHERE id = 'a'")
    try strict.sync(from: free)
    try strict.repository.checkout(Revision("HEAD~1"))
    #expect(try strict.rows(Self.all) == ["'a', 'Ada', 1, 2", "'c', 'Cy', 1, 1"])
    #expect(try strict.repository.status().parked == [])
    try strict.repository.switchBranch("main")
    #expect(try strict.rows(Self.all) == ["'c', 'Cy', 1, 1"])
    // Both edit: the merge is about the whole state, the parked row too.
    try strict.commit("UPDATE people SET name = 'Cyd' WHERE id = 'c'")
    try free.commit("UPDATE people SET name = 'Ada L.' WHERE id = 'a'")
    try HistoryBench.settle([free, strict])
    #expect(try free.rows(Self.all) == ["'a', 'Ada L.', 9, 2", "'c', 'Cyd', 1, 1"])
    #expect(try strict.repository.head() == (try free.repository.head()))
    #expect(try strict.repository.verify().problems == [])
  }

  @Test func aMigrationKeepsParkedRows() throws {
    let (free, strict) = try Self.benches()
    try free.commit("INSERT INTO people VALUES('a', 'Ada', 9, 2)")
    try strict.sync(from: free)
    try ChangesetRepository.migrate(strict.database) { handle in
      try SQLiteConnectionBox.withoutTriggers(
        handle,
        "ALTER TABLE people ADD COLUMN size INTEGER DEFAULT 5"
      )
    }
    #expect(try strict.repository.status().parked.count == 1)
    #expect(try strict.repository.verify().problems == [])
    try ChangesetRepository.migrate(free.database) { handle in
      try SQLiteConnectionBox.withoutTriggers(
        handle,
        "ALTER TABLE people ADD COLUMN size INTEGER DEFAULT 5"
      )
    }
    #expect(try free.repository.head() == (try strict.repository.head()))
    try free.commit("UPDATE people SET low = 0")
    try strict.sync(from: free)
    #expect(try strict.rows("SELECT * FROM people") == ["'a', 'Ada', 0, 2, 5"])
  }

  @Test func whatIsWrittenUnseenIsStillToldAsSuch() throws {
    let (free, strict) = try Self.benches()
    try free.commit("INSERT INTO people VALUES('a', 'Ada', 1, 2)")
    try strict.sync(from: free)
    try strict.database.write { handle in
      try SQLiteConnectionBox.withoutTriggers(handle, "INSERT INTO people VALUES('b', 'x', 1, 1)")
    }
    try free.commit("INSERT INTO people VALUES('b', 'Bob', 1, 2)")
    let error = #expect(throws: ChangesetError.self) { try strict.sync(from: free) }
    #expect(error?.code == .diverged)
    #expect(try strict.repository.status().parked == [])
  }

  @Test func aRemoteSendsItsEditsAllTheSame() async throws {
    let cloud = LocalCloud()
    let (free, strict) = try Self.benches()
    try free.commit("INSERT INTO people VALUES('a', 'Ada', 9, 2)")
    try await RemoteBench.remote(free, cloud).sync()
    try strict.database.execute("INSERT INTO people VALUES('s', 'Sue', 1, 2)")
    let remote = try RemoteBench.remote(strict, cloud, device: "phone")
    try await remote.sync()
    #expect(try strict.repository.status().parked.count == 1)
    #expect(try strict.repository.status().unpushedCount == 0)
    try await RemoteBench.remote(free, cloud).sync()
    #expect(try free.rows("SELECT id FROM people ORDER BY id") == ["'a'", "'s'"])
  }

  @Test func anExportThatWouldLackARowSaysSo() throws {
    let folder = try ScratchFolder()
    let (free, strict) = try Self.benches()
    try free.commit("INSERT INTO people VALUES('a', 'Ada', 1, 2)")
    try free.commit("UPDATE people SET low = 9")
    try strict.sync(from: free)
    try strict.repository.export("HEAD~1", to: folder.file("then.db"))
    let error = #expect(throws: ChangesetError.self) {
      try strict.repository.export("HEAD", to: folder.file("now.db"))
    }
    #expect(error?.reason.contains("ordered") == true)
    #expect(try strict.repository.status().parked.count == 1)
  }

  /// SQLite does not see a parked row when its parent goes.
  @Test(arguments: ["CASCADE", "SET NULL"])
  func theActionOfAForeignKeyReachesAParkedRow(action: String) throws {
    func schema(_ check: String) -> String {
      """
      CREATE TABLE teams(id TEXT PRIMARY KEY NOT NULL);
      CREATE TABLE people(
        id TEXT PRIMARY KEY NOT NULL, score INTEGER \(check),
        team TEXT REFERENCES teams(id) ON DELETE \(action));
      """
    }
    let free = try HistoryBench(schema(""), replica: "free")
    let strict = try HistoryBench(schema("CHECK(score < 10)"), replica: "strict")
    for bench in [free, strict] { try bench.database.execute("PRAGMA foreign_keys = ON") }
    try free.commit("INSERT INTO teams VALUES('t'), ('u')")
    try free.commit("INSERT INTO people VALUES('a', 50, 't'), ('b', 60, 'u'), ('c', 1, 't')")
    try strict.sync(from: free)
    #expect(try strict.repository.status().parked.count == 2)
    try strict.commit("DELETE FROM teams WHERE id = 't'")
    #expect(try strict.repository.verify().problems == [])
    try free.sync(from: strict)
    #expect(try free.rows("PRAGMA foreign_key_check") == [])
    let rows = try free.rows("SELECT * FROM people ORDER BY id")
    #expect(
      rows
        == (action == "CASCADE"
          ? ["'b', 60, 'u'"] : ["'a', 50, NULL", "'b', 60, 'u'", "'c', 1, NULL"])
    )
    // The same by a merge that the strict one makes.
    try strict.commit("DELETE FROM teams WHERE id = 'u'")
    try free.commit("INSERT INTO people VALUES('d', 70, 'u')")
    try strict.sync(from: free)
    #expect(try strict.repository.verify().problems == [])
    try HistoryBench.settle([free, strict])
    #expect(try free.rows("PRAGMA foreign_key_check") == [])
    #expect(try free.repository.head() == (try strict.repository.head()))
    #expect(try free.repository.verify().problems == [])
  }

  // MARK: Tables that are changed

  /// A parked row keeps its values under their new names, as the rows do that are in the tables.
  @Test(
    arguments: SuiteSize.some(
      2,
      of: [
        "ALTER TABLE people RENAME COLUMN name TO called", "ALTER TABLE people RENAME TO folk",
        "ALTER TABLE people ADD COLUMN size INTEGER DEFAULT 3",
        "ALTER TABLE people RENAME COLUMN name TO called; ALTER TABLE people ADD COLUMN size DEFAULT 3",
      ]
    )
  )
  func aParkedRowIsMigratedAsOthersAre(change: String) throws {
    for (others, migrates) in [(0, true), (1, true), (1, false)] {
      let (free, strict) = try Self.benches()
      try free.commit("INSERT INTO people VALUES('a', 'Ada', 9, 2)")
      if others > 0 { try free.commit("INSERT INTO people VALUES('b', 'Bob', 1, 2)") }
      try strict.sync(from: free)
      #expect(try strict.repository.status().parked.count == 1)
      // Without another row nothing tells that a table is the same one.
      if others == 0, change.contains("TO folk") { continue }
      for bench in [free, strict] {
        try bench.change(change, migrates: migrates)
        #expect(try bench.repository.verify().problems == [], "\(others) \(migrates)")
        #expect(try bench.repository.status().isClean)
      }
      #expect(try free.repository.head() == strict.repository.head(), "\(others) \(migrates)")
      let table = change.contains("folk") ? "folk" : "people"
      try free.commit("UPDATE \(table) SET high = 10 WHERE id = 'a'")
      try strict.sync(from: free)
      try HistoryBench.expectEqual([free, strict], "SELECT * FROM \(table) ORDER BY id")
      #expect(
        try strict.rows("SELECT * FROM \(table) WHERE id = 'a'").first?.contains("Ada") == true
      )
    }
  }

  /// Whatever is done to rows in the place of parked ones before a commit, HEAD is what it was, and the rows are what was done.
  @Test(arguments: SuiteSize.some(3, of: Array(1...30)))
  func rowsInThePlaceOfParkedOnes(seed: UInt64) throws {
    let (free, strict) = try Self.benches()
    try free.commit(
      "INSERT INTO people VALUES('a', 'Ada', 9, 2), ('b', 'Bob', 9, 3), ('c', 'Cy', 1, 2)"
    )
    try strict.sync(from: free)
    var random = SeededRandom(seed: seed)
    for _ in 0..<12 {
      let key = ["a", "A", "b", "B", "c", "d"][random.below(6)]
      let sql =
        switch random.below(8) {
        case 0: "INSERT OR IGNORE INTO people VALUES('\(key)', 'new', 1, 5)"
        case 1: "INSERT OR REPLACE INTO people VALUES('\(key)', 'Ada', 1, 2)"
        case 2: "DELETE FROM people WHERE id = '\(key)'"
        case 3: "UPDATE OR IGNORE people SET id = '\(key)' WHERE id = 'c'"
        case 4: "UPDATE people SET name = 'x', high = high + 1 WHERE id = '\(key)'"
        default: ""
        }
      switch random.below(6) {
      case 0: try strict.repository.rescan()
      case 1: try strict.repository.commit()
      case 2: try strict.repository.discard()
      default: try strict.database.execute(sql)
      }
      #expect(try strict.repository.verify().problems == [], "\(sql)")
    }
    try strict.repository.commit()
    #expect(try strict.repository.verify().problems == [])
    try free.sync(from: strict)
    try strict.sync(from: free)
    #expect(try free.repository.verify().problems == [])
    #expect(try free.repository.head() == strict.repository.head())
  }
}

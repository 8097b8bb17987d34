import CloudSyncChangesets
import CloudSyncCore
import CloudSyncSQLite
import Testing

/// Going to older commits, back, and to branches.
@Suite struct GoingBackTests {
  private static let all = "SELECT * FROM people ORDER BY id"

  private static func bench(commits: Int) throws -> HistoryBench {
    let bench = try HistoryBench()
    for number in 1...commits {
      try bench.commit(
        "INSERT INTO people VALUES('p\(number)', 'P', \(number), NULL);"
          + "UPDATE people SET score = score + 1 WHERE id = 'p\(number / 2)';"
          + "DELETE FROM people WHERE id = 'p\(number / 3)'"
      )
    }
    return bench
  }

  @Test func rowsAreAsThenAndAsNow() throws {
    let bench = try Self.bench(commits: 30)
    var states: [[String]] = []
    let now = try bench.rows(Self.all)
    for step in 0..<30 {
      try bench.repository.checkout(Revision("HEAD~\(step == 0 ? 0 : 1)"))
      states.append(try bench.rows(Self.all))
      #expect(try bench.repository.head().isDetached)
    }
    #expect(states.last == ["'p1', 'P', 1, NULL"])
    try bench.repository.switchBranch("main")
    #expect(try bench.rows(Self.all) == now)
    #expect(try bench.repository.head().isDetached == false)
    for step in [0, 7, 29] {
      try bench.repository.checkout(Revision("main~\(step)"))
      #expect(try bench.rows(Self.all) == states[step])
      #expect(try bench.repository.verify().problems == [])
    }
  }

  @Test func nothingIsCommittedOnAnOlderCommit() throws {
    let bench = try Self.bench(commits: 3)
    try bench.repository.checkout("HEAD~1")
    try bench.database.execute("UPDATE people SET name = 'x'")
    let error = #expect(throws: ChangesetError.self) { try bench.repository.commit() }
    #expect(error?.code == .detached)
    #expect(try bench.repository.status().isClean == false)
  }

  @Test func aBranchThatBeginsAtHEADTakesRowsAlongThatAreNotCommitted() throws {
    let bench = try Self.bench(commits: 3)
    try bench.repository.checkout("HEAD~1")
    try bench.database.execute("UPDATE people SET name = 'x' WHERE id = 'p1'")
    let rows = try bench.rows(Self.all)
    #expect(throws: ChangesetError.self) { try bench.repository.switchBranch("main") }

    try bench.repository.createBranch("mine")
    try bench.repository.switchBranch("mine")
    #expect(try bench.rows(Self.all) == rows)
    #expect(try bench.repository.status().isClean == false)
    try bench.repository.commit()
    #expect(try bench.repository.status().isClean && bench.repository.head().branch == "mine")
    try bench.repository.switchBranch("main")
    try bench.repository.switchBranch("mine")
    #expect(try bench.rows(Self.all) == rows)
    #expect(try bench.repository.verify().problems == [])
  }

  @Test func rowsThatAreNotCommittedStopEveryMove() throws {
    let bench = try Self.bench(commits: 3)
    try bench.repository.createBranch("other", at: "HEAD~1")
    try bench.database.execute("UPDATE people SET name = 'x' WHERE id = 'p3'")
    let before = try (bench.rows(Self.all), bench.repository.head())
    let moves: [@Sendable (ChangesetRepository) throws -> Void] = [
      { try $0.checkout("HEAD~1") }, { try $0.switchBranch("other") }, { _ = try $0.pull() },
      { _ = try $0.restore("HEAD~1") },
    ]
    for (place, move) in moves.enumerated() where place != 2 {
      let error = #expect(throws: ChangesetError.self) { try move(bench.repository) }
      #expect(error?.code == .uncommittedChanges)
      #expect(try bench.rows(Self.all) == before.0)
      #expect(try bench.repository.head() == before.1)
    }
    try bench.repository.discard()
    try bench.repository.switchBranch("other")
    #expect(try bench.repository.head().branch == "other")
  }

  @Test func restoringCommitsTheRowsOfAnOlderCommit() throws {
    let bench = try Self.bench(commits: 6)
    try bench.repository.checkout("HEAD~3")
    let then = try bench.rows(Self.all)
    try bench.repository.switchBranch("main")
    let commit = try bench.repository.restore("HEAD~3", meta: "back")
    #expect(commit?.meta == "back")
    #expect(try bench.rows(Self.all) == then)
    #expect(try bench.repository.log().count == 7)
    #expect(try bench.repository.restore("HEAD~4") == nil)
    #expect(try bench.repository.verify().problems == [])
  }

  @Test func anExportHasTheRowsOfThenAndNoHistory() throws {
    let folder = try ScratchFolder()
    let bench = try Self.bench(commits: 5)
    try bench.repository.checkout("HEAD~2")
    let then = try bench.rows(Self.all)
    try bench.repository.switchBranch("main")
    try bench.database.execute("UPDATE people SET name = 'uncommitted'")
    try bench.repository.export("HEAD~2", to: folder.file("then.db"))
    let copy = try DatabaseFile(path: folder.file("then.db"), access: .readOnly)
    #expect(try copy.rows(Self.all) == then)
    #expect(try copy.rows("SELECT name FROM sqlite_schema WHERE name LIKE 'changesets%'") == [])
    #expect(throws: ChangesetError.self) {
      try bench.repository.export("HEAD", to: folder.file("then.db"))
    }
  }

  @Test func valuesOfUniqueKeysThatAreSwappedOrRotatedAreApplied() throws {
    let bench = try HistoryBench(
      "CREATE TABLE seats(id TEXT PRIMARY KEY NOT NULL, place INTEGER UNIQUE ON CONFLICT REPLACE)"
    )
    try bench.commit("INSERT INTO seats VALUES('a', 1), ('b', 2), ('c', 3)")
    try bench.commit(
      """
      UPDATE seats SET place = 9 WHERE id = 'a'; UPDATE seats SET place = 1 WHERE id = 'b';
      UPDATE seats SET place = 2 WHERE id = 'c'; UPDATE seats SET place = 3 WHERE id = 'a';
      """
    )
    let now = try bench.rows("SELECT * FROM seats ORDER BY id")
    try bench.repository.checkout("HEAD~1")
    #expect(try bench.rows("SELECT * FROM seats ORDER BY id") == ["'a', 1", "'b', 2", "'c', 3"])
    try bench.repository.switchBranch("main")
    #expect(try bench.rows("SELECT * FROM seats ORDER BY id") == now)
    #expect(try bench.repository.verify().problems == [])
  }

  @Test func triggersOfTheAppKeepUpWhatFollowsAndRowsStayAsTheHistoryHasThem() throws {
    let bench = try HistoryBench(
      HistoryBench.people + """
        CREATE TABLE totals(what TEXT PRIMARY KEY NOT NULL, number INTEGER);
        INSERT INTO totals VALUES('score', 0);
        CREATE TRIGGER a AFTER INSERT ON people BEGIN
          UPDATE totals SET number = number + new.score; END;
        CREATE TRIGGER u AFTER UPDATE ON people BEGIN
          UPDATE totals SET number = number + new.score - old.score;
          UPDATE people SET note = 'touched' WHERE id = new.id; END;
        CREATE TRIGGER d AFTER DELETE ON people BEGIN
          UPDATE totals SET number = number - old.score; END;
        CREATE VIRTUAL TABLE words USING fts5(name, content='people', content_rowid='rowid');
        CREATE TRIGGER wi AFTER INSERT ON people BEGIN
          INSERT INTO words(rowid, name) VALUES(new.rowid, new.name); END;
        CREATE TRIGGER wd AFTER DELETE ON people BEGIN
          INSERT INTO words(words, rowid, name) VALUES('delete', old.rowid, old.name); END;
        CREATE TRIGGER wu AFTER UPDATE OF name ON people BEGIN
          INSERT INTO words(words, rowid, name) VALUES('delete', old.rowid, old.name);
          INSERT INTO words(rowid, name) VALUES(new.rowid, new.name); END;
        """,
      tables: ["people"]
    )
    try bench.commit("INSERT INTO people VALUES('a', 'Ada', 1, NULL), ('b', 'Bob', 2, NULL)")
    let first = try bench.rows(Self.all)
    try bench.commit(
      "UPDATE people SET name = 'Eve', score = 10 WHERE id = 'a'; DELETE FROM people WHERE id = 'b'"
    )
    let second = try bench.rows(Self.all)
    for (revision, rows, total) in [("HEAD~1", first, "3"), ("main", second, "10")] {
      try bench.repository.checkout(Revision(revision))
      #expect(try bench.rows(Self.all) == rows)
      #expect(try bench.rows("SELECT number FROM totals") == [total])
      try bench.database.execute("INSERT INTO words(words) VALUES('integrity-check')")
      #expect(try bench.repository.status().isClean)
    }
    #expect(try bench.rows("SELECT rowid FROM words WHERE words MATCH 'eve'").count == 1)
  }

  @Test func aRowThatWasChangedUnseenStopsAMove() throws {
    let bench = try Self.bench(commits: 4)
    try bench.database.write { handle in
      try SQLiteConnectionBox.withoutTriggers(
        handle,
        "UPDATE people SET name = 'unseen' WHERE id = 'p4'"
      )
    }
    let before = try bench.rows(Self.all)
    let error = #expect(throws: ChangesetError.self) { try bench.repository.checkout("HEAD~1") }
    #expect(error?.code == .diverged)
    #expect(error?.reason.contains("'p4'") == true)
    #expect(error?.reason.contains("people") == true)
    #expect(try bench.rows(Self.all) == before)
    #expect(try bench.repository.verify().problems.count == 1)
  }

  @Test func namesOfBranchesAndTagsAreChecked() throws {
    let bench = try Self.bench(commits: 2)
    let long = String(repeating: "x", count: 300)
    for name in ["", long, "a..b", "a\nb", "HEAD", "x~1", "-f", " x"] {
      for call in [
        { try bench.repository.createBranch(name) }, { try bench.repository.tag(name, "HEAD") },
      ] {
        let error = #expect(throws: ChangesetError.self) { try call() }
        #expect(error?.code == .invalidName)
      }
    }
    try bench.repository.createBranch("caf\u{e9}")
    #expect(throws: ChangesetError.self) { try bench.repository.createBranch("cafe\u{301}") }
    #expect(throws: ChangesetError.self) { try bench.repository.tag("caf\u{e9}", "HEAD") }
    #expect(throws: ChangesetError.self) { try bench.repository.switchBranch("nowhere") }
    #expect(throws: ChangesetError.self) { try bench.repository.deleteBranch("main") }
  }

  @Test func branchesGoOnByThemselvesAndCanBeHidden() throws {
    let bench = try Self.bench(commits: 2)
    try bench.repository.createBranch("idea")
    try bench.repository.switchBranch("idea")
    try bench.commit("UPDATE people SET name = 'idea'")
    try bench.commit("UPDATE people SET name = 'idea 2'")
    #expect(try bench.repository.branches().map(\.name) == ["idea", "main"])
    #expect(try bench.repository.branches().map(\.heads.count) == [1, 1])
    try bench.repository.switchBranch("main")
    #expect(try bench.rows("SELECT name FROM people WHERE id = 'p2'") == ["'P'"])
    try bench.commit("UPDATE people SET name = 'main'")
    #expect(try bench.repository.log(LogQuery(branch: "idea")).count == 4)
    #expect(try bench.repository.log(LogQuery(isOfAllBranches: true)).count == 5)
    try bench.repository.deleteBranch("idea")
    #expect(try bench.repository.branches().map(\.name) == ["main"])
    #expect(try bench.repository.log(LogQuery(isOfAllBranches: true)).count == 5)
    try bench.repository.tag("release", "main~1")
    #expect(try bench.repository.tags().map(\.name) == ["release"])
    #expect(
      try bench.repository.log(LogQuery(revision: "release", count: 1)).first?.branch == "main"
    )
    try bench.repository.tag("release", nil)
    #expect(try bench.repository.tags() == [])
  }

  @Test func revisionsAreFoundByDigitsNamesAndSteps() throws {
    let bench = try Self.bench(commits: 4)
    let log = try bench.repository.log()
    #expect(try bench.repository.show(Revision(log[2].id)).changeset == log[2])
    #expect(try bench.repository.show(Revision(log[2].id.short)).changeset == log[2])
    #expect(try bench.repository.show("main~2").changeset == log[2])
    #expect(try bench.repository.show("HEAD~1~1").changeset == log[2])
    for text in ["HEAD~9", "abc", "zzzz", "0000", "", "HEAD~x"] {
      let error = #expect(throws: ChangesetError.self) { try bench.repository.show(Revision(text)) }
      #expect(error?.code == .noSuchRevision, "\(text)")
    }
    #expect(try bench.repository.diff("HEAD~4", "HEAD").count == 3)
    #expect(throws: ChangesetError.self) { try bench.repository.diff("HEAD~5", "HEAD") }
  }

  @Test func headIsPublishedAfterEveryMove() throws {
    let bench = try Self.bench(commits: 2)
    let heads = Locked<[Head]>([])
    bench.repository.headSubject.sink { head in heads.withLock { $0.append(head) } }
    try bench.commit("UPDATE people SET name = 'x'")
    try bench.commit("UPDATE people SET name = 'x'")
    try bench.repository.checkout("HEAD~1")
    try bench.repository.switchBranch("main")
    #expect(heads.withLock { $0.map(\.isDetached) } == [false, true, false])
  }
}

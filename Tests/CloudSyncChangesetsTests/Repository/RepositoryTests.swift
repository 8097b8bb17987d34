import CloudSyncChangesets
import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import Testing

/// Beginning, looking, resetting and removing.
@Suite struct RepositoryTests {
  @Test func rowsThatAreThereAreInTheFirstCommit() throws {
    let schema =
      HistoryBench.people
      + "INSERT INTO people VALUES('a', 'Ada', 1, NULL), ('b', NULL, NULL, x'00');"
    let bench = try HistoryBench(schema)
    let log = try bench.repository.log()
    #expect(log.map(\.meta) == [#"{"import":1}"#])
    #expect(log.first?.replica == "desk")
    #expect(try bench.repository.status().isClean)
    #expect(try bench.repository.verify() == VerifyReport(rowCount: 2, commitCount: 1))
    #expect(try bench.rows("SELECT * FROM people").count == 2)
  }

  @Test func largeTablesAreImportedInSeveralCommits() throws {
    let bench = try HistoryBench(
      HistoryBench.people + """
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10)
        INSERT INTO people SELECT 'p' || i, NULL, i, randomblob(1000000) FROM n;
        """
    )
    #expect(try bench.repository.log().count == 2)
    #expect(try bench.repository.verify().problems == [])
  }

  @Test func removingLeavesTheSchemaAsItWas() throws {
    let folder = try ScratchFolder()
    let schema = "SELECT type, name, sql FROM sqlite_schema ORDER BY rowid"
    let plain = try DatabaseFile(path: folder.file("plain.db"), createsFile: true)
    try plain.execute(HistoryBench.people + "CREATE INDEX i ON people(name);")
    let before = try plain.rows(schema)
    let repository = try ChangesetRepository(plain)
    try plain.execute("INSERT INTO people(id) VALUES('a')")
    try repository.commit()
    #expect(try plain.rows(schema) != before)
    try repository.remove()
    #expect(try plain.rows(schema) == before)
    let error = #expect(throws: ChangesetError.self) { try repository.status() }
    #expect(error?.code == .misuse)
  }

  @Test(arguments: [
    ("CREATE TABLE t(a)", "no primary key"), ("CREATE TABLE t(a TEXT PRIMARY KEY)", "NULL"),
    (
      "CREATE TABLE u(id TEXT PRIMARY KEY NOT NULL); CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL REFERENCES u)",
      "foreign key"
    ),
    ("CREATE VIEW t AS SELECT 1", "view"), ("SELECT 1", "no table"),
  ])
  func tablesThatCannotBeTrackedAreRefused(schema: String, reason: String) throws {
    let database = try DatabaseFile(path: ":memory:", createsFile: true)
    try database.execute(schema)
    let error = #expect(throws: ChangesetError.self) {
      try ChangesetRepository(database, tables: ["t"])
    }
    #expect(error?.code == .schema)
    #expect(error?.reason.contains(reason) == true, "\(error?.reason ?? "")")
    #expect(try database.rows("SELECT name FROM sqlite_schema WHERE name LIKE 'changesets%'") == [])
  }

  @Test func resettingForgetsCommitsAndKeepsRows() throws {
    let bench = try HistoryBench()
    try bench.commit("INSERT INTO people VALUES('a', 'Ada', 1, NULL)")
    try bench.commit("INSERT INTO people VALUES('b', 'Bob', 1, NULL)")
    try bench.repository.reset()
    #expect(try bench.repository.log() == [])
    #expect(try bench.repository.head().id == nil)
    #expect(try bench.repository.status().tables.map(\.inserted) == [2])
    try bench.repository.commit()
    #expect(try bench.repository.log().count == 1)
    #expect(try bench.repository.verify().problems == [])
  }

  @Test func aMissingHeadOrTwoOfThemAreDamage() throws {
    for damage in ["DELETE FROM changesets_heads", "UPDATE changesets_heads SET is_head = 1"] {
      let bench = try HistoryBench()
      try bench.commit("INSERT INTO people VALUES('a', 'Ada', 1, NULL)")
      try bench.database.execute(damage)
      let error = #expect(throws: ChangesetError.self) { try bench.repository.head() }
      #expect(error?.code == .damaged)
    }
  }

  @Test func aNewerVersionIsNotTouched() throws {
    let bench = try HistoryBench()
    try bench.database.execute("UPDATE changesets_info SET value = 2 WHERE name = 'version'")
    let error = #expect(throws: ChangesetError.self) { try ChangesetRepository(bench.database) }
    #expect(error?.code == .newerVersion)
  }

  @Test func blameNamesTheCommitThatWroteEachColumn() throws {
    let bench = try HistoryBench()
    try bench.commit("INSERT INTO people VALUES('a', 'Ada', 1, NULL)", meta: "first")
    try bench.commit("UPDATE people SET score = 2", meta: "second")
    try bench.commit("UPDATE people SET note = 'n'", meta: "third")
    let origins = try bench.repository.blame("people", [.string("a")])
    #expect(origins.map(\.column) == ["name", "note", "score"])
    #expect(origins.map(\.changeset.meta) == ["first", "third", "second"])
    #expect(try bench.repository.blame("people", [.string("a")], at: "HEAD~1").count == 2)
    #expect(try bench.repository.blame("people", [.string("b")]) == [])
  }

  @Test func theLogOfATableAndARowHasTheCommitsThatChangedThem() throws {
    let bench = try HistoryBench(
      HistoryBench.people + "CREATE TABLE other(id TEXT PRIMARY KEY NOT NULL);"
    )
    try bench.commit("INSERT INTO people(id) VALUES('a')", meta: "1")
    try bench.commit("INSERT INTO other VALUES('a')", meta: "2")
    try bench.commit("INSERT INTO people(id) VALUES('b')", meta: "3")
    let log = { (query: LogQuery) in try bench.repository.log(query).map(\.meta) }
    #expect(try log(LogQuery(table: "PEOPLE")) == ["3", "1"])
    #expect(try log(LogQuery(table: "people", key: [.string("a")])) == ["1"])
    #expect(try log(LogQuery(count: 2)) == ["3", "2"])
    #expect(try log(LogQuery(revision: "HEAD~1")) == ["2", "1"])
  }

  @Test func whoHasEmptiedAColumnIsBlamedForIt() throws {
    let bench = try HistoryBench()
    let first = try bench.commit("INSERT INTO people(id, name, score) VALUES('a', 'Ada', 1)")
    let second = try bench.commit("UPDATE people SET name = NULL")
    let origins = try bench.repository.blame("people", [.string("a")])
    // What never held anything is no one's.
    #expect(origins.map(\.column) == ["name", "score"])
    #expect(origins.map(\.changeset.id) == [second, first].map { $0?.id })
    #expect(origins.map(\.value) == [.null, .int64(1)])
    let third = try bench.commit("UPDATE people SET name = 'Ida'")
    #expect(try bench.repository.blame("people", [.string("a")]).first?.changeset.id == third?.id)
  }

  @Test func commitsMadeAlikeAreOne() throws {
    let one = try HistoryBench()
    let other = try HistoryBench()
    let sql = "INSERT INTO people VALUES('a', 'Ada', 1.5, x'00ff')"
    #expect(try one.commit(sql)?.id == other.commit(sql)?.id)
    #expect(
      try one.commit("UPDATE people SET score = 2")?.id != other.commit("DELETE FROM people")?.id
    )
  }

  @Test func aBlobWrittenPastTheTriggersIsFoundByVerifying() throws {
    let bench = try HistoryBench()
    try bench.commit("INSERT INTO people VALUES('a', 'Ada', 1, x'0000')")
    try bench.database.write { handle in
      try SQLiteConnectionBox.withoutTriggers(handle, "UPDATE people SET note = x'0100'")
    }
    #expect(try bench.repository.status().isClean)
    #expect(try bench.repository.verify().problems.count == 1)
    try bench.database.execute("UPDATE people SET score = 2; INSERT INTO people(id) VALUES('b')")
    try bench.database.write { handle in
      try SQLiteConnectionBox.withoutTriggers(handle, "INSERT INTO people(id) VALUES('c')")
    }
    try bench.repository.rescan()
    #expect(
      try bench.repository.changes().map(\.text) == [
        "update people 'a' [note: x'0000' → x'0100', score: 1 → 2]", "insert people 'b' []",
        "insert people 'c' []",
      ]
    )
    try bench.repository.commit()
    #expect(try bench.repository.verify().problems == [])
  }
}

extension VerifyReport {
  fileprivate init(rowCount: Int, commitCount: Int) {
    self.init(rowCount: rowCount, commitCount: commitCount, problems: [])
  }
}

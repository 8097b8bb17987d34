import CloudSyncChangesets
import CloudSyncCore
import CloudSyncSQLite
import Testing

/// What stays of commits that are taken back, and what comes back of what merges have lost.
@Suite struct RevertingTests {
  @Test func whatWasChangedSinceStaysAndIsInTheConflicts() throws {
    let desk = try HistoryBench(replica: "desk")
    try desk.commit("INSERT INTO people VALUES('a', 'Ada', 1, NULL)")
    let edit = try desk.commit("UPDATE people SET name = 'Ida', score = 2")
    try desk.commit("UPDATE people SET score = 3")
    let revert = try desk.repository.revert(Revision(try #require(edit?.id)))
    #expect(try desk.rows("SELECT name, score FROM people") == ["'Ada', 3"])
    let conflict = try #require(try desk.repository.conflicts().first)
    #expect(conflict.merge == revert?.id)
    #expect(conflict.columns == ["score"])
    #expect(conflict.lost.map(\.value) == [.int64(1)])
    // It travels with the commit, and the commit is one.
    let phone = try HistoryBench(replica: "phone")
    try phone.sync(from: desk)
    #expect(try phone.repository.conflicts() == [conflict])
    #expect(try phone.repository.verify().problems == [])
    try phone.repository.restoreConflict(conflict)
    #expect(try phone.rows("SELECT name, score FROM people") == ["'Ada', 1"])
    #expect(try phone.repository.conflicts() == [])
  }

  @Test func aRevertThatTakesAllBackHasNoConflicts() throws {
    let desk = try HistoryBench(replica: "desk")
    try desk.commit("INSERT INTO people VALUES('a', 'Ada', 1, NULL)")
    let edit = try desk.commit("UPDATE people SET name = 'Ida'")
    try desk.commit("UPDATE people SET score = 3")
    try desk.repository.revert(Revision(try #require(edit?.id)))
    #expect(try desk.rows("SELECT name, score FROM people") == ["'Ada', 3"])
    #expect(try desk.repository.conflicts() == [])
  }

  @Test func aRowThatADeletionTookComesBackWhole() throws {
    let settings = [
      "people": ChangesetOptions.Table(merging: TableMergePolicy(deletes: .deleteWins))
    ]
    let schema =
      "CREATE TABLE people(id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL, score INTEGER)"
    let desk = try HistoryBench(schema, replica: "desk", settings: settings)
    let phone = try HistoryBench(schema, replica: "phone", settings: settings)
    try desk.commit("INSERT INTO people VALUES('a', 'Ada', 1)")
    try phone.sync(from: desk)
    try phone.commit("UPDATE people SET score = 2")
    try desk.commit("DELETE FROM people")
    try desk.sync(from: phone)
    #expect(try desk.rows("SELECT * FROM people") == [])
    let conflict = try #require(try desk.repository.conflicts().first)
    try desk.repository.restoreConflict(conflict)
    #expect(try desk.rows("SELECT * FROM people") == ["'a', 'Ada', 2"])
  }

  @Test func whatARowLostDoesNotComeBackWithoutTheRow() throws {
    let schema =
      "CREATE TABLE people(id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL, score INTEGER)"
    let (desk, phone) = (
      try HistoryBench(schema, replica: "desk"), try HistoryBench(schema, replica: "phone")
    )
    try desk.commit("INSERT INTO people VALUES('a', 'Ada', 1)")
    try phone.sync(from: desk)
    try phone.commit("UPDATE people SET score = 2")
    try desk.commit("UPDATE people SET score = 3")
    try desk.sync(from: phone)
    let conflict = try #require(try desk.repository.conflicts().first)
    try desk.commit("DELETE FROM people")
    let error = #expect(throws: ChangesetError.self) {
      try desk.repository.restoreConflict(conflict)
    }
    #expect(error?.code == .misuse)
    #expect(try desk.repository.conflicts() == [conflict])
    #expect(try desk.rows("SELECT * FROM people") == [])
  }

  @Test func aRowWhoseUniqueValueIsTakenStaysWhereItIs() throws {
    let settings = [
      "people": ChangesetOptions.Table(merging: TableMergePolicy(deletes: .deleteWins))
    ]
    let schema =
      "CREATE TABLE people(id TEXT PRIMARY KEY NOT NULL, name TEXT UNIQUE, score INTEGER)"
    let desk = try HistoryBench(schema, replica: "desk", settings: settings)
    let phone = try HistoryBench(schema, replica: "phone", settings: settings)
    try desk.commit("INSERT INTO people VALUES('a', 'Ada', 1)")
    try phone.sync(from: desk)
    try phone.commit("UPDATE people SET score = 2")
    try desk.commit("DELETE FROM people")
    try desk.sync(from: phone)
    try desk.commit("INSERT INTO people VALUES('b', 'Ada', 3)")
    let conflict = try #require(try desk.repository.conflicts().first)
    let error = #expect(throws: ChangesetError.self) {
      try desk.repository.restoreConflict(conflict)
    }
    #expect(error?.code == .misuse)
    try desk.commit("DELETE FROM people")
    try desk.repository.restoreConflict(conflict)
    #expect(try desk.rows("SELECT * FROM people") == ["'a', 'Ada', 2"])
  }
}

import CloudSyncCore
import CloudSyncSQLite
import Testing

@testable import CloudSyncChangesets

/// Replicas that edit at once, and what their histories become.
@Suite struct MergingTests {
  private static func pair(
    settings: [String: ChangesetOptions.Table] = [:]
  ) throws -> (HistoryBench, HistoryBench) {
    let one = try HistoryBench(replica: "desk", settings: settings)
    let other = try HistoryBench(replica: "phone", settings: settings)
    try one.commit("INSERT INTO people VALUES('a', 'Ada', 5, NULL), ('b', 'Bob', 5, NULL)")
    try other.sync(from: one)
    try HistoryBench.expectEqual([one, other])
    return (one, other)
  }

  @Test func theLaterValueOfACellCountsEverywhere() throws {
    let (one, other) = try Self.pair()
    try one.commit("UPDATE people SET score = 111 WHERE id = 'a'")
    other.pass(seconds: 60)
    try other.commit("UPDATE people SET score = 222 WHERE id = 'a'")
    try one.sync(from: other)
    try other.sync(from: one)
    try HistoryBench.expectEqual([one, other])
    #expect(try one.rows("SELECT score FROM people WHERE id = 'a'") == ["222"])
    try one.commit("UPDATE people SET score = 500 WHERE id = 'a'")
    try other.sync(from: one)
    #expect(try other.rows("SELECT score FROM people WHERE id = 'a'") == ["500"])
    let third = try HistoryBench(replica: "new")
    try third.sync(from: other)
    try HistoryBench.expectEqual([one, other, third])
    try one.commit("DELETE FROM people WHERE id = 'a'")
    try other.sync(from: one)
    try HistoryBench.expectEqual([one, other])
    #expect(try other.rows("SELECT id FROM people") == ["'b'"])
  }

  @Test func replicasThatMergeAtOnceMakeOneCommit() throws {
    let (one, other) = try Self.pair()
    try one.commit("UPDATE people SET name = 'x' WHERE id = 'a'")
    try other.commit("UPDATE people SET name = 'y' WHERE id = 'b'")
    try one.take(from: other)
    try other.take(from: one)
    let mine = try one.repository.mergeAll()
    let theirs = try other.repository.mergeAll()
    #expect(mine.map(\.id) == theirs.map(\.id))
    #expect(mine.count == 1)
    #expect(mine.first?.replica == nil)
    try one.repository.pull()
    try other.sync(from: one)
    try HistoryBench.expectEqual([one, other])
    #expect(try one.repository.mergeAll() == [])
    #expect(try one.repository.log(LogQuery(isOfAllBranches: true)).count == 4)
  }

  @Test func aMergeTellsWhatItHasLostWhileUncommittedEditsKeepTheRows() throws {
    let (one, _) = try Self.pair()
    try one.repository.createBranch("idea")
    try one.commit("UPDATE people SET score = 111 WHERE id = 'a'")
    try one.repository.switchBranch("idea")
    one.pass(seconds: 60)
    try one.commit("UPDATE people SET score = 222 WHERE id = 'a'")
    try one.repository.switchBranch("main")
    try one.database.execute("UPDATE people SET name = 'Bea' WHERE id = 'b'")
    try one.repository.merge("idea")
    #expect(try one.repository.conflicts().count == 1)

    // Once they are committed there is another head, with which it is merged.
    try one.commit("SELECT 1")
    try one.repository.mergeAll()
    try one.repository.pull()
    #expect(try one.repository.conflicts().count == 1)
    #expect(try one.rows("SELECT name, score FROM people") == ["'Ada', 222", "'Bea', 5"])
  }

  @Test func anEditWinsOverADeletionUnlessSettledOtherwise() throws {
    for policy in [DeletePolicy.editWins, .deleteWins] {
      let (one, other) = try Self.pair(
        settings: ["people": .init(merging: TableMergePolicy(deletes: policy))]
      )
      try one.commit("DELETE FROM people WHERE id = 'a'")
      try other.commit("UPDATE people SET score = 6 WHERE id = 'a'")
      try HistoryBench.settle([one, other])
      try HistoryBench.expectEqual([one, other])
      let rows = try one.rows("SELECT * FROM people WHERE id = 'a'")
      #expect(rows == (policy == .editWins ? ["'a', 'Ada', 6, NULL"] : []))
      #expect(try one.repository.conflicts().map(\.kind) == [.deletion])
    }
  }

  @Test func countersMaximaAndSetsAreMergedByWhatWasDone() throws {
    let policy = TableMergePolicy(columns: [
      "score": .counter, "name": .maximum, "note": .setUnion,
    ])
    let (one, other) = try Self.pair(settings: ["people": .init(merging: policy)])
    try one.commit("UPDATE people SET score = score + 1, name = 'm', note = '[1]' WHERE id = 'a'")
    try other.commit("UPDATE people SET score = score + 2, name = 'k', note = '[2]' WHERE id = 'a'")
    try HistoryBench.settle([one, other])
    try HistoryBench.expectEqual([one, other])
    #expect(
      try one.rows("SELECT name, score, note FROM people WHERE id = 'a'") == ["'m', 8, '[1,2]'"]
    )
  }

  @Test func threeValuesOfOneCellEndAlikeInEveryOrder() throws {
    var ends: Set<ChangesetID?> = []
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
      let benches = try ["desk", "phone", "pad"].map { try HistoryBench(replica: $0) }
      try benches[0].commit("INSERT INTO people VALUES('a', 'Ada', 0, NULL)")
      for bench in benches.dropFirst() { try bench.sync(from: benches[0]) }
      for (place, bench) in benches.enumerated() {
        try bench.commit("UPDATE people SET score = \(place + 1) WHERE id = 'a'")
      }
      let fresh = try HistoryBench(replica: "new")
      for place in order { try fresh.take(from: benches[place]) }
      try fresh.repository.mergeAll()
      try fresh.repository.pull()
      ends.insert(try fresh.repository.head().id)
      #expect(try fresh.repository.verify().problems == [])
    }
    #expect(ends.count == 1)
  }

  @Test func aHandlerDecidesByRowAndByColumn() throws {
    let (one, other) = try Self.pair()
    let asked = Locked<[RowConflict]>([])
    let options = ChangesetOptions(
      replica: "desk",
      handler: { conflict in
        asked.withLock { $0.append(conflict) }
        return .row(["score": .int64(99)])
      }
    )
    let repository = try ChangesetRepository(one.database, options: options)
    try one.commit("UPDATE people SET score = 1, name = 'desk' WHERE id = 'a'")
    try other.commit("UPDATE people SET score = 2 WHERE id = 'a'")
    try one.take(from: other)
    try repository.mergeAll()
    try repository.pull()
    #expect(try one.rows("SELECT name, score FROM people WHERE id = 'a'") == ["'desk', 99"])
    let conflict = try #require(asked.withLock { $0.first })
    #expect(conflict.columns == ["score"])
    #expect(conflict.base?["score"] == .int64(5))
    #expect(conflict.base?["name"] == .string("Ada"))
    #expect(Set([conflict.ours?["score"], conflict.theirs?["score"]]) == [.int64(1), .int64(2)])
    try other.sync(from: one)
    try HistoryBench.expectEqual([one, other])
  }

  @Test func aQuestionKeepsBothHeadsUntilItIsAnswered() throws {
    let (one, other) = try Self.pair()
    let repository = try ChangesetRepository(
      one.database,
      options: ChangesetOptions(replica: "desk", handler: { _ in .later })
    )
    try one.commit("UPDATE people SET score = 1 WHERE id = 'a'")
    try other.commit("UPDATE people SET score = 2 WHERE id = 'a'")
    try one.take(from: other)
    #expect(try repository.mergeAll() == [])
    #expect(try repository.status().heads.count == 2)
    let question = try #require(try repository.conflicts().first)
    #expect(question.kind == .question)
    // Work goes on meanwhile.
    try one.commit("UPDATE people SET name = 'Eve' WHERE id = 'b'")
    let next = try #require(try repository.conflicts().first?.question)
    try repository.resolve(next, .row(["score": .int64(7)]))
    #expect(try repository.pull() != nil)
    #expect(try one.rows("SELECT score FROM people WHERE id = 'a'") == ["7"])
    #expect(try repository.conflicts().allSatisfy { $0.kind != .question })
    try other.sync(from: one)
    try HistoryBench.expectEqual([one, other])
  }

  @Test func historiesWithoutACommonCommitAreMergedOverTheEmptyDatabase() throws {
    let one = try HistoryBench(replica: "desk")
    let other = try HistoryBench(replica: "phone")
    try one.commit("INSERT INTO people VALUES('a', 'Ada', 1, NULL), ('b', 'Bob', 1, NULL)")
    try other.commit("INSERT INTO people VALUES('a', 'Ada', 1, NULL), ('c', 'Cy', 1, NULL)")
    try HistoryBench.settle([one, other])
    try HistoryBench.expectEqual([one, other])
    #expect(try one.rows("SELECT id FROM people ORDER BY id") == ["'a'", "'b'", "'c'"])
    #expect(try one.repository.conflicts() == [])
  }

  @Test func aBranchThatGoesOnIsMergedAgainOverTheFirstMerge() throws {
    let bench = try HistoryBench()
    let repository = bench.repository
    try bench.commit("INSERT INTO people VALUES('a', 'Ada', 1, NULL), ('b', 'Bob', 1, NULL)")
    try repository.createBranch("idea")
    try bench.commit("UPDATE people SET name = 'main' WHERE id = 'b'")
    try repository.switchBranch("idea")
    try bench.commit("UPDATE people SET score = 2 WHERE id = 'a'")
    try repository.switchBranch("main")
    let first = try repository.merge("idea")
    #expect(first.kind == .merge && first.branch == "main" && first.parents.count == 2)
    try repository.pull()
    #expect(
      try bench.rows("SELECT name, score FROM people ORDER BY id") == ["'Ada', 2", "'main', 1"]
    )
    try bench.commit("UPDATE people SET score = 3 WHERE id = 'a'")
    try repository.switchBranch("idea")
    try bench.commit("UPDATE people SET name = 'idea' WHERE id = 'a'")
    try repository.switchBranch("main")
    try repository.merge("idea")
    try repository.pull()
    #expect(
      try bench.rows("SELECT name, score FROM people ORDER BY id") == ["'idea', 3", "'main', 1"]
    )
    #expect(try repository.merge("idea") == repository.log(LogQuery(count: 1)).first)
    #expect(try repository.verify().problems == [])
    let origins = try repository.blame("people", [.string("a")])
    #expect(origins.map(\.changeset.branch) == ["idea", "main"])
  }

  @Test func revertingTakesOneCommitBackAndLeavesLaterOnes() throws {
    let bench = try HistoryBench()
    try bench.commit("INSERT INTO people VALUES('a', 'Ada', 1, NULL)")
    let wrong = try #require(try bench.commit("UPDATE people SET score = 9, name = 'Oops'"))
    try bench.commit("UPDATE people SET name = 'Eve', note = 'n'")
    let commit = try bench.repository.revert(Revision(wrong.id))
    #expect(commit?.reverts == wrong.id)
    #expect(try bench.rows("SELECT name, score, note FROM people") == ["'Eve', 1, 'n'"])
    #expect(try bench.repository.revert(Revision(wrong.id)) == nil)
    #expect(try bench.repository.verify().problems == [])
  }

  @Test func undoAndRedoTakeBackOwnCommitsOnly() throws {
    let (one, other) = try Self.pair()
    let score = { try one.rows("SELECT score FROM people WHERE id = 'a'").first }
    for number in 1...3 {
      try one.commit("UPDATE people SET score = \(number) WHERE id = 'a'")
      try other.commit("INSERT INTO people(id) VALUES('p\(number)')")
      try one.sync(from: other)
    }
    for expected in ["2", "1", "5"] {
      #expect(try one.repository.undo() != nil)
      #expect(try score() == expected)
    }
    for expected in ["1", "2"] {
      #expect(try one.repository.redo() != nil)
      #expect(try score() == expected)
    }
    #expect(try one.repository.undo() != nil)
    #expect(try score() == "1")
    try one.commit("UPDATE people SET score = 77 WHERE id = 'a'")
    #expect(try one.repository.redo() == nil)
    #expect(try one.rows("SELECT count(*) FROM people") == ["5"])
    try HistoryBench.settle([one, other])
    try HistoryBench.expectEqual([one, other])
  }

  @Test func undoLeavesTheRowsThatWereThereBeforeTheHistory() throws {
    let bench = try HistoryBench(
      "CREATE TABLE people(id TEXT PRIMARY KEY NOT NULL, name TEXT, score INTEGER, note);"
        + "INSERT INTO people(id) VALUES('old')"
    )
    try bench.commit("INSERT INTO people(id) VALUES('new')")

    #expect(try bench.repository.undo() != nil)
    #expect(try bench.repository.undo() == nil)
    #expect(try bench.rows("SELECT id FROM people") == ["'old'"])
  }

  @Test func undoPassesOverCommitsWhoseValuesOthersHaveReplaced() throws {
    let (one, other) = try Self.pair()
    try one.commit("INSERT INTO people(id, score) VALUES('x', 1)")
    try one.commit("UPDATE people SET score = 2 WHERE id = 'a'")
    try other.sync(from: one)
    try other.commit("UPDATE people SET score = 9 WHERE id = 'a'")
    try one.sync(from: other)

    #expect(try one.repository.undo() != nil)
    #expect(try one.rows("SELECT score FROM people WHERE id IN ('a', 'x')") == ["9"])
    #expect(try one.repository.redo() != nil)
    #expect(
      try one.rows("SELECT score FROM people WHERE id IN ('a', 'x') ORDER BY id") == ["9", "1"]
    )
  }

  @Test func whatAMergeLostCanBePutBack() throws {
    let (one, other) = try Self.pair()
    try one.commit("UPDATE people SET score = 1 WHERE id = 'a'")
    other.pass(seconds: 9)
    try other.commit("UPDATE people SET score = 2 WHERE id = 'a'")
    try one.sync(from: other)
    let conflict = try #require(try one.repository.conflicts().first)
    #expect(conflict.kind == .cell)
    #expect(conflict.kept.map(\.value) == [.int64(2)])
    #expect(conflict.lost.map(\.value) == [.int64(1)])
    try one.repository.restoreConflict(conflict)
    #expect(try one.rows("SELECT score FROM people WHERE id = 'a'") == ["1"])
    #expect(try one.repository.conflicts() == [])
  }

  @Test func childrenThatComeBeforeTheirParentsWait() throws {
    let (one, other) = try Self.pair()
    for number in 1...5 { try one.commit("UPDATE people SET score = \(number)0 WHERE id = 'a'") }
    let packs = try one.repository.read { (work) throws(ChangesetError) in
      var packs: [Pack] = []
      for row in try work.log.rows(after: 0, limit: 100) {
        var pack = Pack()
        pack.schemas = [try work.dictionaries.schema(number: row.schema)]
        let body = try work.log.body(seq: row.seq) ?? []
        pack.entries = [Pack.Entry(id: row.id, header: try work.log.header(row: row), body: body)]
        packs.append(pack)
      }
      return packs
    }
    for pack in packs.reversed() {
      try other.repository.write { (work) throws(ChangesetError) in
        _ = try Intake(work: work).take(pack: pack)
      }
    }
    #expect(try other.repository.status().waitingCount == 0)
    try other.repository.pull()
    try HistoryBench.expectEqual([one, other])
  }

  @Test func mergingManyBranchesEndsInOneCommitWhateverTheOrder() throws {
    var ends: Set<ChangesetID?> = []
    let benches = try (0..<12).map { try HistoryBench(replica: "r\($0)") }
    try benches[0].commit("INSERT INTO people VALUES('a', 'Ada', 0, NULL)")
    for (place, bench) in benches.enumerated().dropFirst() {
      try bench.sync(from: benches[0])
      for number in 0..<3 { try bench.commit("UPDATE people SET score = \(place * number)") }
    }
    for order in [Array(0..<12), Array((0..<12).reversed())] {
      let fresh = try HistoryBench(replica: "new")
      for place in order { try fresh.take(from: benches[place]) }
      try fresh.repository.mergeAll()
      try fresh.repository.pull()
      ends.insert(try fresh.repository.head().id)
    }
    #expect(ends.count == 1)
  }
}

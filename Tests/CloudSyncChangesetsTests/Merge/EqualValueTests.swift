import CloudSyncCore
import CloudSyncSQLite
import Testing

@testable import CloudSyncChangesets

/// Of two equal values the later one's time counts, whichever side the merge builds on.
@Suite struct EqualValueTests {
  private static let table = "CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, a, b, c, d)"

  @Test(arguments: [true, false], [true, false])
  func aValueInBetweenLosesInEveryOrder(isEarlierFirst: Bool, isInserted: Bool) throws {
    let bench = try MergeBench(Self.table)
    let base = try isInserted ? nil : bench.commit("INSERT INTO t VALUES('x', 0, 0, 0, 0)", at: 1)
    func side(_ value: Int, isLong: Bool, at time: Int) throws -> ChangesetID {
      let rest = isLong ? 5 : 0
      return try bench.commit(
        isInserted
          ? "INSERT INTO t VALUES('x', \(value), \(isLong ? "5, 5" : "NULL, NULL"), NULL)"
          : "UPDATE t SET a = \(value), b = \(rest), c = \(rest)",
        on: base,
        at: time
      )
    }
    let earlier = try side(1, isLong: isEarlierFirst, at: 10)
    let other = try side(2, isLong: false, at: 15)
    let later = try side(1, isLong: !isEarlierFirst, at: 20)

    let orders = [(earlier, later, other), (earlier, other, later), (later, other, earlier)]
    for (one, two, three) in orders {
      let end = try bench.merge(try bench.merge(one, two), three)
      #expect(try bench.rows("SELECT a FROM t", at: end) == ["1"])
    }
  }

  /// Three replicas insert a row; the first and the last leave a column empty.
  @Test(arguments: [true, false])
  func soDoesAValueBeforeTheLaterOfTwoNulls(isEarlierFirst: Bool) throws {
    let bench = try MergeBench(Self.table)
    func side(_ value: String, isLong: Bool, at time: Int) throws -> ChangesetID {
      let rest = isLong ? "5, 5, 5" : "NULL, NULL, NULL"
      return try bench.commit("INSERT INTO t VALUES('x', \(value), \(rest))", at: time)
    }
    let earlier = try side("NULL", isLong: isEarlierFirst, at: 10)
    let other = try side("2", isLong: false, at: 15)
    let later = try side("NULL", isLong: !isEarlierFirst, at: 20)

    let orders = [(earlier, later, other), (earlier, other, later), (later, other, earlier)]
    for (one, two, three) in orders {
      let end = try bench.merge(try bench.merge(one, two), three)
      #expect(try bench.rows("SELECT a FROM t", at: end) == ["NULL"])
    }
  }

  /// One replica deletes a row, two edit a column each: with the row come both edits, and nothing else counts for one.
  @Test(arguments: [5, 15, 25], [true, false])
  func whatComesBackWithARowGivesWayToEveryEdit(deletion: Int, isLong: Bool) throws {
    let bench = try MergeBench(Self.table)
    let base = try bench.commit(
      "INSERT INTO t VALUES('x', 0, 0, NULL, 0), ('y', 0, 0, 0, 0)",
      at: 1
    )
    let more = isLong ? "; UPDATE t SET a = 9, b = 9, c = 9, d = 9 WHERE id = 'y'" : ""
    let gone = try bench.commit("DELETE FROM t WHERE id = 'x'\(more)", on: base, at: deletion)
    let one = try bench.commit("UPDATE t SET a = 1 WHERE id = 'x'", on: base, at: 20)
    let other = try bench.commit(
      "UPDATE t SET b = 2, c = 3, d = NULL WHERE id = 'x'",
      on: base,
      at: 10
    )

    let orders = [(gone, one, other), (gone, other, one), (one, other, gone)]
    for (first, second, third) in orders {
      let end = try bench.merge(try bench.merge(first, second), third)
      #expect(try bench.rows("SELECT * FROM t WHERE id = 'x'", at: end) == ["'x' 1 2 3 NULL"])
    }
  }

  /// Two commits that have set one value, of which the earlier has set another one too.
  private static func twins() throws -> (
    bench: MergeBench, base: ChangesetID, earlier: ChangesetID, later: ChangesetID
  ) {
    let bench = try MergeBench(table)
    let base = try bench.commit("INSERT INTO t VALUES('x', 0, 0, 0, 0)", at: 1)
    let earlier = try bench.commit("UPDATE t SET a = 1, b = 5", on: base, at: 10)
    return (bench, base, earlier, try bench.commit("UPDATE t SET a = 1", on: base, at: 20))
  }

  @Test func theTimeGoesAlongWithAMergeOntoAnotherLine() throws {
    let (bench, base, earlier, later) = try Self.twins()
    let line = try bench.commit("UPDATE t SET b = 6, c = 6, d = 6", on: earlier, at: 30)
    let other = try bench.commit("UPDATE t SET a = 2", on: base, at: 15)

    let both = try bench.merge(try bench.merge(earlier, later), line)
    let end = try bench.merge(both, other)
    #expect(try bench.rows("SELECT * FROM t", at: end) == ["'x' 1 6 6 6"])
  }

  @Test func aValueThatIsOnlyNewerKeepsNoRowFromADeletion() throws {
    let (bench, _, earlier, later) = try Self.twins()
    let gone = try bench.commit("DELETE FROM t", on: earlier, at: 15)

    let end = try bench.merge(try bench.merge(earlier, later), gone)
    #expect(try bench.rows("SELECT * FROM t", at: end) == [])
    #expect(bench.decisions == [])
  }

  @Test func replicasAgreeAndTheHistoryTellsNothingOfIt() throws {
    let benches = try ["desk", "phone", "third"].map { try HistoryBench(replica: $0) }
    try benches[0].commit("INSERT INTO people(id, score) VALUES('a', 0)")
    try HistoryBench.settle(benches)
    try benches[0].commit("UPDATE people SET score = 1, name = 'x', note = 'y'")
    benches[2].pass(seconds: 60)
    try benches[2].commit("UPDATE people SET score = 2")
    benches[1].pass(seconds: 120)
    try benches[1].commit("UPDATE people SET score = 1")
    try benches[0].sync(from: benches[1])
    let merge = try #require(try benches[0].repository.head().id)
    #expect(try benches[0].repository.show(Revision(merge)).changes == [])
    #expect(try benches[0].repository.undo() != nil)
    #expect(try benches[0].rows("SELECT name FROM people") == ["NULL"])
    #expect(try benches[0].repository.redo() != nil)

    try HistoryBench.settle(benches)
    try HistoryBench.expectEqual(benches)
    #expect(try benches[2].rows("SELECT score FROM people") == ["1"])
    let lost = try benches[2].repository.conflicts().flatMap(\.lost)
    #expect(lost.map(\.value) == [.int64(2)])
  }
}

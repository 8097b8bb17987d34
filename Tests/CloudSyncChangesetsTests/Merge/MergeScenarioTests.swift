import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import Testing

@testable import CloudSyncChangesets

/// Merges of commits without constraints between their rows.
@Suite
struct MergeScenarioTests {
  private static let table =
    "CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, a, b, c); CREATE TABLE n(id INTEGER PRIMARY KEY, v);"
    + "CREATE TABLE lines(id TEXT PRIMARY KEY NOT NULL, n INTEGER REFERENCES n(id));"

  private func bench(
    _ merging: TableMergePolicy = TableMergePolicy(deletes: .editWins)
  ) throws -> MergeBench {
    let bench = try MergeBench(Self.table)
    bench.rules.tables["t"] = .init(merging: merging)
    bench.rules.tables["n"] = .init(sharesKeys: true)
    return bench
  }

  // MARK: 24

  @Test
  func aDeletedRowThatWasEditedComesBackWithAllColumns() throws {
    let bench = try bench()
    let base = try bench.commit("INSERT INTO t VALUES('x', 1, 2, 3)", at: 1)
    let a = try bench.commit("DELETE FROM t", on: base, at: 20)
    let b = try bench.commit("UPDATE t SET b = 9", on: base, at: 10)
    let m = try bench.merge(a, b)
    #expect(try bench.rows("SELECT * FROM t", at: m) == ["'x' 1 9 3"])
    #expect(bench.decisions == ["deletion t 'x': b=9 | "])
  }

  @Test
  func withDeleteWinsTheEditsAreInTheConflict() throws {
    let bench = try bench(TableMergePolicy(deletes: .deleteWins))
    let base = try bench.commit("INSERT INTO t VALUES('x', 1, 2, 3)", at: 1)
    let a = try bench.commit("DELETE FROM t", on: base, at: 10)
    let b = try bench.commit("UPDATE t SET b = 9", on: base, at: 20)
    let m = try bench.merge(a, b)
    #expect(try bench.rows("SELECT * FROM t", at: m) == [])
    #expect(bench.decisions == ["deletion t 'x':  | b=9"])
  }

  @Test
  func twoDeletionsAreNoConflict() throws {
    let bench = try bench()
    let base = try bench.commit("INSERT INTO t VALUES('x', 1, 2, 3)", at: 1)
    let a = try bench.commit("DELETE FROM t", on: base, at: 10)
    let b = try bench.commit("DELETE FROM t", on: base, at: 20)
    let m = try bench.merge(a, b)
    #expect(try bench.rows("SELECT * FROM t", at: m) == [])
    #expect(bench.conflicts == [])
  }

  @Test
  func twoInsertionsUnderOneKeyAreMergedByColumn() throws {
    let bench = try bench()
    let a = try bench.commit("INSERT INTO t VALUES('x', 1, NULL, 3)", at: 10)
    let b = try bench.commit("INSERT INTO t VALUES('x', 1, 2, NULL)", at: 20)
    let m = try bench.merge(a, b)
    #expect(try bench.rows("SELECT * FROM t", at: m) == ["'x' 1 2 NULL"])
    #expect(bench.decisions == ["insertion t 'x': b=2 c=NULL | b=NULL c=3"])
  }

  // MARK: 25

  @Test
  func ofTwoRowsUnderOneIntegerTheNewerStaysWhole() throws {
    let bench = try bench()
    let a = try bench.commit("INSERT INTO n VALUES(1, 'a')", at: 10)
    let b = try bench.commit("INSERT INTO n VALUES(1, 'b')", at: 20)
    let m = try bench.merge(a, b)
    #expect(try bench.rows("SELECT * FROM n", at: m) == ["1 'b'"])
    #expect(bench.decisions == ["insertion n 1 aside: v='b' | v='a'"])
  }

  @Test
  func childrenOfARowUnderASharedIntegerAreNotTheOthers() throws {
    let bench = try bench()
    let a = try bench.commit(
      "INSERT INTO n VALUES(1, 'a'); INSERT INTO lines VALUES('la', 1)",
      at: 10
    )
    let b = try bench.commit(
      "INSERT INTO n VALUES(1, 'b'); INSERT INTO lines VALUES('lb', 1)",
      at: 20
    )
    let m = try bench.merge(a, b)
    #expect(try bench.rows("SELECT * FROM lines ORDER BY id", at: m) == ["'la' NULL", "'lb' 1"])
  }

  @Test
  func equalRowsUnderOneIntegerAreOne() throws {
    let bench = try bench()
    let a = try bench.commit("INSERT INTO n VALUES(1, 'a')", at: 10)
    let b = try bench.commit("INSERT INTO n VALUES(1, 'a')", at: 20)
    let m = try bench.merge(a, b)
    #expect(try bench.rows("SELECT * FROM n", at: m) == ["1 'a'"])
    #expect(bench.conflicts == [])
  }

  // MARK: 26

  @Test
  func anInnerMergeOfUnequalSidesLosesNothing() throws {
    let bench = try bench()
    let base = try bench.commit("INSERT INTO t VALUES('z', 0, 0, 0)", at: 1)
    var a = try bench.commit("INSERT INTO t VALUES('p', 0, 0, 0)", on: base, at: 2)
    let b = try bench.commit("INSERT INTO t VALUES('q', 0, 0, 0)", on: a, at: 3)
    for number in 1...5 {
      a = try bench.commit("UPDATE t SET a = \(number) WHERE id = 'p'", on: a, at: 3 + number)
    }
    let c = try bench.commit("UPDATE t SET c = 7 WHERE id = 'z'", on: base, at: 20)
    let m = try bench.merge(try bench.merge(a, b), c)
    #expect(
      try bench.rows("SELECT * FROM t ORDER BY id", at: m) == [
        "'p' 5 0 0", "'q' 0 0 0", "'z' 0 0 7",
      ]
    )
    #expect(bench.conflicts == [])
  }

  // MARK: 28

  @Test
  func anEditAfterACrissCrossIsTakenForWhatItIs() throws {
    let bench = try bench()
    let base = try bench.commit("INSERT INTO t VALUES('x', 0, 0, 0)", at: 1)
    let a = try bench.commit("UPDATE t SET a = 1, b = 1", on: base, at: 10)
    let b = try bench.commit("UPDATE t SET a = 2, c = 2", on: base, at: 20)
    let a2 = try bench.commit("UPDATE t SET b = 5", on: try bench.merge(a, b), at: 30)
    let other = try bench.commit("UPDATE t SET c = 6", on: b, at: 31)
    let b2 = try bench.merge(a, other)
    let bases = try AncestorSearch.search(bench.memory, one: [a2], other: [b2])
    #expect(Set(bases.best) == [a, b] && bases.hasEditsBeside)
    let m = try bench.merge(a2, b2)
    #expect(try bench.rows("SELECT * FROM t", at: m) == ["'x' 2 5 6"])
    // Over one of both bases a value that both sides have, or have left, would be a change of one side.
    #expect(bench.conflicts == [])
  }

  @Test
  func basesThatDescendFromEachOtherAreNone() throws {
    let bench = try bench()
    let base = try bench.commit("INSERT INTO t VALUES('x', 0, 0, 0)", at: 1)
    let a = try bench.commit("UPDATE t SET a = 1", on: base, at: 10)
    let a2 = try bench.commit("UPDATE t SET a = 2", on: a, at: 11)
    let b = try bench.merge(try bench.commit("UPDATE t SET b = 1", on: base, at: 12), a)
    #expect(try AncestorSearch.search(bench.memory, one: [a2], other: [b]).best == [a])
    #expect(try AncestorSearch.search(bench.memory, one: [a], other: [b]).best == [a])
  }

  // MARK: 29

  @Test
  func columnsAreMergedByTheirPolicies() throws {
    let bench = try bench(
      TableMergePolicy(
        columns: [
          "a": .counter, "b": .setUnion,
          "c": .custom { conflict in
            .string("\(conflict.local.stringValue ?? "")+\(conflict.server.stringValue ?? "")")
          },
        ],
        deletes: .editWins
      )
    )
    let base = try bench.commit("INSERT INTO t VALUES('x', 5, '[1]', 'c')", at: 1)
    let a = try bench.commit("UPDATE t SET a = a + 1, b = '[1,2]', c = 'ours'", on: base, at: 10)
    let b = try bench.commit("UPDATE t SET a = a + 2, b = '[3]', c = 'ours'", on: base, at: 20)
    let m = try bench.merge(a, b)
    #expect(try bench.rows("SELECT a, b, c FROM t", at: m) == ["8 '[2,3]' 'ours'"])
    #expect(bench.conflicts == [])
    let d = try bench.commit("UPDATE t SET c = 'theirs'", on: base, at: 30)
    let n = try bench.merge(a, d)
    let both = a < d ? "'ours+theirs'" : "'theirs+ours'"
    #expect(try bench.rows("SELECT c FROM t", at: n) == [both])
    #expect(
      bench.conflicts.map { Set($0.lost.map(\.value)) } == [[.text("ours"), .text("theirs")]]
    )
  }

  @Test
  func twoEqualAdditionsAreTwo() throws {
    let bench = try bench(TableMergePolicy(columns: ["a": .counter], deletes: .editWins))
    let base = try bench.commit("INSERT INTO t VALUES('x', 5, 0, 0)", at: 1)
    let a = try bench.commit("UPDATE t SET a = a + 1", on: base, at: 10)
    let b = try bench.commit("UPDATE t SET a = a + 1", on: base, at: 20)
    #expect(try bench.rows("SELECT a FROM t", at: try bench.merge(a, b)) == ["7"])
  }

  @Test
  func aCounterOverACrissCrossCountsEachAdditionOnce() throws {
    let bench = try bench(TableMergePolicy(columns: ["a": .counter], deletes: .editWins))
    let base = try bench.commit("INSERT INTO t VALUES('x', 5, 0, 0)", at: 1)
    let a = try bench.commit("UPDATE t SET a = a + 1", on: base, at: 10)
    let b = try bench.commit("UPDATE t SET a = a + 2", on: base, at: 20)
    let a2 = try bench.commit("UPDATE t SET a = a + 10", on: try bench.merge(a, b), at: 30)
    let b2 = try bench.commit("UPDATE t SET a = a + 20", on: b, at: 31)
    let m = try bench.merge(a2, try bench.merge(a, b2))
    #expect(try bench.rows("SELECT a FROM t", at: m) == ["38"])
  }

  // MARK: 30

  @Test
  func aHandlerMayDeleteARow() throws {
    let bench = try bench()
    bench.handler = { row throws(ChangesetError) in
      row.key == RowKey([.text("x")]) ? .delete : .automatic
    }
    let base = try bench.commit("INSERT INTO t VALUES('x', 1, 2, 3), ('y', 1, 2, 3)", at: 1)
    let a = try bench.commit("UPDATE t SET a = 5", on: base, at: 10)
    let b = try bench.commit("UPDATE t SET a = 6, b = 7", on: base, at: 20)
    let m = try bench.merge(a, b)
    #expect(try bench.rows("SELECT * FROM t", at: m) == ["'y' 6 7 3"])
    #expect(
      bench.decisions == ["cell t 'x':  | a=5 a=6 b=7", "cell t 'y': a=6 | a=5"].sorted()
        || bench.decisions.count == 2
    )
  }

  @Test
  func aHandlerSeesWholeRowsAndBothCommits() throws {
    let bench = try bench()
    let seen = Locked<[ContestedRow]>([])
    bench.handler = { row throws(ChangesetError) in
      seen.withLock { $0.append(row) }
      return .values([CellValue("a", .integer(100)), CellValue("c", .text("own"))])
    }
    let base = try bench.commit("INSERT INTO t VALUES('x', 1, 2, 3)", at: 1)
    let a = try bench.commit("UPDATE t SET a = 5", on: base, at: 10)
    let b = try bench.commit("UPDATE t SET a = 6, b = 7", on: base, at: 20)
    let m = try bench.merge(a, b)
    #expect(try bench.rows("SELECT * FROM t", at: m) == ["'x' 100 7 'own'"])
    let row = try #require(seen.withLock { $0.first })
    #expect(row.columns == ["a"] && row.kind == .cell)
    #expect(
      row.base == [
        CellValue("a", .integer(1)), CellValue("b", .integer(2)), CellValue("c", .integer(3)),
      ]
    )
    #expect(Set([row.oursID, row.theirsID]) == [a, b] && row.oursID < row.theirsID)
    let mine = row.oursID == a ? row.ours : row.theirs
    #expect(mine?.value(of: "a") == .integer(5) && mine?.value(of: "b") == .integer(2))
  }

  @Test
  func aRowWithAnAnswerOfLaterKeepsTheMergeOpen() throws {
    let bench = try bench()
    bench.handler = { _ throws(ChangesetError) in .later }
    let base = try bench.commit("INSERT INTO t VALUES('x', 1, 2, 3)", at: 1)
    let a = try bench.commit("UPDATE t SET a = 5", on: base, at: 10)
    let b = try bench.commit("UPDATE t SET a = 6", on: base, at: 20)
    let plan = try MergeWork(bench.memory, handler: bench.handler).plan(a, b)
    #expect(plan.questions.map(\.key) == [RowKey([.text("x")])])
  }

  // MARK: 32

  @Test
  func causalOrderHoldsWhateverTheClocksSay() throws {
    let bench = try bench()
    let base = try bench.commit("INSERT INTO t VALUES('x', 1, 2, 3)", at: 1)
    // A is a day ahead. Whoever has seen its edit is later.
    let a = try bench.commit("UPDATE t SET a = 5", on: base, at: 90_000)
    let b = try bench.commit("UPDATE t SET a = 6", on: a, at: 90_001)
    let c = try bench.commit("UPDATE t SET b = 7", on: base, at: 10)
    let m = try bench.merge(b, c)
    #expect(try bench.rows("SELECT * FROM t", at: m) == ["'x' 6 7 3"])
    #expect(bench.conflicts == [])
  }

  // MARK: 33

  @Test
  func historiesWithoutACommonCommitAreMergedOverNothing() throws {
    let bench = try bench()
    let a = try bench.commit("INSERT INTO t VALUES('x', 1, 2, 3), ('y', 1, 1, 1)", at: 10)
    let b = try bench.commit(
      "INSERT INTO t VALUES('x', 1, 2, 3), ('y', 1, 2, 1), ('z', 9, 9, 9)",
      at: 20
    )
    let m = try bench.merge(a, b)
    #expect(
      try bench.rows("SELECT * FROM t ORDER BY id", at: m) == [
        "'x' 1 2 3", "'y' 1 2 1", "'z' 9 9 9",
      ]
    )
    #expect(bench.decisions == ["insertion t 'y': b=2 | b=1"])
  }

  // MARK: 34

  @Test
  func manyBranchesEndInOneCommitWhateverCameFirst() throws {
    let bench = try bench()
    let base = try bench.commit("INSERT INTO t VALUES('x', 0, 0, 0)", at: 1)
    var heads: [ChangesetID] = []
    for branch in 0..<40 {
      var head = base
      for step in 0..<3 {
        let key = RowKey([.text("\(branch) \(step)")])
        let time = HybridTime(rawValue: Int64(2 + step))
        let cell = CellDelta("a", old: .null, new: .integer(Int64(step)), time: time)
        let row = RowDelta(.insert, key, cells: [cell], time: time)
        head = try bench.memory.edit(head, time: 2 + step, [TableDelta("t", rows: [row])])
      }
      heads.append(head)
    }
    var ends: Set<ChangesetID> = []
    for order in [heads, heads.reversed(), heads.sorted()] {
      let work = MergeWork(bench.memory)
      var queue = MergeQueue()
      for head in order {
        queue.add(head, generation: try bench.memory.header(of: head).generation)
      }
      var last = base
      while let (one, other) = queue.next() {
        last = try bench.memory.merge(try work.plan(one, other))
        queue.add(last, generation: try bench.memory.header(of: last).generation)
      }
      ends.insert(last)
    }
    #expect(ends.count == 1)
    for end in ends { #expect(try bench.rows("SELECT count(*) FROM t", at: end) == ["121"]) }
  }

  // MARK: 35

  @Test
  func aBranchThatGoesOnIsMergedOverTheFirstMerge() throws {
    let bench = try bench()
    let base = try bench.commit("INSERT INTO t VALUES('x', 0, 0, 0)", at: 1)
    let main = try bench.commit("UPDATE t SET a = 1", on: base, at: 10)
    let idea = try bench.commit("UPDATE t SET a = 2", on: base, at: 20)
    let first = try bench.merge(main, idea)
    let idea2 = try bench.commit("UPDATE t SET b = 3", on: idea, at: 30)
    let main2 = try bench.commit("UPDATE t SET a = 4", on: first, at: 31)
    let m = try bench.merge(main2, idea2)
    #expect(try AncestorSearch.search(bench.memory, one: [main2], other: [idea2]).best == [idea])
    #expect(try bench.rows("SELECT * FROM t", at: m) == ["'x' 4 3 0"])
    #expect(bench.conflicts == [])
  }

  @Test
  func aCommitIsTakenBackAgainstWhatCameAfter() throws {
    let bench = try bench()
    let base = try bench.commit("INSERT INTO t VALUES('x', 0, 0, 0)", at: 1)
    let wrong = try bench.commit("UPDATE t SET a = 9, b = 9", on: base, at: 10)
    let head = try bench.commit("UPDATE t SET b = 5", on: wrong, at: 20)
    let plan = try MergeWork(bench.memory).plan(over: [wrong], ours: head, theirs: base)
    #expect(plan.changes.tables.flatMap(\.rows).flatMap(\.cells).map(\.new) == [.integer(0)])
    #expect(plan.changes.tables.flatMap(\.rows).flatMap(\.cells).map(\.column) == ["a"])
  }
}

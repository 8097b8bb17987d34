import CloudSyncCore
import CloudSyncTestSupport
import Testing

@testable import CloudSyncSQLite

@Suite("The join of two versions of a record")
struct RecordJoinTests {
  /// Versions of all lives, columns, shares and groups that a few times allow.
  private func versions(
    _ deletes: DeletePolicy,
    seed: UInt64,
    areMoved: Bool = false
  ) -> [RecordVersion] {
    var generator = Model.Generator(seed: seed)
    return (0..<12)
      .map { _ in
        var clock = RecordClock()
        // Who makes a row again knows of the deletion before it. Of two rows made without knowing of each
        // other the join is one, and whether a deletion ends both depends on when it meets them.
        let isSecond = generator.chance(40)
        // Of what was there before anybody captured it the cloud's stays: the laws are those of edits.
        let first = RecordClock.filling.rawValue + 1
        clock.created = HybridTime(rawValue: isSecond ? first + 2 : first)
        clock.deleted = HybridTime(rawValue: isSecond ? first + 1 : 0)
        clock.ended = HybridTime(rawValue: isSecond ? first : 0)
        let time = { HybridTime(rawValue: clock.created.rawValue + Int64(generator.below(3))) }
        var columns: [VersionedColumn] = []
        for name in ["a", "b", "c"] {
          let set = time()
          // What is set at one time by one device is one value; of several devices there may be two.
          let value = FieldValue.int64(set.rawValue * 2 + Int64(generator.below(2)))
          columns.append(VersionedColumn(name: name, value: value, time: set))
        }
        for writer in Int64(1)...2 where generator.chance(60) {
          let added = time()
          clock.shares.append(
            CounterShare(column: "n", writer: writer, time: added, sum: .whole(added.rawValue))
          )
        }
        var version = RecordVersion(clock: clock, columns: columns)
        if areMoved { note(movesOf: &version, isSecond: isSecond, &generator) }
        let end = HybridTime(rawValue: first + (isSecond ? 3 : 1))
        if generator.chance(30) { version.end(at: max(version.deleted, end), deletes: deletes) }
        return version
      }
  }

  /// Has lives go on as other records; who makes a row again knows of that.
  private func note(
    movesOf version: inout RecordVersion,
    isSecond: Bool,
    _ generator: inout Model.Generator
  ) {
    let time = { HybridTime(rawValue: $0 + RecordClock.filling.rawValue) }
    let first = RowMove(
      row: RowOrigin(name: "1", created: .zero),
      isOfInserted: true,
      since: .zero,
      first: .zero,
      life: time(1),
      time: time(2),
      arrival: time(5),
      name: "first"
    )
    if isSecond { version.note(moves: [first]) }
    guard generator.chance(30) else { return }
    let last = RowMove(
      row: RowOrigin(name: "1", created: .zero),
      isOfInserted: true,
      since: time(1),
      first: .zero,
      life: time(3),
      time: time(4),
      arrival: time(6),
      name: generator.chance(50) ? "second" : "third"
    )
    version.note(moves: [isSecond ? last : first])
  }

  @Test(
    "It is commutative, associative and idempotent, with changed keys and without",
    arguments: DeletePolicy.allCases,
    [false, true]
  )
  func laws(deletes: DeletePolicy, areMoved: Bool) {
    let join = RecordJoin(deletes: deletes, groups: [["a", "b"]])
    let seeds = areMoved ? SuiteSize.count(1, long: 4) : SuiteSize.count(1, long: 10)
    for seed in 1...UInt64(seeds) {
      let versions = versions(deletes, seed: seed, areMoved: areMoved)
      for one in versions {
        #expect(join.join(one, with: one) == one)
        for other in versions {
          let both = join.join(one, with: other)
          #expect(both == join.join(other, with: one))
          #expect(join.join(both, with: one) == both)
          for third in versions.prefix(6) {
            let left = join.join(both, with: third)
            let right = join.join(one, with: join.join(other, with: third))
            #expect(left == right)
          }
        }
      }
    }
  }

  @Test("What engines tell of one move is the same in the end, in whatever order they hear of it")
  func toldMoves() {
    var random = RandomClocks(seed: 11)
    for _ in 0..<SuiteSize.count(200, long: 2_000) {
      let named = random.moves()[0]
      // Who has not heard of a former life takes the row for another one, and its life for another kind.
      let told = (0..<3)
        .map { _ in
          var move = random.moves()[0]
          (move.life, move.time, move.name) = (named.life, named.time, named.name)
          return move
        }
      let known = [[0, 1, 2], [2, 1, 0], [1, 0, 2], [0, 2, 0, 1]]
        .map { order in
          var clock = RecordClock()
          clock.note(moves: order.map { told[$0] })
          return clock.moves
        }
      #expect(Set(known).count == 1)
      #expect(known[0].count == 1)
    }
  }

  @Test(
    "A default gives way to what fills its column, both to an edit; of two of a kind the cloud's stays"
  )
  func found() {
    let times: [HybridTime] = [.zero, RecordClock.filling, HybridTime(rawValue: 9)]
    let join = RecordJoin(deletes: .deleteWins)
    let version = { (value: Int64, time: HybridTime) in
      var clock = RecordClock()
      clock.created = RecordClock.foundCreation
      let column = VersionedColumn(name: "a", value: .int64(value), time: time)
      return RecordVersion(clock: clock, columns: [column])
    }
    for mine in times {
      for theirs in times {
        // The larger value is the one here, so that the bytes do not decide for the cloud.
        let joined = join.join(version(2, mine), with: version(1, theirs))
        let isEdit = mine == theirs && mine > RecordClock.filling
        #expect(joined.values == [.int64(mine > theirs || isEdit ? 2 : 1)], "\(mine), \(theirs)")
      }
    }
  }

  @Test("Columns of one group come from one side, whose edit is the last one")
  func groups() {
    let version = { (first: Int64, second: Int64, value: Int64) in
      var clock = RecordClock()
      clock.created = HybridTime(rawValue: 1)
      return RecordVersion(
        clock: clock,
        columns: [
          VersionedColumn(name: "a", value: .int64(value), time: HybridTime(rawValue: first)),
          VersionedColumn(name: "b", value: .int64(value), time: HybridTime(rawValue: second)),
        ]
      )
    }
    let (mine, theirs) = (version(5, 2, 1), version(3, 4, 2))
    let alone = RecordJoin(deletes: .deleteWins).join(mine, with: theirs)
    #expect(alone.values == [.int64(1), .int64(2)])
    let together = RecordJoin(deletes: .deleteWins, groups: [["a", "b"]]).join(mine, with: theirs)
    #expect(together == mine)
  }

  @Test("Sums of shares do not depend on their order, and stop at the ends of their range")
  func sums() {
    #expect(CounterSum.total(of: [.whole(.max), .whole(5), .whole(-9)]) == .whole(.max - 4))
    #expect(CounterSum.total(of: [.whole(.max), .whole(1)]) == .whole(.max))
    #expect(CounterSum.total(of: [.whole(.min), .whole(-1)]) == .whole(.min))
    #expect(CounterSum.total(of: [.whole(2), .real(0.5)]) == .real(2.5))
    #expect(CounterSum.whole(.min) - .whole(1) == .whole(.min))
    #expect(CounterSum.whole(1) - .whole(.min) == .whole(.max))
    #expect(CounterSum.whole(.min).adding(from: .whole(.min), to: .whole(5)) == .whole(5))
    #expect(CounterSum.whole(-1).adding(from: .whole(-1), to: .whole(.max)) == .whole(.max))
    #expect(CounterSum.whole(1).adding(from: .real(0.5), to: .whole(2)) == .real(2.5))
    #expect(CounterSum.real(1e308) - .real(-1e308) == .real(.greatestFiniteMagnitude))
    #expect(CounterSum.opposite(of: []) == .zero)
    #expect(CounterSum.opposite(of: [.whole(.max), .whole(1), .whole(-9)]) == .whole(-.max + 8))
    #expect(CounterSum.opposite(of: [.whole(.min)]) == .real(0x1p63))
    #expect(CounterSum.opposite(of: [.whole(1), .real(0.5)]) == .real(-1.5))
    #expect(
      CounterSum.total(of: [.real(-1e308), .real(-1e308)]) == .real(-.greatestFiniteMagnitude)
    )
    #expect(CounterSum(.null) == nil)
    #expect(CounterSum(.double(.infinity)) == nil)
  }

  @Test(
    "A counter that becomes NULL when rows are united takes back what a deleted row of that key had"
  )
  func unitedCounter() throws {
    var policy = TableMergePolicy(deletes: .editWins)
    policy.columns["n"] = .counter
    let rules = RowRules(writer: 1, policy: policy)
    let time = { (number: Int64) in HybridTime(rawValue: RecordClock.filling.rawValue + number) }
    var version = RecordVersion()
    version.created = time(1)
    version.set(CounterShare(column: "n", writer: 2, time: time(9), sum: .whole(5)))
    version.end(at: time(10), deletes: .editWins)
    var state = RecordState()
    _ = state.reduce(.has(tag: "1", version), rules: rules)
    let column = VersionedColumn(name: "n", value: .null, time: time(3))
    _ = state.reduce(.edited(.settled([column], created: time(20))), rules: rules)

    let row = try #require(state.row)
    #expect(row.value(of: "n") == .null)
    // So has everybody who reads the record.
    #expect(RecordVersion(clock: row.clock, columns: row.columns).value(of: "n") == .null)
  }
}

import CloudSyncCore
import Testing

@testable import CloudSyncSQLite

@Suite("Edits that the engine makes by itself")
struct RestorationTests {
  private func rules(_ policy: MergePolicy, _ deletes: DeletePolicy = .deleteWins) -> RowRules {
    RowRules(writer: 1, policy: TableMergePolicy(columns: ["n": policy], deletes: deletes))
  }

  private func time(_ number: Int64) -> HybridTime { HybridTime(rawValue: number) }

  /// A row that was clean, and that the cloud says is deleted.
  private func deleted(_ rules: RowRules, writer: Int64 = 2) -> RecordState {
    var clock = RecordClock()
    clock.created = time(1)
    if rules.isCounter("n") {
      clock.shares = [CounterShare(column: "n", writer: writer, time: time(2), sum: .whole(5))]
    }
    var columns = [VersionedColumn(name: "new", value: .string("more"), time: time(2))]
    if !rules.isCounter("n") {
      columns.append(VersionedColumn(name: "n", value: .int64(5), time: time(3)))
    }
    let row = RecordVersion(clock: clock, columns: columns)
    var tombstone = row
    tombstone.end(at: time(4), deletes: rules.deletes)
    var state = RecordState()
    _ = state.reduce(.has(tag: "1", row), rules: rules)
    _ = state.reduce(.has(tag: "2", tombstone), rules: rules)
    _ = state.reduce(.placed(.deletionDeferred), rules: rules)
    return state
  }

  private func restored(_ number: Int64) -> RecordEvent {
    .edited(.restored([ColumnEdit(name: "n", value: .int64(number))]))
  }

  @Test(
    "A row that is restored lives just after its deletion, with what its table has, and what that cannot have"
  )
  func restoration() {
    let rules = rules(.newest)
    var state = deleted(rules)
    #expect(state.isDeleted && !state.isDirty)

    _ = state.reduce(restored(7), rules: rules)

    #expect(!state.isDeleted && state.isDirty && state.placement == .inTable)
    #expect(state.row?.created == time(5))
    #expect(state.row?["n"] == VersionedColumn(name: "n", value: .int64(7), time: time(5)))
    #expect(state.row?.value(of: "new") == .string("more"))
    #expect(state.former == nil && state.brokenInvariant(rules) == nil)
    let once = state
    _ = state.reduce(restored(8), rules: rules)
    #expect(state == once)
  }

  @Test("Two devices that restore a counter count what it held once")
  func counter() {
    let rules = rules(.counter)
    var one = deleted(rules)
    var other = deleted(rules)
    _ = one.reduce(restored(5), rules: rules)
    var others = rules
    others.writer = 3
    _ = other.reduce(restored(5), rules: others)
    let edit = ColumnEdit(name: "n", value: .int64(6), former: .int64(5))
    _ = other.reduce(.edited(.updated([edit], at: time(9))), rules: others)

    if let row = other.row { _ = one.reduce(.has(tag: "3", row), rules: rules) }

    #expect(one.row?.value(of: "n") == .int64(6))
    #expect(one.row?.clock.share(of: "n", by: CounterShare.found)?.time == time(5))
  }

  @Test("Where edits win a row that is restored has the columns that its tombstone has kept")
  func editWins() {
    let rules = rules(.newest, .editWins)
    var state = deleted(rules)
    #expect(state.isDeleted)

    _ = state.reduce(restored(7), rules: rules)

    #expect(!state.isDeleted)
    #expect(state.row?["n"] == VersionedColumn(name: "n", value: .int64(5), time: time(3)))
    #expect(state.brokenInvariant(rules) == nil)
  }

  @Test("A deletion of the engine's own ends the life that was known, and no later one")
  func deletion() {
    let rules = rules(.newest)
    var state = deleted(rules)
    _ = state.reduce(restored(7), rules: rules)
    let living = state.row
    _ = state.reduce(.edited(.deleted([], at: .zero)), rules: rules)
    #expect(state.isDeleted && state.row?.deleted == time(5))

    var later = living ?? RecordVersion()
    later.created = time(6)
    _ = state.reduce(.has(tag: "3", later), rules: rules)
    #expect(!state.isDeleted)
  }

  @Test("A tombstone tells as which record the row goes on, whichever side has it")
  func successor() {
    let rules = rules(.newest)
    var state = RecordState()
    _ = state.reduce(
      .edited(.inserted([ColumnEdit(name: "n", value: .int64(1))], at: time(1))),
      rules: rules
    )
    var row = state.row ?? RecordVersion()
    let move = RowMove(
      row: RowOrigin(name: "1", created: .zero),
      isOfInserted: true,
      since: .zero,
      first: .zero,
      life: time(1),
      time: time(2),
      arrival: time(3),
      name: "b:rows"
    )
    _ = state.reduce(.edited(.renamed([move])), rules: rules)
    _ = state.reduce(.edited(.deleted([], at: time(2))), rules: rules)

    // Another device has edited the row meanwhile: what it has made of it is handed on.
    row.set(VersionedColumn(name: "n", value: .int64(2), time: time(4)))
    let actions = state.reduce(.conflict(tag: "1", over: nil, row, now: 0), rules: rules)

    #expect(state.isDeleted && state.row?.successor == "b:rows")
    let hand = HandOver(move: move, version: row.handed(by: move), base: [], isOfCloud: true)
    #expect(actions == [.handOver(hand)])
    #expect(hand.version["n"]?.value == .int64(2) && hand.version.created == time(3))
    #expect(state.brokenInvariant(rules) == nil)
  }

  /// Both are as old, since nobody has edited the column: but the cloud's is of the row that has ended.
  @Test("A column that is completed differs from the cloud's of a former row of the key")
  func completedAfterFormerLife() {
    let rules = rules(.newest)
    let former = RecordVersion(
      clock: RecordClock(created: time(2)),
      columns: [
        VersionedColumn(name: "n", value: .int64(5), time: time(2)),
        VersionedColumn(name: "new", value: .null, time: .zero),
      ]
    )
    var state = RecordState()
    _ = state.reduce(.has(tag: "1", former), rules: rules)
    _ = state.reduce(.edited(.deleted([], at: time(4))), rules: rules)
    let column = ColumnEdit(name: "n", value: .int64(6))
    _ = state.reduce(.edited(.inserted([column], at: time(6))), rules: rules)
    let own = VersionedColumn(name: "new", value: .string("own"), time: .zero)
    _ = state.reduce(.completed([own]), rules: rules)

    #expect(state.row?["new"] == own)
    #expect(state.known.map { state.row?.differs(from: $0, in: "new") } == true)
    #expect(state.brokenInvariant(rules) == nil)
    _ = state.reduce(.edited(.deleted([], at: time(8))), rules: rules)
    #expect(state.brokenInvariant(rules) == nil)
  }

  /// Devices that do not know of each other may give two edits one time.
  @Test("A column of a row that comes to a key is sent, also if the former row's is as old")
  func arrivalOfEqualAge() {
    let rules = rules(.newest)
    let version = { (value: Int64) in
      let column = VersionedColumn(name: "n", value: .int64(value), time: self.time(9))
      return RecordVersion(clock: RecordClock(created: self.time(2)), columns: [column])
    }
    var state = RecordState()
    _ = state.reduce(.has(tag: "1", version(1)), rules: rules)
    let move = RowMove(
      row: RowOrigin(name: "1", created: .zero),
      isOfInserted: true,
      since: .zero,
      first: .zero,
      life: time(2),
      time: time(10),
      arrival: time(11),
      name: "b:rows"
    )
    _ = state.reduce(.edited(.renamed([move])), rules: rules)
    let origin = MovedRow(
      row: RowOrigin(name: "1", created: .zero),
      version: version(5),
      initial: .zero,
      key: []
    )
    let column = ColumnEdit(name: "n", value: .int64(5))
    _ = state.reduce(.edited(.moved([column], from: origin, at: time(12))), rules: rules)

    #expect(state.row?["n"]?.time == time(9))
    #expect(state.known.map { state.row?.differs(from: $0, in: "n") } == true)
    #expect(state.brokenInvariant(rules) == nil)
  }
}

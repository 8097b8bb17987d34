import CloudSyncCore
import CloudSyncTestSupport
import Testing

@testable import CloudSyncSQLite

/// Every state that the record of a row can reach whose key is changed here, elsewhere, or on both sides.
@Suite("All states of rows whose keys are changed, and all events in each")
struct MoveEnumerationTests {
  @Test(
    "No edit is lost with a life that goes on, and no move",
    arguments: SuiteSize.some(1, of: [DeletePolicy.editWins, .deleteWins])
  )
  func everyPair(deletes: DeletePolicy) {
    let world = MovingWorld(deletes: deletes)
    var seen: Set<RecordState> = [RecordState()]
    var open = [RecordState()]
    while let state = open.popLast() {
      for event in world.events(in: state) {
        var next = state
        let actions = next.reduce(event, rules: world.rules)
        if let wrong = world.fault(of: state, event, next, actions) {
          Issue.record("\(wrong)\nevent \(event)\nin \(state)\ngives \(next) and \(actions)")
          return
        }
        next.former = nil
        if seen.insert(next).inserted { open.append(next) }
      }
    }
    #expect(seen.count > 80, "only \(seen.count) states were reached")
  }
}

private struct MovingWorld {
  let deletes: DeletePolicy

  var rules: RowRules { RowRules(writer: 1, policy: TableMergePolicy(deletes: deletes)) }

  private static func time(_ number: Int64) -> HybridTime { HybridTime(rawValue: number) }

  /// The first life goes on as another record, or as a third one, which counts.
  private static let moves = [
    RowMove(
      row: RowOrigin(name: "1", created: .zero),
      isOfInserted: true,
      since: .zero,
      first: .zero,
      life: time(1),
      time: time(3),
      arrival: time(4),
      name: "other"
    ),
    RowMove(
      row: RowOrigin(name: "1", created: .zero),
      isOfInserted: true,
      since: .zero,
      first: .zero,
      life: time(1),
      time: time(4),
      arrival: time(5),
      name: "third"
    ),
  ]

  /// What others may have sent: the first life with an edit or without, and what its end has left of it.
  private var versions: [RecordVersion] {
    let lives = [Int64(1), 2].map { Self.version(created: 1, deleted: 0, set: $0) }
    let tombstones = [[Self.moves[0]], [Self.moves[1]], Self.moves]
      .map { moves in
        var version = lives[0]
        version.note(moves: moves)
        return version
      }
    // Another row has the key since.
    var next = Self.version(created: 6, deleted: 3, ended: 1, set: 6)
    next.note(moves: [Self.moves[0]])
    return lives + tombstones + [next]
  }

  private static func version(
    created: Int64,
    deleted: Int64,
    ended: Int64 = 0,
    set: Int64
  ) -> RecordVersion {
    var clock = RecordClock()
    clock.created = time(created)
    clock.deleted = time(deleted)
    clock.ended = time(ended)
    let column = VersionedColumn(name: "c", value: .int64(set), time: time(set))
    return RecordVersion(clock: clock, columns: [column])
  }

  func events(in state: RecordState) -> [RecordEvent] {
    var events: [RecordEvent] = [.vanished, .zoneReplaced]
    for (number, version) in versions.enumerated() {
      events.append(.has(tag: "\(number)", version))
      // Conflicts are counted, which would never end.
      if state.conflicts == 0 {
        events.append(.conflict(tag: "\(number)", over: state.known?.tag, version, now: 0))
      }
    }
    if let row = state.row {
      let tag = state.known?.tag == "own" ? "own again" : "own"
      events.append(.saved(tag: tag, over: state.known?.tag, row))
      // The row was another record before, and gets its edits late.
      let hand = Self.version(created: row.created.rawValue, deleted: 0, set: 2)
      events.append(
        .edited(.handed(HandOver(move: Self.moves[0], version: hand, base: [], isOfCloud: false)))
      )
    }
    let isThere = !state.isDeleted
    if isThere { events.append(.edited(.renamed([Self.moves[0]]))) }
    // In a world of few times there is one edit, later than all that the first life has.
    let edit = ColumnEdit(name: "c", value: .int64(7))
    if isThere, (state.row?["c"]?.time ?? .zero) < Self.time(3) {
      events.append(.edited(.updated([edit], at: Self.time(3))))
    }
    if state.row == nil {
      events.append(.edited(.inserted([edit], at: Self.time(1))))
      let origin = MovedRow(
        row: RowOrigin(name: "0", created: .zero),
        version: versions[1],
        initial: .zero,
        key: []
      )
      events.append(.edited(.moved([edit], from: origin, at: Self.time(1))))
    }
    return events
  }

  func fault(
    of state: RecordState,
    _ event: RecordEvent,
    _ next: RecordState,
    _ actions: [RecordAction]
  ) -> String? {
    if let broken = next.brokenInvariant(rules) { return broken }
    if let row = next.row, let former = state.row {
      let isKept = former.clock.moves.allSatisfy { move in
        row.clock.moves.contains { $0.time == move.time && $0.name == move.name }
      }
      if !isKept { return "a move is forgotten" }
    }
    switch event {
    case .has(let tag, let version), .conflict(let tag, _, let version, _):
      if case .conflict = event, state.row == nil { return nil }
      let isNews = state.known?.tag != tag
      if isNews, let lost = lostEdit(of: state, beside: version, next, actions) { return lost }
      var again = next
      let repeated = again.reduce(.has(tag: tag, version), rules: rules)
      return again == next && repeated.isEmpty ? nil : "the second time it does more: \(repeated)"
    case .edited(.handed(let hand)):
      var again = next
      _ = again.reduce(event, rules: rules)
      if again != next { return "what is handed over twice does more" }
      guard let life = state.row?.clock.move(of: hand.version.clock) else { return nil }
      return actions.contains { $0.isHandOver(to: life.name, of: hand.version["c"]) }
        ? nil : "what is handed to a life that has gone on stays behind"
    default: return nil
    }
  }

  /// What this device has not sent, and what the cloud had, goes along with the life that it was made of.
  private func lostEdit(
    of state: RecordState,
    beside version: RecordVersion,
    _ next: RecordState,
    _ actions: [RecordAction]
  ) -> String? {
    guard let clock = next.row?.clock else { return nil }
    if let row = state.row, state.isDirty, !state.isDeleted,
      let move = clock.move(of: row.clock),
      !actions.contains(where: { $0.isHandOver(to: move.name, of: row["c"]) })
    {
      return "an edit of this device is lost"
    }
    if state.row != nil, !version.clock.isDeleted,
      let move = clock.move(of: version.clock),
      !actions.contains(where: { $0.isHandOver(to: move.name, of: version["c"]) })
    {
      return "what the cloud had is lost"
    }
    return nil
  }
}

extension RecordAction {
  fileprivate func isHandOver(to name: String, of column: VersionedColumn?) -> Bool {
    guard case .handOver(let hand) = self else { return false }
    return hand.move.name == name && hand.version["c"] == column
  }
}

import CloudSyncCore
import CloudSyncTestSupport
import Testing

@testable import CloudSyncSQLite

/// Every state that a row can reach in a small world, and every event in it.
@Suite("All states of the row's machine, and all events in each")
struct RecordStateEnumerationTests {
  @Test(
    "Every event leaves a state that can be, and asks for a write if the row changes",
    arguments: SuiteSize.some(2, of: SmallWorld.all)
  )
  func everyPair(world: SmallWorld) {
    var seen: Set<RecordState> = [RecordState()]
    var open = [RecordState()]
    var pairs = 0
    // The long run has no state left out.
    while pairs < SuiteSize.count(12_000, long: .max), let state = open.popLast() {
      for event in world.events(in: state) {
        var next = state
        let actions = next.reduce(event, rules: world.rules)
        pairs += 1
        if let wrong = world.fault(of: state, event, next, actions) {
          Issue.record("\(wrong)\nevent \(event)\nin \(state)\ngives \(next) and \(actions)")
          return
        }
        // It is of matter to a restoration alone.
        next.former = nil
        // The other number is another world's.
        if !actions.contains(.renumber), seen.insert(next).inserted { open.append(next) }
      }
    }
    #expect(seen.count > 400, "only \(seen.count) states were reached")
    #expect(pairs > 4_000)
  }
}

/// Few columns, times, tags and versions, so that all that can be is reached.
struct SmallWorld: Sendable, CustomTestStringConvertible {
  var deletes: DeletePolicy
  var policy: MergePolicy
  var testDescription: String
  /// Whether SQLite may refuse the row, which is the same for all policies.
  var isRefused = false

  static let all = [
    SmallWorld(
      deletes: .deleteWins,
      policy: .newest,
      testDescription: "deletions win",
      isRefused: true
    ),
    SmallWorld(deletes: .deleteWins, policy: .server, testDescription: "the server's value stays"),
    SmallWorld(deletes: .editWins, policy: .newest, testDescription: "edits win"),
    SmallWorld(deletes: .deleteWins, policy: .counter, testDescription: "a counter"),
  ]

  static let lastTime: Int64 = 2

  var rules: RowRules {
    let policy = TableMergePolicy(columns: ["c": policy], deletes: deletes)
    var rules = RowRules(writer: 1, policy: policy)
    rules.conflictBudget = 0
    return rules
  }

  // MARK: Events

  func events(in state: RecordState) -> [RecordEvent] {
    var events: [RecordEvent] = [
      .missing(tag: "none", now: 0), .retried, .vanished, .absent(over: state.known?.tag),
      .absent(over: "former"), .fetchEnded, .zoneReplaced, .purging,
      .completed([VersionedColumn(name: "d", value: .int64(0), time: .zero)]),
      // Nothing of the record in the version known here is forgotten, and it has no other column.
      .recalled(state.row?.columns.filter { $0.name == "c" } ?? []),
      .marked(PurgeMark(writer: 1, since: 0)),
      .edited(.found([ColumnEdit(name: "c", value: .int64(1))])),
    ]
    let clock = state.row?.clock ?? RecordClock()
    if clock.latest.rawValue < Self.lastTime { events += edits(at: clock.latest.successor, state) }
    events.append(.placed(.inTable))
    if isRefused {
      events.append(.placed(.violates(code: 1, reason: "unique")))
      events.append(.placed(.heldBy("other", reason: "unique")))
    }
    if state.row?.clock.isDeleted == true { events.append(.placed(.deletionDeferred)) }
    // A refusal is counted, which would never end.
    var refusals = 0
    if case .refusal(let refusal) = state.hold { refusals = refusal.count }
    if refusals < 1 {
      events += [
        .missing(tag: state.known?.tag, now: 0),
        .refused(.zoneBusy, reason: "busy", isPassing: true, wait: 1, now: 0),
        .refused(.invalidArguments, reason: "bad", isPassing: false, wait: nil, now: 0),
      ]
    }
    for (number, version) in versions.enumerated() {
      events.append(.has(tag: "\(number)", version))
      let known = state.known?.tag
      if refusals < 1 {
        events.append(.conflict(tag: "\(number)", over: known, version, now: 0))
      }
      // A page has overtaken the response.
      let other = known == nil ? "former" : nil
      events.append(.conflict(tag: "\(number)", over: other, version, now: 0))
    }
    // The cloud has taken the row as it is, or as it was before it was edited here once more.
    if let row = state.row {
      let known = state.known?.tag
      events.append(.saved(tag: known == "own" ? "own again" : "own", over: known, row))
      // A page has overtaken the response.
      events.append(.saved(tag: "overtaken", over: known == nil ? "former" : nil, row))
    }
    return events
  }

  private func edits(at time: HybridTime, _ state: RecordState) -> [RecordEvent] {
    let isThere = state.row.map { !$0.clock.isDeleted } ?? false
    if !isThere { return [.edited(.inserted([ColumnEdit(name: "c", value: .int64(2))], at: time))] }
    let edit = ColumnEdit(name: "c", value: .int64(3), former: state.row?.value(of: "c"))
    return [.edited(.updated([edit], at: time)), .edited(.deleted([], at: time))]
  }

  /// What others may have sent.
  private var versions: [RecordVersion] {
    let lives: [(created: Int64, deleted: Int64, last: Int64)] = [(1, 0, 2), (2, 1, 2)]
    var versions: [RecordVersion] = []
    for life in lives {
      for time in life.created...life.last {
        var clock = RecordClock()
        clock.created = HybridTime(rawValue: life.created)
        clock.deleted = HybridTime(rawValue: life.deleted)
        let time = HybridTime(rawValue: time)
        if rules.isCounter("c") {
          clock.shares = [CounterShare(column: "c", writer: 2, time: time, sum: .whole(5))]
          versions.append(RecordVersion(clock: clock))
        } else {
          let column = VersionedColumn(name: "c", value: .int64(4 + time.rawValue), time: time)
          versions.append(RecordVersion(clock: clock, columns: [column]))
        }
      }
    }
    let tombstones = versions.map { version in
      var version = version
      version.end(at: HybridTime(rawValue: Self.lastTime), deletes: deletes)
      return version
    }
    return versions + tombstones
  }

  // MARK: What must hold

  func fault(
    of state: RecordState,
    _ event: RecordEvent,
    _ next: RecordState,
    _ actions: [RecordAction]
  ) -> String? {
    if actions.contains(.renumber) {
      return next == state ? nil : "a row that is to be numbered anew has changed already"
    }
    if let broken = next.brokenInvariant(rules) { return broken }
    if actions.contains(.forget) != (state.row != nil && next.row == nil) {
      return "a row is forgotten without a word, or kept in spite of it"
    }
    if !actions.contains(.writeRow), !actions.contains(.forget), next.placement == .inTable,
      let wrong = missingWrite(state, event, next)
    {
      return wrong
    }
    switch event {
    case .has(let tag, let version): return fault(of: version, tag: tag, in: next)
    case .conflict(let tag, let former, let version, _):
      if state.row == nil || former != state.known?.tag {
        return next == state ? nil : "a conflict counts that a page has overtaken"
      }
      return fault(of: version, tag: tag, in: next)
    case .absent(let former):
      if former == state.known?.tag { return fault(of: state, .vanished, next, actions) }
      return next == state ? nil : "a response counts that a page has overtaken"
    case .vanished, .zoneReplaced:
      return next.known == nil || state.known == nil ? nil : "the record is still said to be there"
    case .saved(_, let former, let version):
      if former != state.known?.tag {
        return next == state ? nil : "a response counts that a page has overtaken"
      }
      return next.isDirty == (version.clock != next.row?.clock) ? nil : "saved, and not clean"
    default: return nil
    }
  }

  /// Whether the table would be left with another row than it is to have.
  private func missingWrite(
    _ state: RecordState,
    _ event: RecordEvent,
    _ next: RecordState
  ) -> String? {
    guard let row = next.row else { return nil }
    switch event {
    case .edited(.inserted(let columns, _)), .edited(.updated(let columns, _)):
      let isKnown = columns.allSatisfy { row.value(of: $0.name) == $0.value }
      return isKnown || row.clock.isDeleted ? nil : "the table has another value"
    case .edited, .completed, .recalled, .placed: return nil
    default:
      if state.placement != .inTable { return nil }
      let former = state.row ?? RecordVersion()
      if state.row == nil, row.clock.isDeleted { return nil }
      return row.isSameRow(as: former)
        ? nil : "the table is to be another, unasked"
    }
  }

  /// What holds of a row after the cloud was heard.
  private func fault(
    of server: RecordVersion,
    tag: String,
    in state: RecordState
  ) -> String? {
    guard let row = state.row else { return "nothing is known of what the cloud has" }
    if row.clock.isBehind(server.clock, deletes: deletes), !looksAtValues {
      return "it is behind what the cloud has"
    }
    if !state.isDirty, row.clock != server.clock { return "it is clean, and differs" }
    var again = state
    let actions = again.reduce(.has(tag: tag, server), rules: rules)
    return again == state && actions.isEmpty ? nil : "the second time it does more: \(actions)"
  }

  private var looksAtValues: Bool { rules.looksAtValues(of: "c") }
}

import CloudSyncCore
@testable import CloudSyncSQLite

extension RowMutant {
  /// The machine with the mistake.
  func reduce(
    _ state: inout RecordState,
    _ event: RecordEvent,
    _ rules: RowRules
  ) -> [RecordAction] {
    switch event {
    case .edited(let edit): return reduce(&state, edit, rules)
    case .has(let tag, let version):
      guard let mistaken = mistaken(version, beside: &state, rules) else { return [] }
      return finish(state.reduceSoundly(.has(tag: tag, mistaken), rules: otherwise(rules)))
    case .conflict(let tag, let former, let version, let now):
      if self == .ignoresConflicts { return [] }
      if self == .takesTagOnly, let row = state.row {
        return state.reduceSoundly(.saved(tag: tag, over: former, row), rules: rules)
      }
      guard let mistaken = mistaken(version, beside: &state, rules) else { return [] }
      let event = RecordEvent.conflict(tag: tag, over: former, mistaken, now: now)
      return finish(state.reduceSoundly(event, rules: otherwise(rules)))
    default: return reduceRest(&state, event, rules)
    }
  }

  // MARK: Edits

  private func reduce(
    _ state: inout RecordState,
    _ edit: RowEdit,
    _ rules: RowRules
  ) -> [RecordAction] {
    var mistaken: RowEdit? = edit
    switch (self, edit) {
    case (.forgetsUpdates, .updated), (.forgetsDeletions, .deleted), (.forgetsDeletions, .lost),
      (.forgetsFoundRows, .found),
      (.forgetsHandOvers, .handed), (.forgetsSettlements, .settled),
      (.forgetsRestorations, .restored):
      mistaken = nil
    case (.insertsLate, .inserted(let columns, _)):
      if let row = state.row, row.clock.isDeleted {
        mistaken = .inserted(columns, at: row.created)
      }
    case (.updatesWithoutTime, .updated(let columns, _)):
      mistaken = .updated(columns, at: .zero)
    case (.deletesWithoutTime, .deleted(let columns, _)):
      mistaken = .deleted(columns, at: .zero)
    case (.countsFromNothing, .updated(let columns, let time)):
      let columns = columns.map { ColumnEdit(name: $0.name, value: $0.value, former: .int64(0)) }
      mistaken = .updated(columns, at: time)
    case (.movesAsNew, .moved(let columns, _, let time)):
      mistaken = .inserted(columns, at: time)
    case (.mixesUpRows, .moved(let columns, var origin, let time)):
      origin.row = RowOrigin(name: "one", created: .zero)
      mistaken = .moved(columns, from: origin, at: time)
    case (.endsWhoeverIsThere, .deleted): state.row?.adopt(nil)
    case (.findsAsEdit, .found(let columns)):
      // Later than all edits of a simulation: earlier than these it would give way like what is found.
      mistaken = .inserted(columns, at: .next(after: .zero, now: 1_900_000_000_000))
    default: break
    }
    guard let mistaken else { return [] }
    // An update is after what is known by itself; here it is not.
    let former = state.row
    let actions = state.reduceSoundly(.edited(mistaken), rules: rules)
    if self == .updatesWithoutTime, case .updated(let columns, _) = mistaken {
      for column in columns {
        guard let time = former?[column.name]?.time, var set = state.row?[column.name] else {
          continue
        }
        set.time = time
        state.row?.set(set)
      }
    }
    if self == .insertsLate, case .inserted = mistaken, let created = former?.created,
      former?.clock.isDeleted == true
    {
      state.row?.created = created
    }
    if self == .forgetsWhichRow, case .moved = mistaken { state.row?.adopt(nil) }
    if self == .forgetsAncestors { state.ancestors = [] }
    return actions
  }

  // MARK: What the cloud has

  /// What of a version reaches the machine; nil if nothing does.
  private func mistaken(
    _ version: RecordVersion,
    beside state: inout RecordState,
    _ rules: RowRules
  ) -> RecordVersion? {
    let isDeleted = version.clock.isDeleted
    switch self {
    case .ignoresCloud where state.isDirty: return nil
    case .ignoresTombstones where isDeleted && state.row != nil: return nil
    case .ignoresNewLives where !isDeleted && state.row != nil && state.isDeleted:
      return nil
    case .givesInToCloud where state.isDirty: state.row = version
    case .prefersCloud where state.isDirty:
      for column in version.columns where state.row?[column.name] != nil {
        state.row?.set(column)
      }
    case .prefersLocal where state.isDirty:
      var other = version
      for column in state.row?.columns ?? [] where other[column.name] != nil { other.set(column) }
      return other
    default: break
    }
    return version
  }

  private func otherwise(_ rules: RowRules) -> RowRules {
    guard self == .mixesPolicies else { return rules }
    var other = rules
    other.policy.deletes = rules.deletes == .editWins ? .deleteWins : .editWins
    return other
  }

  private func finish(_ actions: [RecordAction]) -> [RecordAction] {
    switch self {
    case .forgetsWriting: actions.filter { $0 != .writeRow }
    case .keepsNumber: actions.filter { $0 != .renumber }
    default: actions
    }
  }

  // MARK: The rest

  private func reduceRest(
    _ state: inout RecordState,
    _ event: RecordEvent,
    _ rules: RowRules
  ) -> [RecordAction] {
    switch (self, event) {
    case (.forgetsSaves, .saved), (.ignoresMissing, .missing), (.ignoresAbsence, .vanished),
      (.ignoresAbsence, .absent),
      (.ignoresEndOfFetch, .fetchEnded), (.ignoresNewZone, .zoneReplaced),
      (.keepsNumber, .renumbered), (.forgetsNewColumns, .completed),
      (.forgetsWaiting, .placed(.awaitsParent)), (.forgetsDeferral, .placed(.deletionDeferred)):
      return []
    case (.believesLaterSaves, .saved(let tag, let former, _)):
      guard let row = state.row else { return [] }
      return state.reduceSoundly(.saved(tag: tag, over: former, row), rules: rules)
    case (.believesRefusals, .refused):
      guard let row = state.row else { return [] }
      let known = state.known?.tag
      return state.reduceSoundly(.saved(tag: known ?? "none", over: known, row), rules: rules)
    case (.neverRetries, .refused(let code, let reason, _, let wait, let now)):
      let event = RecordEvent.refused(code, reason: reason, isPassing: false, wait: wait, now: now)
      return state.reduceSoundly(event, rules: rules)
    case (.neverRetries, .retried): return []
    case (.believesMissing, .missing): return state.reduceSoundly(.vanished, rules: rules)
    case (.absenceTakesAll, .vanished), (.absenceTakesAll, .absent):
      state = RecordState()
      return [.forget]
    case (.forgetsTombstones, .zoneReplaced) where state.isDeleted:
      state = RecordState()
      return [.forget]
    default: return state.reduceSoundly(event, rules: rules)
    }
  }
}

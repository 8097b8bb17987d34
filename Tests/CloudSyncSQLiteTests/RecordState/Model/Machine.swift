import CloudSyncCore

@testable import CloudSyncSQLite

/// The real machine of one row, beside the model's.
struct Machine {
  private(set) var state = RecordState()
  /// What differed first from the model's row.
  private(set) var difference: String?

  static let counter = "n"
  /// How many of the machine's milliseconds are one of the model's.
  static let unit = PurgeMark.length / Int64(Model.lease)

  mutating func take(
    _ event: RecordEvent,
    as id: Int,
    _ rules: Model.Rules,
    expecting row: Model.Row?
  ) {
    if difference != nil { return }
    let rules = Self.rules(id, rules)
    let actions = state.reduce(event, rules: rules)
    if actions.contains(.renumber) {
      difference = "\(event): another number is wanted"
    } else if let broken = state.brokenInvariant(rules) {
      difference = "\(event): \(broken)"
    } else if let what = state.difference(from: row) {
      difference = "\(event): \(what)"
    }
  }

  mutating func expectRenumbering(_ event: RecordEvent, as id: Int, _ rules: Model.Rules) {
    if difference != nil { return }
    var tried = state
    if tried.reduce(event, rules: Self.rules(id, rules)) != [.renumber] || tried != state {
      difference = "\(event): another number is not wanted"
    }
  }

  // MARK: Forms

  static func rules(_ id: Int, _ rules: Model.Rules) -> RowRules {
    var policy = TableMergePolicy(deletes: rules.editWins ? .editWins : .deleteWins)
    policy.columns[counter] = .counter
    if rules.serverFirst { policy.columns[name(1)] = .server }
    return RowRules(writer: writer(id), policy: policy)
  }

  static func writer(_ id: Int) -> Int64 { Int64(id + 1) }

  static func name(_ column: Int) -> String { "c\(column)" }

  /// Text, so that the order of its bytes is that of the numbers.
  static func value(_ number: Int) -> FieldValue {
    let digits = String(number)
    return .string(String(repeating: "0", count: 9 - digits.count) + digits)
  }

  static func time(_ time: Int) -> HybridTime { HybridTime(rawValue: Int64(time)) }

  static func column(_ name: Int, _ column: Model.Column) -> VersionedColumn {
    VersionedColumn(name: self.name(name), value: value(column.value), time: time(column.time))
  }

  static func edits(of state: Model.RowState, counter: Int) -> [ColumnEdit] {
    state.columns.sorted { $0.key < $1.key }
      .map { ColumnEdit(name: name($0.key), value: value($0.value.value)) }
      + [ColumnEdit(name: self.counter, value: .int64(Int64(counter)))]
  }

  static func version(_ state: Model.RowState) -> RecordVersion {
    var clock = RecordClock()
    clock.created = time(state.created)
    clock.deleted = time(state.deleted)
    clock.ended = time(state.ended)
    clock.first = state.first.map(time)
    clock.shares = state.counter.sorted { $0.key < $1.key }
      .map { writer, share in
        let sum = CounterSum.whole(Int64(share.sum))
        return CounterShare(
          column: counter,
          writer: self.writer(writer),
          time: time(share.time),
          sum: sum
        )
      }
    clock.seen =
      state.seen.sorted { $0.key < $1.key }
      .map { SeenTime(column: name($0.key), writer: nil, time: time($0.value)) }
      + state.seenShares.sorted { $0.key < $1.key }
      .map { SeenTime(column: counter, writer: writer($0.key), time: time($0.value)) }
    clock.purge = state.purger.map {
      PurgeMark(writer: writer($0.by), since: Int64($0.since) * unit)
    }
    return RecordVersion(clock: clock, columns: state.columns.map { column($0.key, $0.value) })
  }

  static func event(
    _ server: Model.RowState,
    tag: Int,
    over former: Int?,
    asConflict wall: Int?
  ) -> RecordEvent {
    let version = version(server)
    guard let wall else { return .has(tag: "\(tag)", version) }
    return .conflict(
      tag: "\(tag)",
      over: former.map { "\($0)" },
      version,
      now: Int64(wall) * unit
    )
  }
}

extension RecordState {
  /// What is otherwise here than in the model; nil if nothing is.
  func difference(from model: Model.Row?) -> String? {
    guard let model else { return row == nil ? nil : "the model knows no row, this is \(self)" }
    guard let row else { return "nothing is known, but by the model \(model)" }
    if row != Machine.version(model.local) { return "the row is \(row), not \(model.local)" }
    if known?.tag != model.tag.map(String.init) {
      return "the tag is \(known?.tag ?? "none"), not \(model.tag ?? 0)"
    }
    if known?.clock != model.base.map({ Machine.version($0).clock }) {
      return "the base is \(String(describing: known)), not \(String(describing: model.base))"
    }
    if isDirty != model.isDirty { return "dirty \(isDirty), not \(model.isDirty)" }
    var awaitsFetch = false
    if case .nextFetch = hold { awaitsFetch = true }
    return awaitsFetch == model.awaitsFetch ? nil : "awaits a fetch: \(awaitsFetch)"
  }
}

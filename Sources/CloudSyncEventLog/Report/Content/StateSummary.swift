import CloudSyncCore

/// A state in a few dozen values that people read, cheap to take and to compare.
struct StateSummary {
  /// One value.
  enum Value: Sendable {
    case none
    case count(Int)
    case time(Timestamp)
    case text(String)
  }

  /// What a value is about, and where it comes from.
  struct Field: Sendable {
    let section: String
    let name: String
    let value: @Sendable (borrowing Source) -> Value

    init(
      _ section: String,
      _ name: String,
      _ value: @escaping @Sendable (borrowing Source) -> Value
    ) {
      self.section = section
      self.name = name
      self.value = value
    }
  }

  /// What values are taken from: the regions are taken out of the state once, for all of them.
  struct Source: Sendable {
    let state: SyncState
    let time: Timestamp
    let next: NextStep
    let parkedNames: String
    let modify: ModifyRegion
    let fetch: FetchRegion
    let parked: ParkedRegion
    let gate: GateRegion
    let flight: Flight?
    let progress: SyncProgress

    init(_ state: SyncState, at time: Timestamp, parkedNames: String) {
      self.state = state
      self.time = time
      self.parkedNames = parkedNames
      next = state.next(at: time)
      modify = state.modify
      fetch = state.fetch
      parked = state.parked
      gate = state.gate
      flight = state.flight
      progress = state.progress
    }
  }

  /// The values, in the order of the fields.
  let values: [Value]

  init(_ source: Source) { values = Self.fields.map { $0.value(source) } }
}

extension StateSummary.Value: Equatable {
  static func == (lhs: Self, rhs: Self) -> Bool {
    switch (lhs, rhs) {
    case (.none, .none): true
    case (.count(let left), .count(let right)): left == right
    case (.time(let left), .time(let right)): left == right
    case (.text(let left), .text(let right)): UTF8Bytes.equal(left, right)
    default: false
    }
  }
}

extension StateSummary {
  /// All fields, in the order in which they are shown.
  static let fields: [Field] = now + waits + modifications + fetches + progress

  private static let now = [
    Field("Session", "Phase") { .text(StateDescription.text(of: $0.state.phase)) },
    Field("Session", "Account") { .text(StateDescription.text(of: $0.state.accountState)) },
    Field("Session", "Zone") { .text(StateDescription.text(of: $0.state.zoneState)) },
    Field("Session", "Subscription") {
      .text(StateDescription.text(of: $0.state.subscriptionState))
    },
    Field("Session", "Epoch") { .count(Int(clamping: $0.state.epoch)) },
    Field("Now", "In flight") { $0.flight.map { .text(StateDescription.text(of: $0)) } ?? .none },
    Field("Now", "Response due by") { $0.flight.map { .time($0.deadline.until) } ?? .none },
    Field("Now", "Next step") { .text(StateDescription.text(of: $0.next)) },
    Field("Now", "Next check at") {
      if case .wait(_, let until?) = $0.next { .time(until) } else { .none }
    },
  ]

  private static let waits = [
    Field("Retry", "Waiting because of") {
      $0.gate.opening(at: $0.time) == nil ? .none : .text(StateDescription.text(of: $0.gate.cause))
    },
    Field("Retry", "Waiting until") { $0.gate.opening(at: $0.time).map(Value.time) ?? .none },
    Field("Retry", "Retries in a row") { .count($0.state.retryCount) },
    Field("Retry", "Last error") {
      $0.state.lastRetryError.map { .text("\($0.code)") } ?? .none
    },
  ]

  private static let modifications = [
    Field("Modify", "Operations queued") { .count($0.modify.queue.count) },
    Field("Modify", "Operations in progress") { .count($0.modify.open.count) },
    Field("Modify", "Records queued") { .count($0.modify.queuedItems) },
    Field("Modify", "Records in the batch") { .count($0.modify.batch.count) },
    Field("Modify", "To be sent unchanged") { .count($0.modify.frozen) },
    Field("Modify", "To be looked up") { .count($0.modify.lookups) },
    Field("Modify", "Most records in a request") { .count($0.state.requestLimits.items) },
    Field("Parked", "Records parked") { .count($0.parked.entries.count) },
    Field("Parked", "Which") { $0.parkedNames.isEmpty ? .none : .text($0.parkedNames) },
    Field("Parked", "To be sent again") { .count($0.parked.returning.count) },
    Field("Parked", "Storage checked at") {
      $0.parked.quota.map { .time($0.until) } ?? .none
    },
  ]

  private static let fetches = [
    Field("Fetch", "Fetches waiting") { .count($0.fetch.waiting.count) },
    Field("Fetch", "Run") { $0.fetch.run.map { .text(StateDescription.text(of: $0)) } ?? .none },
    Field("Fetch", "Page to acknowledge") {
      $0.fetch.awaited.map { .count(Int(clamping: $0.response.page.number)) } ?? .none
    },
  ]

  private static let progress = [
    Field("Progress", "Notifications pending") { .count($0.state.notifications.queue.count) },
    Field("Progress", "Records submitted") { .count($0.progress.submitted) },
    Field("Progress", "Records done") { .count($0.progress.done) },
    Field("Progress", "Records not done") { .count($0.progress.notDone) },
    Field("Progress", "Pages fetched") { .count($0.progress.fetchedPages) },
    Field("Progress", "Records fetched") { .count($0.progress.fetchedRecords) },
  ]
}

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

  /// What values are taken from.
  struct Source: Sendable {
    let state: SyncState
    let time: Timestamp
    let next: NextStep
    let parkedNames: String
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
    Field("Session", "Life") { .text(StateWords.life($0.state.life)) },
    Field("Session", "Account") { .text(StateWords.account($0.state.accountState)) },
    Field("Session", "Zone") { .text(StateWords.zone($0.state.zoneState)) },
    Field("Session", "Subscription") {
      .text(StateWords.subscription($0.state.subscriptionState))
    },
    Field("Session", "Epoch") { .count(Int(clamping: $0.state.epoch)) },
    Field("Now", "In flight") { $0.state.flight.map { .text(StateWords.flight($0)) } ?? .none },
    Field("Now", "Answer due by") { $0.state.flight.map { .time($0.deadline.until) } ?? .none },
    Field("Now", "What is next") { .text(StateWords.next($0.next)) },
    Field("Now", "Looks again at") {
      if case .wait(_, let until?) = $0.next { .time(until) } else { .none }
    },
  ]

  private static let waits = [
    Field("Gate", "Closed for") {
      $0.state.gate.opening(at: $0.time) == nil ? .none : .text("\($0.state.gate.cause)")
    },
    Field("Gate", "Opens at") { $0.state.gate.opening(at: $0.time).map(Value.time) ?? .none },
    Field("Gate", "Waits in a row") { .count($0.state.retryCount) },
    Field("Gate", "Last error") {
      $0.state.lastRetryError.map { .text("\($0.code)") } ?? .none
    },
  ]

  private static let modifications = [
    Field("Modify", "Operations queued") { .count($0.state.modify.queue.count) },
    Field("Modify", "Operations begun") { .count($0.state.modify.open.count) },
    Field("Modify", "Records queued") { .count($0.state.modify.queuedItems) },
    Field("Modify", "Records in the window") { .count($0.state.modify.window.count) },
    Field("Modify", "To be sent unchanged") { .count($0.state.modify.frozen) },
    Field("Modify", "To be looked up") { .count($0.state.modify.lookups) },
    Field("Modify", "Records a request") { .count($0.state.requestLimits.items) },
    Field("Parked", "Records parked") { .count($0.state.parked.shelf.count) },
    Field("Parked", "Which") { $0.parkedNames.isEmpty ? .none : .text($0.parkedNames) },
    Field("Parked", "On their way back") { .count($0.state.parked.returning.count) },
    Field("Parked", "Storage probed at") {
      $0.state.parked.quota.map { .time($0.until) } ?? .none
    },
  ]

  private static let fetches = [
    Field("Fetch", "Fetches waiting") { .count($0.state.fetch.waiting.count) },
    Field("Fetch", "Run") { $0.state.fetch.run.map { .text(StateWords.run($0)) } ?? .none },
    Field("Fetch", "Page to acknowledge") {
      $0.state.fetch.awaited.map { .count(Int(clamping: $0.response.page.number)) } ?? .none
    },
  ]

  private static let progress = [
    Field("Progress", "Announcements pending") { .count($0.state.notes.queue.count) },
    Field("Progress", "Records submitted") { .count($0.state.progress.submitted) },
    Field("Progress", "Records done") { .count($0.state.progress.done) },
    Field("Progress", "Records not done") { .count($0.state.progress.notDone) },
    Field("Progress", "Pages fetched") { .count($0.state.progress.fetchedPages) },
    Field("Progress", "Records fetched") { .count($0.state.progress.fetchedRecords) },
  ]
}

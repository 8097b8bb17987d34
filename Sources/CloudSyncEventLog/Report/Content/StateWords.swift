import CloudSyncCore

/// Parts of a state in a few words.
enum StateWords {
  static func phase(phase: SessionPhase) -> String {
    switch phase {
    case .created: "waits for start()"
    case .running: "running"
    case .stopped(let reason): "stopped: \(reason.error.code)"
    }
  }

  static func account(account: AccountState) -> String {
    switch account {
    case .noProvider: "not asked for"
    case .asking: "being asked for"
    case .ready: "ready"
    case .away(let trouble): "\(trouble)"
    case .switched: "another one signed in"
    }
  }

  static func zone(zone: ZoneState) -> String {
    switch zone {
    case .unknown: "unknown"
    case .creating(nil): "to be created"
    case .creating(let loss?): "to be created again: \(loss)"
    case .ready: "ready"
    case .lost(let loss): "lost: \(loss)"
    case .refused(let error): "refused: \(error.code)"
    }
  }

  static func subscription(subscription: SubscriptionState) -> String {
    switch subscription {
    case .unknown: "unknown"
    case .creating: "to be created"
    case .ready: "ready"
    case .givenUp(let error): "given up: \(error.code)"
    }
  }

  static func flight(flight: Flight) -> String {
    let what = flight.isLookup ? "look-up" : name(of: flight.mode)
    let count = flight.count == 0 ? "" : ", \(counted(flight.count, "record"))"
    return "\(what) \(flight.attempt)\(count)"
  }

  static func run(_ run: FetchRun) -> String {
    let start = run.startedOver ? "from the beginning" : "from a token"
    return "\(counted(run.pages, "page")) so far, \(start), "
      + "for \(counted(run.operations.count, "fetch", many: "fetches"))"
  }

  static func next(_ next: NextStep) -> String {
    switch next {
    case .request(let request): "to send: \(request.isLookup ? "look-up" : name(of: request.mode))"
    case .wait(let reasons, _): reasonNames.first { reasons.contains($0.0) }?.1 ?? "to wait"
    }
  }

  private static let reasonNames: [(WaitReasons, String)] = [
    (.inFlight, "waits for the answer"), (.notStarted, "waits for start()"),
    (.stopped, "stopped"), (.accountUnknown, "waits for the account's status"),
    (.accountAway, "waits for the account"), (.accountSwitched, "waits for a decision: account"),
    (.gate, "waits for the gate to open"), (.zone, "waits for a decision: zone"),
    (.acknowledgement, "waits for acknowledge(_:_:)"), (.quota, "waits for storage"),
    (.idle, "nothing to do"),
  ]

  /// The name of a kind of work; a description would be found by reflection, which is slow.
  static func name(of mode: OperationMode) -> String {
    "\(OperationMode.codedNames[mode.rawValue])"
  }

  /// A number with its noun.
  static func counted(_ count: Int, _ one: String, many: String? = nil) -> String {
    count == 1 ? "1 \(one)" : "\(count) \(many ?? one + "s")"
  }

  /// A length of time with as many digits as people need.
  static func duration(nanoseconds: Int64) -> String {
    let milliseconds = nanoseconds / 1_000_000
    if nanoseconds > 0, milliseconds == 0 { return "\(nanoseconds / 1_000) µs" }
    if milliseconds < 1_000 { return "\(milliseconds) ms" }
    let seconds = milliseconds / 1_000
    if seconds < 60 { return "\(seconds).\(milliseconds % 1_000 / 100) s" }
    if seconds < 3_600 { return "\(seconds / 60) min \(seconds % 60) s" }
    return "\(seconds / 3_600) h \(seconds % 3_600 / 60) min"
  }
}

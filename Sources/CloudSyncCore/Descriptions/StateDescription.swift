/// Parts of a state in a few words: for explanations, overviews and reports.
package enum StateDescription {
  package static func text(of phase: SessionPhase) -> String {
    switch phase {
    case .created: "not started"
    case .running: "running"
    case .stopped(let reason): "stopped: \(reason.error.code)"
    }
  }

  package static func text(of account: AccountState) -> String {
    switch account {
    case .noProvider: "not monitored"
    case .asking: "being checked"
    case .ready: "ready"
    case .away(let trouble): "unavailable: \(trouble)"
    case .switched: "another account signed in"
    }
  }

  package static func text(of zone: ZoneState) -> String {
    switch zone {
    case .unknown: "unknown"
    case .creating(nil): "to be created"
    case .creating(let loss?): "to be created again: \(loss)"
    case .ready: "ready"
    case .lost(let loss): "lost: \(loss)"
    case .refused(let error): "rejected: \(error.code)"
    }
  }

  package static func text(of subscription: SubscriptionState) -> String {
    switch subscription {
    case .unknown: "unknown"
    case .creating: "to be created"
    case .ready: "ready"
    case .givenUp(let error): "given up: \(error.code)"
    }
  }

  package static func text(of run: FetchRun) -> String {
    let start = run.startedOver ? "from the beginning" : "from a token"
    return "\(Phrase.count(run.pages, "page")) so far, \(start), "
      + "for \(Phrase.count(run.operations.count, "fetch", plural: "fetches"))"
  }
}

// MARK: - Requests

extension StateDescription {
  package static func text(of flight: Flight) -> String {
    let count = flight.count == 0 ? "" : ", \(Phrase.count(flight.count, "record"))"
    return "\(name(of: flight)) \(flight.attempt)\(count)"
  }

  package static func name(of flight: Flight) -> String {
    flight.isLookup ? lookup : name(of: flight.mode)
  }

  package static func name(of request: SyncRequest) -> String {
    request.isLookup ? lookup : name(of: request.mode)
  }

  /// The name of a kind of work; a description would be found by reflection, which is slow.
  package static func name(of mode: OperationMode) -> String {
    "\(OperationMode.codedNames[mode.rawValue])"
  }

  private static let lookup = "look-up"
}

// MARK: - Waits

extension StateDescription {
  package static func text(of next: NextStep) -> String {
    switch next {
    case .request(let request): "to send: \(name(of: request))"
    case .wait(let reasons, _): reasonNames.first { reasons.contains($0.0) }?.1 ?? "waiting"
    }
  }

  /// What a session that sends nothing waits for, the most important first.
  private static let reasonNames: [(WaitReasons, String)] = [
    (.inFlight, "waiting for the response"), (.notStarted, "waiting for start()"),
    (.stopped, "stopped"), (.accountUnknown, "waiting for the account's status"),
    (.accountAway, "waiting for the account"),
    (.accountSwitched, "waiting for resolveAccountSwitch(_:)"), (.gate, "waiting to retry"),
    (.zone, "waiting for decideZone(_:)"), (.acknowledgement, "waiting for acknowledge(_:_:)"),
    (.quota, "waiting for storage"), (.idle, "nothing to do"),
  ]

  /// Why a session waits before it sends again.
  package static func text(of cause: Wait.Cause) -> String {
    switch cause {
    case .network: "network problem"
    case .service: "service busy"
    case .transient: "transient error"
    case .lostResponse: "lost response"
    case .account: "account unavailable"
    case .quota: "storage full"
    case .storage: "page not stored"
    }
  }

  /// When a wait ends, and what for: `in 3 s (service busy)`.
  package static func text(of wait: Wait) -> String { "\(end(of: wait)) (\(text(of: wait.cause)))" }

  /// When a wait ends: `in 3 s`.
  package static func end(of wait: Wait) -> String {
    let length = wait.nanoseconds ?? wait.serverNanoseconds
    return length.map { "in \(Phrase.duration($0))" } ?? "later"
  }
}

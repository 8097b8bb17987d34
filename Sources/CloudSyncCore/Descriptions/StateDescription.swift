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
    case .away(let trouble): "\(trouble)"
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

  package static func text(of flight: Flight) -> String {
    let what = flight.isLookup ? "look-up" : name(of: flight.mode)
    let count = flight.count == 0 ? "" : ", \(Phrase.count(flight.count, "record"))"
    return "\(what) \(flight.attempt)\(count)"
  }

  package static func text(of run: FetchRun) -> String {
    let start = run.startedOver ? "from the beginning" : "from a token"
    return "\(Phrase.count(run.pages, "page")) so far, \(start), "
      + "for \(Phrase.count(run.operations.count, "fetch", plural: "fetches"))"
  }

  package static func text(of next: NextStep) -> String {
    switch next {
    case .request(let request): "to send: \(request.isLookup ? "look-up" : name(of: request.mode))"
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

  /// The name of a kind of work; a description would be found by reflection, which is slow.
  package static func name(of mode: OperationMode) -> String {
    "\(OperationMode.codedNames[mode.rawValue])"
  }
}

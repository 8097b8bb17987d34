extension SyncRegions {
  mutating func zoneAnswered(isDone: Bool, over flight: Flight, at now: Timestamp) {
    guard isDone else {
      let error = SyncError(.serverRejectedRequest, "the handler refused to create the zone")
      zone.zone = .refused(error)
      halt(error, over: flight, at: now)
      return
    }
    heardFromCloud()
    zone.zone = .ready
  }

  /// The zone is not there: the policy says what happens.
  mutating func loseZone(
    _ loss: ZoneLoss,
    error: SyncError?,
    over flight: Flight,
    at now: Timestamp
  ) {
    // The app has decided while records were looked up: the decision holds.
    if case .creating = zone.zone, flight.mode == .fetch { return }
    if case .lost(let known) = zone.zone {
      // What the user has erased on purpose is said to be missing later on, which is no news. Everything else is: a zone that
      // was there again, and is put back to what it was, is told so, whatever had become of it before.
      zone.zone = .lost(loss == .missing ? known : loss)
      return failLookup(with: error)
    }
    fetch.forgetTokens()
    invalidateTags()
    if zone.subscription.isWished { zone.subscription = .creating }
    guard configuration.zonePolicy.action(for: loss) == .recreate else {
      zone.zone = .lost(loss)
      failLookup(with: error)
      fetch.putOffRun()
      return
    }
    zone.zone = .creating(loss)
    zone.creations += 1
    if zone.creations > configuration.zoneBudget {
      zone.creations = 0
      let error = SyncError(
        .zoneBudgetSpent,
        "the zone was created \(configuration.zoneBudget) times and is still said to be missing"
      )
      halt(error, over: flight, at: now)
    } else if zone.creations > 1 {
      closeGate(for: Wait(.transient), at: now)
    }
  }

  /// Ends the look-up that was told that there is no zone: else it would be made again at once.
  private mutating func failLookup(with error: SyncError?) {
    guard fetch.run?.isLookup == true else { return }
    failRun(with: error ?? SyncError(.zoneNotFound))
  }

  /// Takes the app's decision about a lost zone, or its wish for one that it gave up.
  mutating func reduceZoneDecision(decision: ZoneDecision) -> Bool {
    guard case .lost(let loss) = zone.zone else { return false }
    switch decision {
    case .recreate:
      zone.zone = .creating(loss)
      zone.creations = 0
    case .abandon:
      let error = SyncError(.zoneAbandoned, "the app gave the zone up")
      if let flight, flight.mode == .modify || flight.mode == .fetch { self.flight = nil }
      giveUpModifications(error: error)
      giveUpFetches(error: error)
    }
    return true
  }
}

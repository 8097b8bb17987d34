extension SyncRegions {
  /// Says what is to happen next; see ``SyncState/next(at:)``.
  ///
  /// Inlined: a call from outside would copy all regions.
  @inline(__always)
  func next(at now: Timestamp) -> NextStep {
    if let flight {
      return .wait(.inFlight, until: earliest(time: flight.deadline.end(at: now), now: now))
    }
    switch phase {
    case .running: break
    case .created: return .wait(.notStarted, until: nil)
    case .stopped: return .wait(.stopped, until: nil)
    }
    switch account.status {
    case .noProvider, .ready: break
    case .asking: return .wait(.accountUnknown, until: earliest(time: nil, now: now))
    case .away: return .wait(.accountAway, until: earliest(time: nil, now: now))
    case .switched: return .wait(.accountSwitched, until: earliest(time: nil, now: now))
    }
    if let opening = gate.opening(at: now) {
      return .wait(.gate, until: earliest(time: opening, now: now))
    }
    switch zone.zone {
    case .unknown, .ready: break
    case .creating: return .request(SyncRequest(mode: .createZone))
    // It changes nothing, and may tell that the zone is there again.
    case .lost where !fetch.isAwaited && fetch.isLookupNext:
      return .request(SyncRequest(mode: .fetch))
    case .lost, .refused: return .wait(.zone, until: earliest(time: nil, now: now))
    }
    guard case .creating = zone.subscription else { return nextTurn(at: now) }
    if zone.isSubscriptionPutOff != nil {
      let turn = nextTurn(at: now)
      if case .request = turn { return turn }
    }
    return .request(SyncRequest(mode: .createSubscription))
  }

  /// Modifications and fetches take turns.
  @inline(__always)
  private func nextTurn(at now: Timestamp) -> NextStep {
    let wantsModify =
      !modify.batch.isEmpty || !modify.queue.isEmpty || !parked.returning.isEmpty
      || cold.value.parked.isProbeDue(at: now)
    let wantsFetch = cold.value.fetch.wantsRequest
    if wantsFetch, !wantsModify || lastTurn == .modify {
      return .request(SyncRequest(mode: .fetch))
    }
    if wantsModify {
      if modify.lookups > 0, modify.frozen == 0 {
        return .request(SyncRequest(mode: .fetch, isLookup: true))
      }
      return .request(SyncRequest(mode: .modify))
    }
    var reasons: WaitReasons = []
    if cold.value.fetch.isAwaited { reasons.insert(.acknowledgement) }
    if parked.quota != nil { reasons.insert(.quota) }
    return .wait(reasons.isEmpty ? .idle : reasons, until: earliest(time: nil, now: now))
  }

  /// The earliest of a time and of what else time alone brings about.
  @inline(__always)
  private func earliest(time: Timestamp?, now: Timestamp) -> Timestamp? {
    var earliest = time
    func consider(_ deadline: Deadline?) {
      guard let end = deadline?.end(at: now) else { return }
      earliest = min(earliest ?? end, end)
    }
    // While a probe is on its way there is no time to wait for.
    if parked.quota != nil, parked.probe == nil { consider(parked.quota) }
    // One that is due waits for what stands in the way of everything.
    if let probe = parked.nextProbe, probe.end(at: now) > now { consider(probe) }
    if fetch.awaited != nil { consider(fetch.awaited?.nextOffer) }
    consider(account.check)
    consider(account.nextTry)
    return earliest
  }
}

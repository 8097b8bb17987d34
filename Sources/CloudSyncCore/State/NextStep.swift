/// What a state wants to happen next.
public enum NextStep: Sendable, Hashable {
  /// This request is to be made.
  case request(SyncRequest)
  /// Nothing is to be sent, for these reasons; the time to look again, if time alone changes anything.
  case wait(WaitReasons, until: Timestamp?)
}

/// Why a session sends nothing.
public struct WaitReasons: OptionSet, Sendable, Hashable {
  /// The bits.
  public let rawValue: UInt16

  /// Creates a set from its bits.
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// A request is in flight.
  public static let inFlight = Self(rawValue: 1 << 0)
  /// The session was never started.
  public static let notStarted = Self(rawValue: 1 << 1)
  /// The session is stopped.
  public static let stopped = Self(rawValue: 1 << 2)
  /// The account's status is not known yet.
  public static let accountUnknown = Self(rawValue: 1 << 3)
  /// The account cannot be used.
  public static let accountAway = Self(rawValue: 1 << 4)
  /// Another account signed in, and the app has to decide.
  public static let accountSwitched = Self(rawValue: 1 << 5)
  /// The gate is closed.
  public static let gate = Self(rawValue: 1 << 6)
  /// The zone is lost, and the app has to decide; or it was refused.
  public static let zone = Self(rawValue: 1 << 7)
  /// A page waits for the app's acknowledgement.
  public static let acknowledgement = Self(rawValue: 1 << 8)
  /// The storage is full; saves wait for the next probe.
  public static let quota = Self(rawValue: 1 << 9)
  /// There is nothing to do.
  public static let idle = Self(rawValue: 1 << 10)
}

extension SyncState {
  /// Says what is to happen next: the request to make, or why none is made and when to look again.
  ///
  /// It is a pure function, evaluated after every event: no wake-up can be lost, because none is
  /// remembered anywhere else.
  ///
  /// - Complexity: O(1).
  public func next(at now: Timestamp) -> NextStep {
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
    if case .creating = zone.subscription {
      return .request(SyncRequest(mode: .createSubscription))
    }
    return nextTurn(at: now)
  }

  /// Modifications and fetches take turns.
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

  /// When time alone changes what is to happen next.
  package func wakeTime(at now: Timestamp) -> Timestamp? {
    if case .wait(_, let until) = next(at: now) { until } else { nil }
  }

  /// Whether the account's provider is to be asked now.
  package var isAccountCheckDue: Bool {
    guard account.isCheckDue, case .running = phase else { return false }
    return true
  }
}

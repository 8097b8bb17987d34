import CloudSyncCore
import CloudSyncSimulator

/// The part of a mutant that changes events.
struct MutantMiddleware: Middleware {
  let mutant: Mutant
  private let count = Locked(0)

  init(_ mutant: Mutant) { self.mutant = mutant }

  /// Where it is put; nil if the mutant is elsewhere.
  var neighbour: String? {
    switch mutant {
    case .dropsWork, .dropsFetches, .dropsForRetry, .missesAcknowledgements, .trustsAnyAccount,
      .mixesAccounts, .sleepsOn, .abandonsZone, .resetsOnReconnect:
      "SplittingMiddleware"
    case .forgetsFreezing, .savesParked, .givesInToServer, .mistakesConflictForOwn,
      .dropsEditOfMissing, .dropsRetriedItem, .keepsExpiredToken, .mistakesServerWait:
      "ErrorMiddleware"
    case .undercutsServerWait, .haltsOnThrottle: "RetryMiddleware"
    default: nil
    }
  }

  func run(
    event: SyncEvent,
    context: MiddlewareContext,
    next: (SyncEvent) -> SyncEvent
  ) -> SyncEvent {
    next(changed(event))
  }

  private func isDue(_ every: Int) -> Bool {
    count.withLock { count in
      count += 1
      return count % every == 0
    }
  }

  private func changed(_ event: SyncEvent) -> SyncEvent {
    switch (mutant, event) {
    case (.dropsWork, .doWork(.modify)): return isDue(5) ? .noop : event
    case (.dropsFetches, .doWork(.fetch)): return .noop
    case (.dropsForRetry, .retryParked(let recordIDs)): return .dropParked(recordIDs)
    case (.missesAcknowledgements, .acknowledge): return .noop
    case (.trustsAnyAccount, .accountStatusChanged(_, _)):
      return .accountStatusChanged(.available, AccountIdentity("owner"))
    case (.mixesAccounts, .accountStatusChanged(.available, _)):
      return .accountStatusChanged(.available, nil)
    case (.sleepsOn, .woke): return .noop
    case (.abandonsZone, .decideZone): return .decideZone(.abandon)
    case (.resetsOnReconnect, .connectivityChanged): return .reset(nonce: 99)
    case (.haltsOnThrottle, .retry(_, let retry)) where retry.error.code == .requestRateLimited:
      return .halt(retry.error)
    case (.keepsExpiredToken, .startOver(let attempt, _, let error)):
      return .failFetch(attempt, error)
    case (_, .retry(let attempt, var retry)):
      change(&retry)
      return .retry(attempt, retry)
    case (_, .settleItems(let attempt, var settlement)):
      change(&settlement)
      return .settleItems(attempt, settlement)
    case (_, .resolveConflict(let attempt, var settlement)):
      change(&settlement)
      return .resolveConflict(attempt, settlement)
    default: return event
    }
  }

  private func change(_ retry: inout Retry) {
    if mutant == .forgetsFreezing { retry.isLost = false }
    change(&retry.wait)
  }

  private func change(_ wait: inout Wait) {
    switch mutant {
    case .undercutsServerWait:
      wait.nanoseconds = wait.nanoseconds.map { $0 / 4 }
      wait.serverNanoseconds = wait.serverNanoseconds.map { $0 / 4 }
    case .mistakesServerWait: wait.serverNanoseconds = nil
    default: break
    }
  }

  private func change(_ settlement: inout Settlement) {
    if var wait = settlement.wait {
      change(&wait)
      settlement.wait = wait
    }
    settlement.verdicts = settlement.verdicts.map { verdict in
      switch (mutant, verdict) {
      case (.savesParked, .park(let error)), (.savesParked, .parkForQuota(let error)):
        error.clientRecord.map(ItemVerdict.saved) ?? .deleted
      case (.givesInToServer, .resolved(_, let server)): .saved(server)
      case (.mistakesConflictForOwn, .resolved(_, let server)): .alreadyThere(server)
      case (.dropsEditOfMissing, .recreate(let record)): .saved(record)
      case (.dropsRetriedItem, .stay): .deleted
      default: verdict
      }
    }
  }
}

extension Mutant: SimulationMutation {
  func attach(to session: CloudSyncSession, device: Int) {
    let middleware = MutantMiddleware(self)
    guard let neighbour = middleware.neighbour else { return }
    session.insertMiddleware(middleware, after: neighbour)
  }

  func configuration(base: SyncConfiguration) -> SyncConfiguration {
    var changed = base
    switch self {
    case .neverParks: changed.failureBudget = 1_000_000
    case .neverParts: changed.lostResponseBudget = 1_000_000
    default: break
    }
    return changed
  }

  func environment(base: SyncEnvironment, device: Int) -> SyncEnvironment {
    guard self == .waitsByWallClock else { return base }
    var changed = base
    changed.makeTimer = { executor, fire in
      WallClockTimer(of: base, on: executor, fire: fire)
    }
    return changed
  }

  func gate(base: SyncGate?) -> SyncGate? {
    self == .staysOutsideGate ? base.map { _ in SyncGate() } : base
  }

  func handler(base: any OperationHandler, device: Int) -> any OperationHandler {
    MutantHandler(mutant: self, base: base)
  }
}

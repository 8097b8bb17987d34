import CloudSyncCore
import CloudSyncVirtualTime

/// A call on its way through a `FaultyOperationHandler`.
struct FaultyCall: Sendable {
  /// How long it takes, and what goes wrong.
  struct Journey: Sendable {
    /// Nanoseconds to the cloud.
    var there: Int64
    /// Nanoseconds back.
    var back: Int64
    var point: FaultPoint?
    /// What the details of the fault are drawn from.
    var random = SeededRandom(seed: 0)
  }

  var work: SyncWork
  var context: RequestContext
  var journey: Journey
  var deliver: WorkHandler.Completion
}

extension FaultyOperationHandler {
  /// Sends a call on its way.
  func send(_ call: FaultyCall) {
    var random = call.journey.random
    guard let point = call.journey.point else { return carryOut(call: call) }
    switch point {
    case .requestLost:
      let code = random.pick(
        [SyncError.Code.networkFailure, .networkUnavailable, .serverResponseLost]
      )
      answer(call: call, result: .failure(SyncError(code)))
    case .responseLost:
      carryOut(call: call) { [self] _ in answer(call: call, result: .failure(Self.lost)) }
    case .never:
      if random.chance(1, in: 2) { carryOut(call: call) { _ in } }
    case .late:
      let delay = random.pick([1_000, 20_000, 120_000, 310_000, 700_000]) + random.below(1_000)
      carryOut(call: call) { [self] result in
        answer(call: call, result: result, after: Int64(delay) * 1_000_000)
      }
    case .duplicated:
      let delay = Int64(random.pick([0, 300, 4_000, 60_000])) * 1_000_000
      carryOut(call: call) { [self] result in
        answer(call: call, result: result)
        answer(call: call, result: result, after: delay)
      }
    case .outOfOrder:
      carryOut(call: call) { [self] result in hold { call.deliver(result) } }
    case .limitExceeded:
      let limit = random.within(1...max(1, call.work.itemCount - 1))
      if call.work.itemCount > limit {
        return answer(call: call, result: .failure(SyncError(.limitExceeded)))
      }
      carryOut(call: call)
    case .assetMissing:
      answer(call: call, result: .failure(Self.assetMissing(work: call.work, random: &random)))
    case .recordDenied:
      answer(call: call, result: .failure(Self.recordDenied(work: call.work, random: &random)))
    case .recordUnanswered:
      carryOut(call: call) { [self] _ in answer(call: call, result: .failure(Self.lost)) }
    default:
      guard let error = point.refusal(random: &random) else { return carryOut(call: call) }
      answer(call: call, result: .failure(error))
    }
  }

  private static let lost = SyncError(.serverResponseLost)

  /// The response of an atomic request of which one record cannot be saved.
  private static func assetMissing(work: SyncWork, random: inout SeededRandom) -> SyncError {
    guard case .modify(let operation) = work else { return SyncError(.assetFileNotFound) }
    let culprit = random.below(max(1, operation.records.count))
    return failure(of: operation, code: .assetFileNotFound, at: culprit)
  }

  /// The response of an atomic request that changes a record which the cloud says to lack.
  private static func recordDenied(work: SyncWork, random: inout SeededRandom) -> SyncError {
    guard case .modify(let operation) = work else { return SyncError(.unknownItem) }
    let changes = operation.records.indices.filter { operation.records[$0].changeTag != nil }
    return failure(of: operation, code: .unknownItem, at: random.pick(changes))
  }

  /// The response of an atomic request that fails because of one record.
  private static func failure(
    of operation: ModifyOperation,
    code: SyncError.Code,
    at culprit: Int
  ) -> SyncError {
    let ids = operation.records.map(\.recordID) + operation.recordIDsToDelete
    let failures = ids.enumerated()
      .map { place, recordID in
        ItemFailure(recordID, SyncError(place == culprit ? code : .batchRequestFailed))
      }
    return SyncError(.partialFailure, itemErrors: failures)
  }

  /// Has the other handler do the work, when the request has arrived.
  private func carryOut(
    call: FaultyCall,
    answered: (@Sendable (Result<SyncWork.Result, SyncError>) -> Void)? = nil
  ) {
    world.virtual.schedule(afterNanoseconds: call.journey.there) { [self] in
      base.perform(call.work, context: call.context) { [self] result in
        if let answered { answered(result) } else { answer(call: call, result: result) }
      }
    }
  }

  /// Lets a response arrive after its way back.
  func answer(
    call: FaultyCall,
    result: Result<SyncWork.Result, SyncError>,
    after delay: Int64 = 0
  ) {
    world.virtual.schedule(afterNanoseconds: call.journey.back + delay) { call.deliver(result) }
  }
}

extension FaultPoint {
  /// Whether the service refuses what it was given, whenever that is.
  var isAboutContent: Bool {
    self == .limitExceeded || self == .assetMissing || self == .recordDenied
  }

  /// Whether it can go wrong with a piece of work.
  func applies(to work: SyncWork) -> Bool {
    switch (self, work) {
    case (.limitExceeded, .modify(let operation)): operation.itemCount > 1
    case (.assetMissing, .modify(let operation)): !operation.records.isEmpty
    case (.recordDenied, .modify(let operation)):
      operation.records.contains { $0.changeTag != nil }
    case (.tokenExpired, .fetch(let operation)):
      operation.changeToken != nil && !operation.isLookup
    case (.limitExceeded, _), (.assetMissing, _), (.recordDenied, _), (.tokenExpired, _): false
    // Another device cannot lose a zone that this one is still creating.
    case (.zoneDeleted, .createZone), (.zonePurged, .createZone), (.zoneReset, .createZone): false
    case (.storeRestored, .createZone): false
    case (.quotaFull, .modify): true
    case (.quotaFull, _): false
    default: true
    }
  }

  /// What a request is answered that the service refuses.
  fileprivate func refusal(random: inout SeededRandom) -> SyncError? {
    let wait = Duration.milliseconds(random.pick([200, 3_000, 30_000]) + random.below(2_000))
    let isTold = random.chance(1, in: 2)
    return switch self {
    case .throttle:
      SyncError(
        random.chance(1, in: 2) ? .requestRateLimited : .serviceUnavailable,
        retryAfter: wait
      )
    case .throttleSilently: SyncError(.requestRateLimited)
    case .zoneBusy: SyncError(.zoneBusy, retryAfter: isTold ? wait : nil)
    case .serviceUnavailable: SyncError(.serviceUnavailable, retryAfter: isTold ? wait : nil)
    case .refusal: SyncError(.internalError)
    default: nil
    }
  }

  /// What a request is answered in a world that has changed this way.
  var worldError: SyncError? {
    switch self {
    case .tokenExpired: SyncError(.changeTokenExpired)
    case .zoneDeleted: SyncError(.zoneNotFound)
    case .zonePurged: SyncError(.userDeletedZone)
    case .zoneReset, .storeRestored: SyncError(.zoneNotFound, isEncryptedDataReset: true)
    case .signedOut, .accountSwitched: SyncError(.notAuthenticated)
    case .accountUnavailable: SyncError(.accountTemporarilyUnavailable)
    case .quotaFull: SyncError(.quotaExceeded)
    default: nil
    }
  }
}

extension SyncWork {
  /// How many records it saves, deletes or looks up.
  var itemCount: Int {
    switch self {
    case .createZone, .createSubscription: 0
    case .modify(let operation): operation.itemCount
    case .fetch(let operation): operation.recordIDs.count
    }
  }
}

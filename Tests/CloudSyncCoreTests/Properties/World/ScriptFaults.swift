import CloudSyncCore
import CloudSyncTestSupport

/// What goes wrong with the calls of a script.
extension StubCloud.Fault {
  static func draw(_ random: inout SplitMix64, for call: SyncWork) -> Self? {
    switch random.below(24) {
    case 0, 1: return .lostBefore
    case 2, 3: return .lostAfter
    case 4: return random.chance(1, in: 2) ? .neverAfter : .never
    case 5, 6: return .delay(.milliseconds(random.pick([1, 400, 3_000, 50_000])))
    case 7: return .delay(.milliseconds(random.pick([299_000, 301_000, 700_000])))
    case 8, 9:
      let pause = Duration.milliseconds(random.pick([0, 500, 20_000]))
      return .duplicate(again: pause, fails: random.chance(1, in: 2))
    case 10, 11, 12: return .failure(.throttle(&random))
    case 13: return .failure(SyncError(random.pick([.networkUnavailable, .networkFailure])))
    case 14: return .failureAfter(SyncError(.networkFailure))
    case 15: return .failure(SyncError(random.pick([.operationCancelled, .assetFileModified])))
    case 16: return .failure(drawRare(&random))
    default: return drawOwn(&random, for: call)
    }
  }

  /// Errors that halt the session, or that mean the account.
  private static func drawRare(_ random: inout SplitMix64) -> SyncError {
    SyncError(
      random.pick([
        .notAuthenticated, .accountTemporarilyUnavailable, .internalError, .badContainer,
        .missingEntitlement, .incompatibleVersion, .badDatabase, .managedAccountRestricted,
        .unknown(77), .invalidArguments, .partialFailure, .zoneNotFound,
      ])
    )
  }

  /// What goes wrong with one kind of call only.
  private static func drawOwn(
    _ random: inout SplitMix64,
    for call: SyncWork
  ) -> Self? {
    switch call {
    case .modify(let operation):
      switch random.below(6) {
      case 0: return .failure(SyncError(.limitExceeded))
      case 1: return .silence(item: random.below(operation.itemCount))
      case 2: return .failure(SyncError(.quotaExceeded))
      default: return .items(drawItems(random.next(), of: call.items.map(\.recordID)))
      }
    case .fetch(let operation):
      if !operation.recordIDs.isEmpty {
        return .items(drawItems(random.next(), of: operation.recordIDs))
      }
      return random.chance(1, in: 3) ? .failure(SyncError(.changeTokenExpired)) : .stuckPage
    case .createZone, .createSubscription: return random.chance(1, in: 4) ? .refusal : nil
    }
  }

  /// Lets some items of a request fail, each for a reason of its own.
  private static func drawItems(_ seed: UInt64, of recordIDs: [RecordID]) -> [ItemFailure] {
    var random = SplitMix64(seed: seed)
    return recordIDs.compactMap { recordID in
      random.chance(2, in: 3) ? ItemFailure(recordID, .item(&random)) : nil
    }
  }
}

extension SyncError {
  static func throttle(_ random: inout SplitMix64) -> SyncError {
    SyncError(
      random.pick([.serviceUnavailable, .requestRateLimited, .zoneBusy]),
      retryAfter: random.chance(3, in: 4) ? .milliseconds(200 + random.below(40_000)) : nil
    )
  }

  /// What may be wrong with one item.
  static func item(_ random: inout SplitMix64) -> SyncError {
    switch random.below(8) {
    case 0, 1: .throttle(&random)
    case 2: SyncError(.networkFailure)
    case 3: SyncError(.operationCancelled)
    case 4: SyncError(.referenceViolation)
    case 5: SyncError(.limitExceeded)
    case 6: SyncError(.serverRejectedRequest)
    default: SyncError(.quotaExceeded)
    }
  }
}

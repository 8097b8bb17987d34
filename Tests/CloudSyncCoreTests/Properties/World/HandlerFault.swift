import CloudSyncCore
import CloudSyncTestSupport

/// What goes wrong with one call of the handler.
enum HandlerFault: Sendable {
  case none
  /// The answer says that it was lost; whether the request was carried out.
  case lost(isDone: Bool)
  /// No answer comes; whether the request was carried out.
  case silent(isDone: Bool)
  /// The answer comes so many milliseconds later.
  case late(Int)
  /// The answer comes at once and again later, the second time as a failure or not.
  case twice(Int, fails: Bool)
  /// Nothing is done, and this is the answer.
  case failure(SyncError)
  /// The request is carried out, and this is the answer all the same.
  case failureAfter(SyncError)
  /// Items fail on their own, drawn from the number.
  case items(UInt64)
  /// A page says that more follows and brings nothing.
  case stuckPage
  /// The handler refuses to create.
  case refusal
  /// The answer says nothing of one item that was carried out.
  case silence(item: Int)

  static func draw(_ random: inout SplitMix64, for call: HandlerCall) -> HandlerFault {
    switch random.below(24) {
    case 0, 1: return .lost(isDone: false)
    case 2, 3: return .lost(isDone: true)
    case 4: return .silent(isDone: random.chance(1, in: 2))
    case 5, 6: return .late(random.pick([1, 400, 3_000, 50_000]))
    case 7: return .late(random.pick([299_000, 301_000, 700_000]))
    case 8, 9: return .twice(random.pick([0, 500, 20_000]), fails: random.chance(1, in: 2))
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
    for call: HandlerCall
  ) -> HandlerFault {
    switch call {
    case .modify(let operation):
      switch random.below(6) {
      case 0: return .failure(SyncError(.limitExceeded))
      case 1: return .silence(item: random.below(operation.itemCount))
      case 2: return .failure(SyncError(.quotaExceeded))
      default: return .items(random.next())
      }
    case .fetch(let operation):
      if !operation.recordIDs.isEmpty { return .items(random.next()) }
      return random.chance(1, in: 3) ? .failure(SyncError(.changeTokenExpired)) : .stuckPage
    case .createZone, .createSubscription: return random.chance(1, in: 4) ? .refusal : .none
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

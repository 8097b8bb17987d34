#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Something that comes into a session from outside; inputs are taken one after the other.
enum SessionInput: Sendable {
  /// A call of the app's, or a report from elsewhere.
  case event(SyncEvent, EventRecord.Origin)
  /// A modification of the app's, which wants to know when it is taken.
  case submission(SyncEvent, accepted: @Sendable (ModifyOperation) -> Void)
  /// A modification that a middleware has dispatched because of an event.
  case dispatched(SyncEvent, cause: UInt64)
  /// The handler's answer to an attempt.
  case answer(Attempt, Result<SyncWork.Result, SyncError>)
  /// The account provider's answer to a check.
  case accountAnswer(check: UInt64, AccountStatus, AccountIdentity?)
  /// The timer fired.
  case timer
  /// A middleware joins the chain.
  case middleware(any Middleware, MiddlewarePosition)
  /// Every event from here on is journaled.
  case journal(@Sendable (Data) -> Void)
  /// Everything called before is wanted as bytes.
  case snapshot(@Sendable (Data) -> Void)
  /// The event log begins or ends to listen.
  case observer(any SessionObserver, isAttached: Bool)
  /// Somebody waits for a state.
  case waiter(Waiter)
}

/// Where a middleware joins the chain.
enum MiddlewarePosition: Sendable {
  case first
  case end
  case before(String)
  case after(String)
}

/// Somebody who waits for a state, at most until a deadline or until the session is stopped.
struct Waiter: Sendable {
  /// A clock set back costs at most one more wait, as at the gate.
  var deadline: Deadline
  var isSatisfied: @Sendable (SyncState) -> Bool
  var resume: @Sendable (Bool) -> Void
}

/// What waits to be taken by the session, in order, and the numbers that calls are given at once.
struct Inbox: Sendable {
  var inputs: [SessionInput] = []
  /// Whether the session's executor has been asked to take inputs.
  var isScheduled = false
  /// The number of the next operation.
  var nextOperation: UInt64
  /// The epoch of the state as it was last seen.
  var epoch: UInt64
  /// Resets that are called and not yet taken.
  var pendingResets: UInt64 = 0
  /// Every announcement before this number has been delivered.
  var deliveredUpTo: UInt64 = 0

  init(state: SyncState) {
    nextOperation = state.nextOperation
    epoch = state.epoch
  }

  mutating func makeOperationID() -> OperationID {
    defer { nextOperation += 1 }
    return OperationID(epoch: epoch + pendingResets, number: nextOperation)
  }
}

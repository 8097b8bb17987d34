#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Something that comes into a session from outside; inputs are taken one after the other.
///
/// What is large and rare lies behind a reference: every input is moved several times.
enum SessionInput: Sendable {
  /// A call of the app's, or a report from elsewhere.
  case event(SyncEvent, EventRecord.Origin)
  /// A modification of the app's, which wants to know when it is taken.
  case submission(SyncEvent, accepted: @Sendable (ModifyOperation) -> Void)
  /// A modification that a middleware has dispatched because of an event.
  case dispatched(SyncEvent, cause: UInt64)
  /// The handler's response to an attempt, as the event that it is if anybody still waits for it.
  case answer(SyncEvent)
  /// The account provider's answer to a check.
  indirect case accountAnswer(check: UInt64, AccountStatus, AccountIdentity?)
  /// The timer fired.
  case timer
  /// A middleware joins the chain.
  indirect case middleware(any Middleware, MiddlewarePosition)
  /// Every event from here on is journaled.
  case journal(@Sendable (Data) -> Void)
  /// Everything called before is wanted as bytes.
  case snapshot(@Sendable (Data) -> Void)
  /// The event log begins or ends to listen.
  indirect case observer(any SessionObserver, isAttached: Bool)
  /// Somebody waits for a state.
  indirect case waiter(Waiter)
  /// What the waiter of a number has waited for has come about.
  case fulfilled(UInt64)
  /// Nobody has the session any more: what comes after this is not taken.
  case released
}

/// Where a middleware joins the chain.
enum MiddlewarePosition: Sendable {
  case first
  case end
  case before(String)
  case after(String)
}

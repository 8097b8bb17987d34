/// What ties a closure to a publisher, until it is cancelled.
///
/// Releasing a subscription does **not** cancel it: a `sink` whose result is thrown away receives
/// values as long as the session lives. Keep the subscription only to cancel it earlier.
public final class SyncSubscription: Sendable {
  /// What ends the subscription; nil once it has run.
  private let cancellation: Locked<(@Sendable () -> Void)?>

  package init(_ cancellation: (@Sendable () -> Void)? = nil) {
    self.cancellation = Locked(cancellation)
  }

  /// Ends the subscription.
  ///
  /// After it returned, the closure is not called any more by the same thread, also when the call
  /// was made during a send. A call that another thread has begun may still be running. Cancelling
  /// again does nothing.
  public func cancel() {
    let cancellation = cancellation.withLock { stored in
      let taken = stored
      stored = nil
      return taken
    }
    cancellation?()
  }

  /// Appends the subscription to an array, to be cancelled later.
  public func store(in subscriptions: inout [SyncSubscription]) {
    subscriptions.append(self)
  }
}

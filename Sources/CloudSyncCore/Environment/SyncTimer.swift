/// A timer that fires one closure, at most once for each time that it is scheduled.
///
/// The closure, and the executor that it is called on, are given when the timer is made (see
/// ``SyncEnvironment/makeTimer``). Time is monotonic: setting the wall clock moves nothing. Called
/// on that executor, both methods are final: once they return, what was scheduled before them does
/// not fire any more. Releasing the timer cancels it.
public protocol SyncTimer: Sendable {
  /// Schedules the timer, in place of what was scheduled before.
  ///
  /// - Parameter nanoseconds: How long to wait; zero or less means as soon as possible, and never
  ///   inside this call.
  func schedule(after nanoseconds: Int64)

  /// Takes back what was scheduled.
  ///
  /// The timer can be scheduled again.
  func cancel()
}

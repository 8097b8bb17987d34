/// Everything that a session takes from the world: the clock, random numbers, threads and a timer.
///
/// The core asks for these nowhere else, so a session with a simulated environment is
/// deterministic. ``live`` is what an app uses.
public struct SyncEnvironment: Sendable {
  /// The wall clock, which may jump in either direction.
  public var now: @Sendable () -> Timestamp

  /// A number that no other call on any device is likely to return.
  ///
  /// It is the seed of an epoch: asked for once, when the epoch begins, and kept in the state.
  public var nonce: @Sendable () -> UInt64

  /// Makes the serial executor that a session decides and sends on; called once for a session.
  public var makeExecutor: @Sendable () -> SyncExecutor

  /// Makes the one timer of a session, which calls `fire` on the executor.
  ///
  /// The timer keeps the closure, and the session keeps the timer: `fire` must hold its session
  /// weakly.
  public var makeTimer:
    @Sendable (_ executor: SyncExecutor, _ fire: @escaping @Sendable () -> Void) -> any SyncTimer

  /// Creates an environment from its parts.
  public init(
    now: @escaping @Sendable () -> Timestamp,
    nonce: @escaping @Sendable () -> UInt64,
    makeExecutor: @escaping @Sendable () -> SyncExecutor,
    makeTimer:
      @escaping @Sendable (
        _ executor: SyncExecutor, _ fire: @escaping @Sendable () -> Void
      ) -> any SyncTimer
  ) {
    self.now = now
    self.nonce = nonce
    self.makeExecutor = makeExecutor
    self.makeTimer = makeTimer
  }
}

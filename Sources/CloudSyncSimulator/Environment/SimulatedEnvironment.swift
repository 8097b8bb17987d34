public import CloudSyncCore
import CloudSyncVirtualTime

/// A world in which time moves only when it is told to: one thread, one order of things.
///
/// Give a session its ``environment`` and let time pass: a test of a day takes no time, and goes the
/// same way whenever it is run.
///
/// ```swift
/// let world = SimulatedEnvironment()
/// let session = CloudSyncSession(
///   operationHandler: handler, zoneID: zoneID, environment: world.environment)
/// session.start()
/// world.advance(by: .seconds(60))
/// ```
///
/// Jobs of all executors run in the order in which they were given. What is due at the same time
/// happens in the order in which it was scheduled. Nonces count up from 1. What runs may schedule
/// more, but must not let time pass itself. Use a world from one thread at a time.
///
/// Several devices share one world: each has a ``SimulatedClock``, which may be wrong, and runs in a
/// ``SimulatedProcess``, which may be stalled or ended.
public final class SimulatedEnvironment: Sendable {
  /// The name of something that is scheduled.
  public struct Appointment: Sendable, Hashable, Comparable {
    let virtual: VirtualEnvironment.Appointment

    /// Orders by time, and what is due at the same time by when it was scheduled.
    public static func < (lhs: Self, rhs: Self) -> Bool { lhs.virtual < rhs.virtual }
  }

  let virtual: VirtualEnvironment

  /// Creates a world.
  ///
  /// - Parameters:
  ///   - start: What the time is at the beginning.
  ///   - jobLimit: How many jobs may run without time moving; then the world is stuck.
  public init(
    startingAt start: Timestamp = Timestamp(nanoseconds: 1_700_000_000_000_000_000),
    jobLimit: Int = 20_000_000
  ) {
    virtual = VirtualEnvironment(startingAt: start, jobLimit: jobLimit)
  }

  // MARK: Time

  /// The time in the world.
  public var now: Timestamp { virtual.now }

  /// How much time has passed.
  public var elapsed: Duration { virtual.elapsed }

  var elapsedNanoseconds: Int64 { virtual.elapsedNanoseconds }

  /// Whether nothing is to run, neither now nor later.
  public var isIdle: Bool { virtual.isIdle }

  /// Whether jobs made jobs without end while time stood still; nothing runs any more then.
  public var isStuck: Bool { virtual.isStuck }

  // MARK: What is given to a session

  /// Clock, executor, timers and nonces of this world; copies share them.
  public var environment: SyncEnvironment { SimulatedProcess(in: self).environment }

  /// Runs jobs in this world.
  public var executor: SyncExecutor { SimulatedProcess(in: self).executor }

  // MARK: Scheduling

  /// Lets a job run after those that are waiting.
  public func enqueue(_ job: @escaping @Sendable () -> Void) { virtual.enqueue(job) }

  /// Lets a job run when so much time has passed.
  @discardableResult
  public func schedule(
    after delay: Duration,
    _ job: @escaping @Sendable () -> Void
  ) -> Appointment {
    Appointment(virtual: virtual.schedule(after: delay, job))
  }

  /// Takes back what was scheduled; nothing happens if it has run.
  public func cancel(_ appointment: Appointment) { virtual.cancel(appointment.virtual) }

  /// Forgets everything that is waiting or scheduled.
  func close() { virtual.close() }

  // MARK: Letting time pass

  /// Runs all jobs and what is due; time stands still.
  public func run() { virtual.run() }

  /// Lets time pass, and runs what becomes due in its course, in order.
  public func advance(by amount: Duration) { virtual.advance(by: amount) }

  /// Goes from one thing to the next until nothing is left, or so much time has passed.
  ///
  /// - Returns: Whether nothing is left to run.
  @discardableResult
  public func runToEnd(limit: Duration = .seconds(86_400)) -> Bool {
    virtual.runToEnd(limit: limit)
  }

  /// Goes from one thing to the next as long as a condition holds, at most for a while.
  ///
  /// - Parameters:
  ///   - condition: Asked whenever time is about to move.
  ///   - limit: How much time may pass.
  /// - Returns: Whether the condition ended it, or nothing was left to run.
  @discardableResult
  public func run(while condition: () -> Bool, limit: Duration) -> Bool {
    virtual.run(while: condition, limit: limit)
  }
}

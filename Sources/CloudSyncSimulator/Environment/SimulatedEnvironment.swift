public import CloudSyncCore

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
    let time: Int64
    let number: Int

    /// Orders by time, and what is due at the same time by when it was scheduled.
    public static func < (lhs: Self, rhs: Self) -> Bool {
      (lhs.time, lhs.number) < (rhs.time, rhs.number)
    }
  }

  private struct Entry {
    let appointment: Appointment
    let job: @Sendable (Appointment) -> Void
  }

  private struct State {
    /// Nanoseconds since the beginning.
    var elapsed: Int64 = 0
    var nonces: UInt64 = 0
    var numbers = 0
    var isRunning = false
    /// How many jobs ran since time last moved.
    var jobsAtThisTime = 0
    var isStuck = false
    /// Jobs to run now; those before `head` have run.
    var jobs: [@Sendable () -> Void] = []
    var head = 0
    /// The next one last.
    var entries: [Entry] = []
  }

  private let start: Timestamp
  private let jobLimit: Int
  private let state = Locked(State())

  /// Creates a world.
  ///
  /// - Parameters:
  ///   - start: What the time is at the beginning.
  ///   - jobLimit: How many jobs may run without time moving; then the world is stuck.
  public init(
    startingAt start: Timestamp = Timestamp(nanoseconds: 1_700_000_000_000_000_000),
    jobLimit: Int = 20_000_000
  ) {
    self.start = start
    self.jobLimit = jobLimit
  }

  // MARK: Time

  /// The time in the world.
  public var now: Timestamp {
    Timestamp(nanoseconds: start.nanoseconds &+ state.withLock { $0.elapsed })
  }

  /// How much time has passed.
  public var elapsed: Duration { .nanoseconds(elapsedNanoseconds) }

  var elapsedNanoseconds: Int64 { state.withLock { $0.elapsed } }

  /// Whether nothing is to run, neither now nor later.
  public var isIdle: Bool {
    state.withLock { $0.head == $0.jobs.count && $0.entries.isEmpty }
  }

  /// Whether jobs made jobs without end while time stood still; nothing runs any more then.
  public var isStuck: Bool { state.withLock { $0.isStuck } }

  // MARK: What is given to a session

  /// Clock, executor, timers and nonces of this world; copies share them.
  public var environment: SyncEnvironment { SimulatedProcess(in: self).environment }

  /// Runs jobs in this world.
  public var executor: SyncExecutor { SimulatedProcess(in: self).executor }

  func nextNonce() -> UInt64 {
    state.withLock { state in
      state.nonces += 1
      return state.nonces
    }
  }

  // MARK: Scheduling

  /// Lets a job run after those that are waiting.
  public func enqueue(_ job: @escaping @Sendable () -> Void) {
    state.withLock { $0.jobs.append(job) }
  }

  /// Lets a job run when so much time has passed.
  @discardableResult
  public func schedule(
    after delay: Duration,
    _ job: @escaping @Sendable () -> Void
  ) -> Appointment {
    schedule(afterNanoseconds: delay.clampedNanoseconds) { _ in job() }
  }

  @discardableResult
  func schedule(
    afterNanoseconds delay: Int64,
    _ job: @escaping @Sendable (Appointment) -> Void
  ) -> Appointment {
    state.withLock { state in
      let (sum, isTooFar) = state.elapsed.addingReportingOverflow(max(0, delay))
      state.numbers += 1
      let appointment = Appointment(time: isTooFar ? .max : sum, number: state.numbers)
      let place = Self.place(of: appointment, in: state.entries)
      state.entries.insert(Entry(appointment: appointment, job: job), at: place)
      return appointment
    }
  }

  /// Takes back what was scheduled; nothing happens if it has run.
  public func cancel(_ appointment: Appointment) {
    let removed = state.withLock { state -> Entry? in
      let place = Self.place(of: appointment, in: state.entries)
      guard place < state.entries.count, state.entries[place].appointment == appointment else {
        return nil
      }
      return state.entries.remove(at: place)
    }
    _ = consume removed  // Released outside the lock.
  }

  /// Where an appointment is or belongs, from the last to the first.
  private static func place(of appointment: Appointment, in entries: [Entry]) -> Int {
    var low = 0
    var high = entries.count
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].appointment > appointment { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Forgets everything that is waiting or scheduled.
  func close() {
    let dropped = state.withLock { state -> ([@Sendable () -> Void], [Entry]) in
      defer {
        state.jobs = []
        state.head = 0
        state.entries = []
      }
      return (state.jobs, state.entries)
    }
    // Released outside the lock.
    withExtendedLifetime(dropped) {}
  }

  // MARK: Letting time pass

  /// Runs all jobs and what is due; time stands still.
  public func run() { whileRunning { runDue() } }

  /// Lets time pass, and runs what becomes due in its course, in order.
  public func advance(by amount: Duration) {
    precondition(
      amount >= .zero,
      "Time does not go back: use SimulatedClock.jump(by:) to set a clock."
    )
    let end = elapsedNanoseconds + amount.clampedNanoseconds
    run(to: end) { true }
    state.withLock { state in
      if !state.isStuck { state.elapsed = max(state.elapsed, end) }
    }
  }

  /// Goes from one thing to the next until nothing is left, or so much time has passed.
  ///
  /// - Returns: Whether nothing is left to run.
  @discardableResult
  public func runToEnd(limit: Duration = .seconds(86_400)) -> Bool {
    run(to: elapsedNanoseconds + limit.clampedNanoseconds) { true }
    return isIdle
  }

  /// Goes from one thing to the next as long as a condition holds, at most for a while.
  ///
  /// - Parameters:
  ///   - condition: Asked whenever time is about to move.
  ///   - limit: How much time may pass.
  /// - Returns: Whether the condition ended it, or nothing was left to run.
  @discardableResult
  public func run(while condition: () -> Bool, limit: Duration) -> Bool {
    let end = state.withLock { $0.elapsed } + limit.clampedNanoseconds
    return run(to: end, while: condition)
  }

  @discardableResult
  private func run(to end: Int64, while condition: () -> Bool) -> Bool {
    var isOver = false
    whileRunning {
      runDue()
      while true {
        guard condition() else {
          isOver = true
          return
        }
        guard moveToNext(upTo: end) else { break }
        runDue()
      }
    }
    return isOver || isIdle
  }

  /// Guards against a job that lets time pass itself.
  private func whileRunning(_ body: () -> Void) {
    let wasRunning = state.withLock { state in
      defer { state.isRunning = true }
      return state.isRunning
    }
    precondition(!wasRunning, "Do not let time pass from inside a job: schedule a job instead.")
    body()
    state.withLock { $0.isRunning = false }
  }

  /// Runs all jobs, and what is due, without moving time.
  private func runDue() {
    while let job = state.withLock({ next(&$0) }) { job() }
  }

  private func next(_ state: inout State) -> (@Sendable () -> Void)? {
    state.jobsAtThisTime += 1
    if state.jobsAtThisTime > jobLimit { state.isStuck = true }
    guard !state.isStuck else { return nil }
    if state.head < state.jobs.count {
      // Nothing of it stays: what it holds is released outside the lock.
      var job: @Sendable () -> Void = {}
      swap(&job, &state.jobs[state.head])
      state.head += 1
      if state.head == state.jobs.count || state.head == 1024 {
        state.jobs.removeFirst(state.head)
        state.head = 0
      }
      return job
    }
    guard let next = state.entries.last, next.appointment.time <= state.elapsed else { return nil }
    state.entries.removeLast()
    return { next.job(next.appointment) }
  }

  /// Moves time to what is scheduled next, if that is not after the end.
  private func moveToNext(upTo end: Int64) -> Bool {
    state.withLock { state in
      guard !state.isStuck, let next = state.entries.last, next.appointment.time <= end else {
        return false
      }
      if next.appointment.time > state.elapsed {
        state.elapsed = next.appointment.time
        state.jobsAtThisTime = 0
      }
      return true
    }
  }
}

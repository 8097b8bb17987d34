import CloudSyncCore

/// A world in which time moves only when a test says so: a run loop on the test's own thread.
///
/// Jobs of all executors run in one order, that in which they were given. Timers and delayed jobs
/// that are due at the same time fire in the order in which they were scheduled. Nonces count up
/// from 1. What runs may schedule more, but must not call `run` or `advance` itself. A test uses it
/// from one thread at a time.
final class VirtualEnvironment: Sendable {
  /// Something that is due at a time of the monotonic clock.
  private struct Appointment: Sendable {
    let time: Int64
    let number: Int
    let job: @Sendable () -> Void
  }

  private struct State: Sendable {
    /// Nanoseconds since the beginning, by the clock that timers go by.
    var elapsed: Int64 = 0
    /// What the wall clock showed, or would have shown, at the beginning.
    var origin: Int64 = 1_700_000_000_000_000_000
    var nonces: UInt64 = 0
    var numbers = 0
    var isRunning = false
    /// Jobs to run now; those before `head` have run.
    var jobs: [@Sendable () -> Void] = []
    var head = 0
    /// By time and then number, the next one last.
    var appointments: [Appointment] = []
  }

  private let state = Locked(State())

  /// How many jobs one call may run before it is taken for an endless loop.
  private static let maxJobs = 50_000_000

  /// The wall clock.
  var now: Timestamp {
    state.withLock { Timestamp(nanoseconds: $0.origin + $0.elapsed) }
  }

  /// How far the monotonic clock has moved.
  var elapsed: Duration {
    .nanoseconds(state.withLock { $0.elapsed })
  }

  /// Whether a job waits to be run.
  var hasJobs: Bool {
    state.withLock { $0.head < $0.jobs.count }
  }

  /// Whether nothing is to run, neither now nor later.
  var isIdle: Bool {
    state.withLock { $0.head == $0.jobs.count && $0.appointments.isEmpty }
  }

  /// The environment to give to a session; every copy shares this run loop.
  var environment: SyncEnvironment {
    SyncEnvironment(
      now: { self.now },
      nonce: {
        self.state.withLock { state in
          state.nonces += 1
          return state.nonces
        }
      },
      makeExecutor: { self.executor },
      makeTimer: { executor, fire in
        VirtualTimer(world: self, executor: executor, fire: fire)
      }
    )
  }

  /// Runs jobs on this run loop.
  var executor: SyncExecutor {
    SyncExecutor { job in self.enqueue(job) }
  }

  /// Lets the run loop run a job after those it has already.
  func enqueue(_ job: @escaping @Sendable () -> Void) {
    state.withLock { $0.jobs.append(job) }
  }

  /// Lets the run loop run a job when so much time has passed.
  @discardableResult
  func schedule(afterNanoseconds delay: Int64, _ job: @escaping @Sendable () -> Void) -> Int {
    state.withLock { state in
      let (sum, isTooFar) = state.elapsed.addingReportingOverflow(max(0, delay))
      state.numbers += 1
      let new = Appointment(
        time: isTooFar ? .max : sum,
        number: state.numbers,
        job: job
      )
      // Nearly always one of the next, so look from the end.
      let index = state.appointments.lastIndex { $0.time > new.time }.map { $0 + 1 } ?? 0
      state.appointments.insert(new, at: index)
      return new.number
    }
  }

  /// Takes back what was scheduled under a number.
  func unschedule(_ number: Int) {
    let removed = state.withLock { state -> Appointment? in
      guard let index = state.appointments.firstIndex(where: { $0.number == number }) else {
        return nil
      }
      return state.appointments.remove(at: index)
    }
    _ = consume removed  // Released outside the lock.
  }

  /// Moves the wall clock only, as a user who sets it does; timers do not notice.
  func jumpClock(by amount: Duration) {
    state.withLock { $0.origin += Self.nanoseconds(amount) }
  }

  /// Runs jobs, and timers that are due, until none is left; time stands still.
  func run() {
    whileRunning { runDue() }
  }

  /// Lets time pass, and runs what becomes due in its course, in order.
  func advance(by amount: Duration) {
    precondition(amount >= .zero, "Time does not go back; use jumpClock to set the wall clock.")
    let end = state.withLock { $0.elapsed } + Self.nanoseconds(amount)
    whileRunning {
      runDue()
      while moveToNext(upTo: end) { runDue() }
    }
    state.withLock { $0.elapsed = max($0.elapsed, end) }
  }

  /// Jumps from one appointment to the next until none is left, or so much time has passed.
  ///
  /// - Returns: Whether nothing is left to run.
  @discardableResult
  func runToEnd(limit: Duration = .seconds(86_400)) -> Bool {
    let end = state.withLock { $0.elapsed } + Self.nanoseconds(limit)
    whileRunning {
      runDue()
      while moveToNext(upTo: end) { runDue() }
    }
    return state.withLock { state in
      if !state.appointments.isEmpty { state.elapsed = end }
      return state.appointments.isEmpty
    }
  }

  /// Guards against a job that runs the loop it is run by.
  private func whileRunning(_ body: () -> Void) {
    let wasRunning = state.withLock { state in
      defer { state.isRunning = true }
      return state.isRunning
    }
    precondition(!wasRunning, "Do not run the loop from inside a job; schedule a job instead.")
    body()
    state.withLock { $0.isRunning = false }
  }

  /// Runs all jobs, and all appointments that are due, without moving time.
  private func runDue() {
    var count = 0
    while let job = state.withLock({ Self.nextJob(&$0) }) {
      job()
      count += 1
      precondition(count < Self.maxJobs, "Jobs make jobs without end, and time stands still.")
    }
  }

  private static func nextJob(_ state: inout State) -> (@Sendable () -> Void)? {
    if state.head < state.jobs.count {
      let job = state.jobs[state.head]
      state.head += 1
      if state.head == state.jobs.count || state.head == 1024 {
        state.jobs.removeFirst(state.head)
        state.head = 0
      }
      return job
    }
    guard let next = state.appointments.last, next.time <= state.elapsed else { return nil }
    return state.appointments.removeLast().job
  }

  /// Moves time to the next appointment, if that is not after the end.
  private func moveToNext(upTo end: Int64) -> Bool {
    state.withLock { state in
      guard let next = state.appointments.last, next.time <= end else { return false }
      state.elapsed = max(state.elapsed, next.time)
      return true
    }
  }

  private static func nanoseconds(_ duration: Duration) -> Int64 {
    let (seconds, attoseconds) = duration.components
    return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
  }
}

/// A timer of a virtual environment, with the promises of `SyncTimer`.
private final class VirtualTimer: SyncTimer {
  /// The number of the appointment that is current, nil when there is none.
  private let current = Locked<Int?>(nil)
  private let world: VirtualEnvironment
  private let executor: SyncExecutor
  private let fire: @Sendable () -> Void

  init(world: VirtualEnvironment, executor: SyncExecutor, fire: @escaping @Sendable () -> Void) {
    self.world = world
    self.executor = executor
    self.fire = fire
  }

  deinit {
    cancel()
  }

  func schedule(after nanoseconds: Int64) {
    cancel()
    // The number is known only after the appointment is made, but time stands still meanwhile.
    let identity = Locked<Int?>(nil)
    let number = world.schedule(afterNanoseconds: nanoseconds) { [weak self] in
      guard let self, let number = identity.withLock({ $0 }) else { return }
      executor.run { [weak self] in self?.deliver(number) }
    }
    identity.withLock { $0 = number }
    current.withLock { $0 = number }
  }

  func cancel() {
    let number = current.withLock { current in
      defer { current = nil }
      return current
    }
    if let number { world.unschedule(number) }
  }

  private func deliver(_ number: Int) {
    let isCurrent = current.withLock { current in
      guard current == number else { return false }
      current = nil
      return true
    }
    if isCurrent { fire() }
  }
}

package import CloudSyncCore

/// A run loop in virtual time: jobs run in one order on the calling thread, and time moves only when
/// it is told to.
///
/// Jobs of all executors run in the order in which they were given. What is due at the same time
/// runs in the order in which it was scheduled. What runs may schedule more, but must not run the
/// loop itself. Use a loop from one thread at a time.
package final class VirtualEnvironment: Sendable {
  package typealias Job = @Sendable () -> Void

  /// A job that is scheduled: when, and which one.
  package struct Appointment: Sendable, Hashable, Comparable {
    let time: Int64
    let number: Int

    /// Orders by time, and what is due at the same time by when it was scheduled.
    package static func < (lhs: Self, rhs: Self) -> Bool {
      (lhs.time, lhs.number) < (rhs.time, rhs.number)
    }
  }

  private struct Entry {
    let appointment: Appointment
    let job: @Sendable (Appointment) -> Void
  }

  private struct State {
    /// Nanoseconds since the beginning, by the clock that timers go by.
    var elapsed: Int64 = 0
    /// What the wall clock showed at the beginning, plus the steps by which it was set since.
    var origin: Timestamp
    /// The nonces that are laid down, the next one last; after them they count up.
    var nonces: [UInt64]
    var lastNonce: UInt64 = 0
    /// How many appointments there were.
    var numbers = 0
    var isRunning = false
    /// How many jobs ran since time last moved.
    var jobsAtThisTime = 0
    var isStuck = false
    /// Jobs to run now; those before `head` have run.
    var jobs: [Job] = []
    var head = 0
    /// The next one last.
    var entries: [Entry] = []
  }

  private let jobLimit: Int
  private let state: Locked<State>

  /// Creates a loop.
  ///
  /// - Parameters:
  ///   - start: What the clock shows at the beginning.
  ///   - nonces: The first nonces, in order; after the last they count up by one.
  ///   - jobLimit: How many jobs may run without time moving; then the loop is stuck.
  package init(
    startingAt start: Timestamp = Timestamp(nanoseconds: 1_700_000_000_000_000_000),
    nonces: [UInt64] = [],
    jobLimit: Int = 20_000_000
  ) {
    self.jobLimit = jobLimit
    state = Locked(State(origin: start, nonces: nonces.reversed()))
  }

  // MARK: Time

  /// What the wall clock shows.
  package var now: Timestamp {
    state.withLock { Timestamp(nanoseconds: $0.origin.nanoseconds &+ $0.elapsed) }
  }

  /// How much time has passed, whatever the wall clock was set to.
  package var elapsed: Duration { .nanoseconds(elapsedNanoseconds) }

  package var elapsedNanoseconds: Int64 { state.withLock { $0.elapsed } }

  /// Moves the wall clock only, as a user who sets it does; timers do not notice.
  package func jumpClock(by amount: Duration) {
    let nanoseconds = amount.signedNanoseconds
    state.withLock {
      $0.origin = Timestamp(nanoseconds: $0.origin.nanoseconds &+ nanoseconds)
    }
  }

  /// Whether a job waits to be run at once.
  package var hasJobs: Bool { state.withLock { $0.head < $0.jobs.count } }

  /// Whether nothing is to run, neither now nor later.
  package var isIdle: Bool {
    state.withLock { $0.head == $0.jobs.count && $0.entries.isEmpty }
  }

  /// Whether jobs made jobs without end while time stood still; nothing runs any more then.
  package var isStuck: Bool { state.withLock { $0.isStuck } }

  // MARK: What is given to a session

  /// Clock, executor, timers and nonces of this loop; copies share them.
  package var environment: SyncEnvironment {
    SyncEnvironment(
      now: { self.now },
      nonce: { self.nextNonce() },
      makeExecutor: { self.executor },
      makeTimer: { executor, fire in VirtualTimer(on: self, executor: executor, fire: fire) }
    )
  }

  /// Runs jobs on this loop.
  package var executor: SyncExecutor { SyncExecutor { self.enqueue($0) } }

  /// The next nonce: laid down, or one more than the last.
  package func nextNonce() -> UInt64 {
    state.withLock { state in
      state.lastNonce = state.nonces.popLast() ?? state.lastNonce &+ 1
      return state.lastNonce
    }
  }

  // MARK: Scheduling

  /// Lets a job run after those that are waiting.
  package func enqueue(_ job: @escaping Job) { state.withLock { $0.jobs.append(job) } }

  /// Lets a job run when so much time has passed.
  @discardableResult
  package func schedule(after delay: Duration, _ job: @escaping Job) -> Appointment {
    schedule(afterNanoseconds: delay.clampedNanoseconds, job)
  }

  /// Lets a job run when so many nanoseconds have passed.
  @discardableResult
  package func schedule(afterNanoseconds delay: Int64, _ job: @escaping Job) -> Appointment {
    makeAppointment(afterNanoseconds: delay) { _ in job() }
  }

  /// Lets a job, which is told its appointment, run when so many nanoseconds have passed.
  @discardableResult
  package func makeAppointment(
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
  package func cancel(_ appointment: Appointment) {
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
    entries.indices.firstPlace { entries[$0].appointment <= appointment }
  }

  /// Forgets everything that is waiting or scheduled.
  package func close() {
    let dropped = state.withLock { state -> ([Job], [Entry]) in
      defer {
        state.jobs = []
        state.head = 0
        state.entries = []
      }
      return (state.jobs, state.entries)
    }
    // Released outside the lock, because what is released may schedule or cancel.
    withExtendedLifetime(dropped) {}
  }

  // MARK: Letting time pass

  /// Runs all jobs and what is due; time stands still.
  package func run() { whileRunning { runDue() } }

  /// Lets time pass, and runs what becomes due in its course, in order.
  package func advance(by amount: Duration) {
    precondition(amount >= .zero, "Time does not go back: set the wall clock back instead.")
    let end = elapsedNanoseconds + amount.clampedNanoseconds
    run(to: end) { true }
    move(toNanoseconds: end)
  }

  /// Goes from one appointment to the next until nothing is left, or so much time has passed.
  ///
  /// - Returns: Whether nothing is left to run.
  @discardableResult
  package func runToEnd(limit: Duration = .seconds(86_400)) -> Bool {
    let end = elapsedNanoseconds + limit.clampedNanoseconds
    run(to: end) { true }
    if !isIdle { move(toNanoseconds: end) }
    return isIdle
  }

  /// Goes from one appointment to the next as long as a condition holds, at most for a while.
  ///
  /// - Parameters:
  ///   - condition: Asked whenever time is about to move.
  ///   - limit: How much time may pass.
  /// - Returns: Whether the condition ended it, or nothing was left to run.
  @discardableResult
  package func run(while condition: () -> Bool, limit: Duration) -> Bool {
    run(to: elapsedNanoseconds + limit.clampedNanoseconds, while: condition)
  }

  /// Runs everything that is due up to and including a time, without moving there.
  ///
  /// - Parameters:
  ///   - end: The time, in nanoseconds since the beginning.
  ///   - isOver: Whether to stop at once; asked before every job.
  package func run(throughNanoseconds end: Int64, until isOver: () -> Bool) {
    whileRunning {
      while !isOver() {
        if let job = state.withLock({ next(&$0) }) {
          job()
        } else if !moveToNext(upTo: end) {
          break
        }
      }
    }
  }

  /// Moves time forward to a number of nanoseconds since the beginning, when nothing is due before.
  package func move(toNanoseconds time: Int64) {
    state.withLock { state in
      guard !state.isStuck, time > state.elapsed else { return }
      state.elapsed = time
      state.jobsAtThisTime = 0
    }
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

  /// Takes the next job that is due, if there is one.
  private func next(_ state: inout State) -> Job? {
    state.jobsAtThisTime += 1
    if state.jobsAtThisTime > jobLimit { state.isStuck = true }
    guard !state.isStuck else { return nil }
    if state.head < state.jobs.count {
      // Nothing of it stays: what it holds is released outside the lock.
      var job: Job = {}
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

  /// Moves time to the next appointment, if that is not after the end.
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

extension Duration {
  /// The duration in nanoseconds, below zero too, and the nearest there is if it is too long.
  package var signedNanoseconds: Int64 {
    self < .zero ? -(Duration.zero - self).clampedNanoseconds : clampedNanoseconds
  }
}

import CloudSyncCore

/// The world of a script: a clock that jumps from one appointment to the next, on one thread.
///
/// What is due at the same time happens in the order in which it was arranged.
final class ScriptWorld: Sendable {
  typealias Job = @Sendable () -> Void

  private struct Appointment: Sendable {
    var time: Int64
    var number: Int
    var job: Job
  }

  private struct Contents: Sendable {
    let beginning: Timestamp
    /// Nanoseconds since the beginning.
    var elapsed: Int64 = 0
    /// The nonces to come, the next one last.
    var nonces: [UInt64]
    var lastNonce: UInt64 = 0
    /// Jobs to be done now; those before `done` have been.
    var jobs: [Job] = []
    var done = 0
    /// By time and number, the next one last.
    var appointments: [Appointment] = []
    var appointmentCount = 0
  }

  private let contents: Locked<Contents>

  init(beginning: Timestamp, nonces: [UInt64]) {
    contents = Locked(Contents(beginning: beginning, nonces: nonces.reversed()))
  }

  /// Nanoseconds since the beginning.
  var elapsed: Int64 { contents.withLock { $0.elapsed } }

  /// What a session is given.
  var environment: SyncEnvironment {
    SyncEnvironment(
      now: { self.contents.withLock { $0.beginning.advanced(byNanoseconds: $0.elapsed) } },
      nonce: { self.contents.withLock { Self.nextNonce(&$0) } },
      makeExecutor: { SyncExecutor { self.enqueue($0) } },
      makeTimer: { _, fire in ScriptTimer(world: self, fire: fire) }
    )
  }

  private static func nextNonce(_ contents: inout Contents) -> UInt64 {
    contents.lastNonce = contents.nonces.popLast() ?? contents.lastNonce &+ 1
    return contents.lastNonce
  }

  func enqueue(_ job: @escaping Job) { contents.withLock { $0.jobs.append(job) } }

  /// Arranges a job; returns the number by which it can be taken back.
  @discardableResult
  func schedule(after nanoseconds: Int64, _ job: @escaping Job) -> Int {
    contents.withLock { contents in
      let (sum, isTooFar) = contents.elapsed.addingReportingOverflow(max(0, nanoseconds))
      let time = isTooFar ? Int64.max : sum
      contents.appointmentCount += 1
      let place = contents.appointments.lastIndex { $0.time > time }.map { $0 + 1 } ?? 0
      contents.appointments.insert(
        Appointment(time: time, number: contents.appointmentCount, job: job),
        at: place
      )
      return contents.appointmentCount
    }
  }

  func unschedule(_ number: Int) {
    let gone = contents.withLock { contents -> Appointment? in
      let place = contents.appointments.firstIndex { $0.number == number }
      return place.map { contents.appointments.remove(at: $0) }
    }
    _ = consume gone  // Released outside the lock.
  }

  /// Does everything that is due up to and including a time, and lets time pass until then.
  ///
  /// - Parameters:
  ///   - end: The time.
  ///   - isOver: Whether to stop at once; asked after every job.
  func run(through end: Int64, isOver: () -> Bool) {
    while !isOver(), let job = contents.withLock({ Self.nextJob(&$0, through: end) }) { job() }
  }

  /// Moves the clock, when nothing is due before.
  func move(to time: Int64) { contents.withLock { $0.elapsed = max($0.elapsed, time) } }

  private static func nextJob(_ contents: inout Contents, through end: Int64) -> Job? {
    if contents.done < contents.jobs.count {
      defer {
        contents.done += 1
        if contents.done == contents.jobs.count {
          contents.jobs.removeAll(keepingCapacity: true)
          contents.done = 0
        }
      }
      return contents.jobs[contents.done]
    }
    guard let next = contents.appointments.last, next.time <= end else { return nil }
    contents.elapsed = max(contents.elapsed, next.time)
    return contents.appointments.removeLast().job
  }
}

/// The one timer of a session in such a world.
private final class ScriptTimer: SyncTimer {
  private let current = Locked<Int?>(nil)
  private let world: ScriptWorld
  private let fire: @Sendable () -> Void

  init(world: ScriptWorld, fire: @escaping @Sendable () -> Void) {
    self.world = world
    self.fire = fire
  }

  deinit { cancel() }

  func schedule(after nanoseconds: Int64) {
    cancel()
    let number = world.schedule(after: nanoseconds) { [weak self] in
      guard let self else { return }
      current.withLock { $0 = nil }
      fire()
    }
    current.withLock { $0 = number }
  }

  func cancel() {
    let number = current.withLock { current in
      defer { current = nil }
      return current
    }
    if let number { world.unschedule(number) }
  }
}

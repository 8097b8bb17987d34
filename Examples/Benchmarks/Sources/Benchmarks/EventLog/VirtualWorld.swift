import CloudSyncSession

/// A world whose time moves only when it is told to: a run loop on the calling thread.
final class VirtualWorld: @unchecked Sendable {
  // It is unchecked because the benchmark uses it from one thread.
  private var elapsed: Int64 = 0
  private var jobs: [@Sendable () -> Void] = []
  /// The next one last.
  private var appointments: [(time: Int64, job: @Sendable () -> Void)] = []

  private final class Timer: SyncTimer, @unchecked Sendable {
    // It is unchecked because the benchmark uses it from one thread.
    private unowned let world: VirtualWorld
    private let fire: @Sendable () -> Void
    private var number = 0

    init(_ world: VirtualWorld, _ fire: @escaping @Sendable () -> Void) {
      self.world = world
      self.fire = fire
    }

    func schedule(after nanoseconds: Int64) {
      number += 1
      let scheduled = number
      world.after(nanoseconds) { [weak self] in
        if let self, number == scheduled { fire() }
      }
    }

    func cancel() { number += 1 }
  }

  var environment: SyncEnvironment {
    SyncEnvironment(
      now: { Timestamp(nanoseconds: 1_700_000_000_000_000_000 + self.elapsed) },
      nonce: { 7 },
      makeExecutor: { SyncExecutor { job in self.jobs.append(job) } },
      makeTimer: { _, fire in Timer(self, fire) }
    )
  }

  /// Has a job run when so much time has passed.
  func after(_ nanoseconds: Int64, _ job: @escaping @Sendable () -> Void) {
    let time = elapsed + max(0, min(nanoseconds, 1 << 60))
    // Nearly always one of the next, so look from the end.
    let place = appointments.lastIndex { $0.time > time }.map { $0 + 1 } ?? 0
    appointments.insert((time, job), at: place)
  }

  /// Lets time pass, and runs what becomes due.
  func advance(milliseconds: Int) {
    let end = elapsed + Int64(milliseconds) * 1_000_000
    runJobs()
    while let next = appointments.last, next.time <= end {
      appointments.removeLast()
      elapsed = max(elapsed, next.time)
      next.job()
      runJobs()
    }
    elapsed = end
  }

  private func runJobs() {
    while !jobs.isEmpty {
      let now = jobs
      jobs = []
      for job in now { job() }
    }
  }
}

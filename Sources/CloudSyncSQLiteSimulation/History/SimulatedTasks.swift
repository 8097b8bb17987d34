import CloudSyncCore

/// Runs asynchronous calls of an app on the one thread of a simulation, in the order of its jobs.
struct SimulatedTasks: Sendable {
  /// Begins a task, which runs with the jobs of the process.
  let begin: @Sendable (_ body: @escaping @Sendable () async -> Void) -> Void
  /// Runs what is left of all tasks at once: their process has ended, and nothing comes of what they do.
  let drain: @Sendable () -> Void

  init(on executor: SyncExecutor) {
    guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else {
      preconditionFailure("A simulation of histories needs macOS 15, iOS 18 or later.")
    }
    let jobs = SimulatedJobs(executor: executor)
    begin = { body in _ = Task(executorPreference: jobs) { await body() } }
    drain = { jobs.drain() }
  }
}

/// The jobs of tasks, each run by a job of the process.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
private final class SimulatedJobs: TaskExecutor {
  private let executor: SyncExecutor
  private let waiting = Locked<[UnownedJob]>([])

  init(executor: SyncExecutor) { self.executor = executor }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    waiting.withLock { $0.append(job) }
    executor.run { [self] in _ = runNext() }
  }

  func drain() { while runNext() {} }

  private func runNext() -> Bool {
    let job = waiting.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    guard let job else { return false }
    job.runSynchronously(on: asUnownedTaskExecutor())
    return true
  }
}

import CloudSyncCore
import Dispatch

/// Runs what waits for others to its end on the thread that asks for it, as a command does.
///
/// A thread of Swift's pool that only waited for another of its threads would be missing there; and where
/// all of them did, none would go on. So the steps of the work run on the thread that waits.
enum CallingThread {
  /// Runs the body to its end, and returns or throws what it does.
  ///
  /// - Parameters:
  ///   - look: Called on this thread every half second in which there is nothing to do.
  ///   - body: The work.
  /// - Returns: What the body gives.
  /// - Throws: What the body throws.
  static func run<Value: Sendable>(
    whileWaiting look: () -> Void = {},
    _ body: @escaping @Sendable () async throws -> Value
  ) throws -> Value {
    let result = Locked<Result<Value, any Error>?>(nil)
    let work: @Sendable () async -> Void = {
      let outcome: Result<Value, any Error>
      do { outcome = .success(try await body()) } catch { outcome = .failure(error) }
      result.withLock { $0 = outcome }
    }
    if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
      let steps = Steps()
      Task(executorPreference: steps) {
        await work()
        steps.end()
      }
      steps.run(whileWaiting: look)
    } else {
      // These systems run every task in their pool, of which a tool's own thread is none.
      let done = DispatchSemaphore(value: 0)
      Task {
        await work()
        done.signal()
      }
      while done.wait(timeout: .now() + Self.pause) == .timedOut { look() }
    }
    guard let outcome = result.withLock({ $0 }) else {
      throw ToolError.failure("the work has ended without a result")
    }
    return try outcome.get()
  }

  private static let pause = DispatchTimeInterval.milliseconds(500)

  /// What a task has to do next, until it has ended.
  @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
  private final class Steps: TaskExecutor {
    private struct State {
      var jobs: [UnownedJob] = []
      var hasEnded = false
    }

    private let state = Locked(State())
    private let signal = DispatchSemaphore(value: 0)

    func enqueue(_ job: consuming ExecutorJob) {
      let next = UnownedJob(job)
      state.withLock { $0.jobs.append(next) }
      signal.signal()
    }

    func end() {
      state.withLock { $0.hasEnded = true }
      signal.signal()
    }

    /// Runs one step after another on this thread.
    ///
    /// Steps that come after the end still run.
    func run(whileWaiting look: () -> Void) {
      while true {
        let (jobs, isOver) = state.withLock { state in
          let jobs = state.jobs
          state.jobs = []
          return (jobs, state.hasEnded && jobs.isEmpty)
        }
        if isOver { return }
        for job in jobs { job.runSynchronously(on: asUnownedTaskExecutor()) }
        guard jobs.isEmpty else { continue }
        if signal.wait(timeout: .now() + CallingThread.pause) == .timedOut { look() }
      }
    }
  }
}

public import Dispatch

/// Something that runs jobs one after the other, in the order in which they were given.
///
/// A session decides and sends on one executor of its own, and calls its subscribers on one that
/// the app gives. An executor must run every job exactly once, never two at a time, and never lose
/// one: a session waits for its jobs.
///
/// ```swift
/// let main = SyncExecutor.queue(.main)
/// let logged = SyncExecutor { job in
///   logger.trace("A job was given.")
///   queue.async(execute: job)
/// }
/// ```
public struct SyncExecutor: Sendable {
  private let body: @Sendable (_ job: @escaping @Sendable () -> Void) -> Void

  /// Creates an executor from a closure that runs a closure.
  ///
  /// - Parameter run: Runs the job once, now or later, after all jobs given before it. It is called
  ///   from any thread.
  public init(_ run: @escaping @Sendable (_ job: @escaping @Sendable () -> Void) -> Void) {
    body = run
  }

  /// Runs a job after all jobs given before it.
  ///
  /// - Parameter job: What to run. It is called exactly once.
  public func run(_ job: @escaping @Sendable () -> Void) {
    body(job)
  }

  /// Runs a job at once, on the calling thread, before `run(_:)` returns.
  ///
  /// A job given from inside a job runs inside it, and threads do not wait for each other: order is
  /// what the callers make it.
  public static let immediate = SyncExecutor { job in job() }

  /// Runs jobs on a dispatch queue.
  ///
  /// - Parameter queue: A serial queue; a concurrent one would break the order.
  /// - Returns: An executor that does not wait for the jobs.
  public static func queue(_ queue: DispatchQueue) -> SyncExecutor {
    SyncExecutor { job in queue.async(execute: job) }
  }
}

public import CloudSyncCore
import CloudSyncVirtualTime

/// A running app on a simulated device: it can be stalled, as a suspended app is, and ended.
///
/// Whatever a session does goes through its process: jobs and timers of a stalled one wait, in their
/// order; those of one that has ended never run.
public final class SimulatedProcess: Sendable {
  private struct State {
    var hasEnded = false
    var isStalled = false
    /// Jobs that have not run.
    var jobs: [@Sendable () -> Void] = []
    var head = 0
    /// How many turns came while the process was stalled.
    var missedTurns = 0
  }

  /// The device's clock.
  public let clock: SimulatedClock
  private let world: SimulatedEnvironment
  private let state = Locked(State())

  /// Starts a process.
  ///
  /// - Parameters:
  ///   - world: Where it runs.
  ///   - clock: The clock of its device; one that shows the world's time by default.
  public init(in world: SimulatedEnvironment, clock: SimulatedClock? = nil) {
    self.world = world
    self.clock = clock ?? SimulatedClock(in: world)
  }

  /// Whether the process has not ended.
  public var isAlive: Bool { state.withLock { !$0.hasEnded } }
  /// Whether the process is stalled.
  public var isStalled: Bool { state.withLock { $0.isStalled } }

  /// What a session of this process takes from the world.
  public var environment: SyncEnvironment {
    SyncEnvironment(
      now: { self.clock.now },
      nonce: { self.world.virtual.nextNonce() },
      makeExecutor: { self.executor },
      makeTimer: { executor, fire in
        VirtualTimer(on: self.world.virtual, executor: executor, fire: fire)
      }
    )
  }

  /// Runs jobs of the process, one after the other.
  public var executor: SyncExecutor {
    SyncExecutor { job in
      let hasEnded = self.state.withLock { state in
        if !state.hasEnded { state.jobs.append(job) }
        return state.hasEnded
      }
      if !hasEnded { self.world.enqueue { self.takeTurn() } }
    }
  }

  /// Lets nothing of the process run until it is released.
  public func stall() { state.withLock { $0.isStalled = true } }

  /// Lets a stalled process go on, with all that has waited.
  public func release() {
    let turns = state.withLock { state in
      state.isStalled = false
      defer { state.missedTurns = 0 }
      return state.missedTurns
    }
    for _ in 0..<turns { world.enqueue { self.takeTurn() } }
  }

  /// Ends the process: nothing of it runs any more.
  public func end() {
    let dropped = state.withLock { state -> [@Sendable () -> Void] in
      state.hasEnded = true
      defer {
        state.jobs = []
        state.head = 0
      }
      return state.jobs
    }
    // Released outside the lock, because a job may hold the last reference to a session; later,
    // because that session may be the one that is running.
    if !dropped.isEmpty { world.enqueue { _ = dropped.count } }
  }

  /// Runs the next job.
  private func takeTurn() {
    let job = state.withLock { state -> (@Sendable () -> Void)? in
      guard !state.hasEnded else { return nil }
      guard !state.isStalled else {
        state.missedTurns += 1
        return nil
      }
      guard state.head < state.jobs.count else { return nil }
      // Nothing of it stays: what it holds is released outside the lock.
      var job: @Sendable () -> Void = {}
      swap(&job, &state.jobs[state.head])
      state.head += 1
      if state.head == state.jobs.count || state.head == 256 {
        state.jobs.removeFirst(state.head)
        state.head = 0
      }
      return job
    }
    job?()
  }
}

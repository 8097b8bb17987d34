import Dispatch

/// A timer on one dispatch source, which is made once and rescheduled.
///
/// The source fires on a queue of its own, so a job for the executor may already be under way when
/// the timer is rescheduled or cancelled. That is why each scheduling has a number: a job whose
/// number is not current does nothing.
final class DispatchTimer: SyncTimer {
  private struct State {
    let source: any DispatchSourceTimer
    /// Counts calls of `schedule` and `cancel`.
    var number: UInt64 = 0
    /// When to fire, by the monotonic clock; nil when nothing is scheduled.
    var deadline: DispatchTime?
  }

  private let state: Locked<State>
  private let executor: SyncExecutor
  private let fire: @Sendable () -> Void

  init(executor: SyncExecutor, fire: @escaping @Sendable () -> Void) {
    self.executor = executor
    self.fire = fire
    // A queue of its own: the global ones fire nothing while the app keeps all their threads busy.
    let queue = DispatchQueue(label: "CloudSyncSession.timer")
    state = Locked(State(source: DispatchSource.makeTimerSource(queue: queue)))
    state.withLock { state in
      state.source.setEventHandler { [weak self] in self?.sourceFired() }
      state.source.schedule(deadline: .distantFuture)
      // Active from the start: releasing a source that never was traps.
      state.source.activate()
    }
  }

  deinit {
    state.withLock { $0.source.cancel() }
  }

  func schedule(after nanoseconds: Int64) {
    let delay = max(0, nanoseconds)
    let leeway = Int(min(delay / 50, Self.maxLeeway))
    let deadline = Self.deadline(after: delay, from: .now())
    state.withLock { state in
      state.number += 1
      state.deadline = deadline
      state.source.schedule(deadline: deadline, leeway: .nanoseconds(leeway))
    }
  }

  func cancel() {
    state.withLock { state in
      state.number += 1
      state.deadline = nil
      state.source.schedule(deadline: .distantFuture)
    }
  }

  /// The time so many nanoseconds after another; never, if the clock does not count so far.
  ///
  /// Not by an interval of Dispatch's: its `Int` ends at 2.1 seconds on watches of 32 bits.
  static func deadline(after nanoseconds: Int64, from start: DispatchTime) -> DispatchTime {
    let (sum, overflow) = start.uptimeNanoseconds.addingReportingOverflow(
      UInt64(max(0, nanoseconds))
    )
    // Dispatch keeps other clocks' times in the numbers from 2^62.
    return overflow || sum >= 1 << 62 ? .distantFuture : DispatchTime(uptimeNanoseconds: sum)
  }

  /// How much later than asked the system may fire to save energy, in nanoseconds: a second, which
  /// an `Int` of 32 bits holds.
  private static let maxLeeway: Int64 = 1_000_000_000

  /// Hands the firing to the executor, unless it is that of an earlier scheduling.
  private func sourceFired() {
    let due = state.withLock { state -> UInt64? in
      guard let deadline = state.deadline else { return nil }
      guard DispatchTime.now() >= deadline else {
        state.source.schedule(deadline: deadline)
        return nil
      }
      return state.number
    }
    guard let due else { return }
    executor.run { [weak self] in self?.deliver(due) }
  }

  /// Calls the closure if the scheduling is still the current one; runs on the executor.
  private func deliver(_ number: UInt64) {
    let isCurrent = state.withLock { state in
      guard state.number == number, state.deadline != nil else { return false }
      state.deadline = nil
      return true
    }
    if isCurrent { fire() }
  }
}

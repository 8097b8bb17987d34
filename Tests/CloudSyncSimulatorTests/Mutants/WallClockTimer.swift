import CloudSyncCore

/// A timer that does not fire before the wall clock shows the time.
final class WallClockTimer: SyncTimer {
  private let timer: any SyncTimer
  /// The same timer, for when it is to fire once more.
  private let again: Locked<(any SyncTimer)?>
  private let due: Locked<Timestamp>
  private let now: @Sendable () -> Timestamp

  init(of base: SyncEnvironment, on executor: SyncExecutor, fire: @escaping @Sendable () -> Void) {
    let due = Locked(Timestamp(nanoseconds: 0))
    let again = Locked<(any SyncTimer)?>(nil)
    let timer = base.makeTimer(executor) {
      let left = due.withLock { $0.nanoseconds } - base.now().nanoseconds
      if left > 0 { again.withLock { $0 }?.schedule(after: left) } else { fire() }
    }
    again.withLock { $0 = timer }
    self.again = again
    self.timer = timer
    self.due = due
    now = base.now
  }

  // The timer holds itself by it.
  deinit { again.withLock { $0 = nil } }

  func schedule(after nanoseconds: Int64) {
    let end = now().advanced(byNanoseconds: nanoseconds)
    due.withLock { $0 = end }
    timer.schedule(after: nanoseconds)
  }

  func cancel() { timer.cancel() }
}

import CloudSyncCore

/// A timer of a simulated world, with the promises of `SyncTimer`.
final class SimulatedTimer: SyncTimer {
  /// The appointment that is current, nil when there is none.
  private let current = Locked<SimulatedEnvironment.Appointment?>(nil)
  private let world: SimulatedEnvironment
  private let executor: SyncExecutor
  private let fire: @Sendable () -> Void

  init(
    in world: SimulatedEnvironment,
    executor: SyncExecutor,
    fire: @escaping @Sendable () -> Void
  ) {
    self.world = world
    self.executor = executor
    self.fire = fire
  }

  deinit { cancel() }

  func schedule(after nanoseconds: Int64) {
    cancel()
    let appointment = world.schedule(afterNanoseconds: nanoseconds) { [weak self] appointment in
      guard let self else { return }
      executor.run { [weak self] in self?.deliver(appointment) }
    }
    current.withLock { $0 = appointment }
  }

  func cancel() {
    let appointment = current.withLock { current in
      defer { current = nil }
      return current
    }
    if let appointment { world.cancel(appointment) }
  }

  private func deliver(_ appointment: SimulatedEnvironment.Appointment) {
    let isCurrent = current.withLock { current in
      guard current == appointment else { return false }
      current = nil
      return true
    }
    if isCurrent { fire() }
  }
}

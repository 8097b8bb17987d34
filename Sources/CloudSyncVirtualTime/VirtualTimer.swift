package import CloudSyncCore

/// A timer in virtual time, with the promises of `SyncTimer`.
package final class VirtualTimer: SyncTimer {
  /// The appointment that is current, nil when there is none.
  private let current = Locked<VirtualEnvironment.Appointment?>(nil)
  private let world: VirtualEnvironment
  private let executor: SyncExecutor
  private let fire: @Sendable () -> Void

  /// Creates a timer.
  ///
  /// - Parameters:
  ///   - world: The loop whose time it goes by.
  ///   - executor: Where it fires.
  ///   - fire: What it does then.
  package init(
    on world: VirtualEnvironment,
    executor: SyncExecutor,
    fire: @escaping @Sendable () -> Void
  ) {
    self.world = world
    self.executor = executor
    self.fire = fire
  }

  deinit { cancel() }

  package func schedule(after nanoseconds: Int64) {
    cancel()
    let appointment = world.makeAppointment(afterNanoseconds: nanoseconds) { [weak self] due in
      guard let self else { return }
      executor.run { [weak self] in self?.deliver(due) }
    }
    current.withLock { $0 = appointment }
  }

  package func cancel() {
    let appointment = current.withLock { current in
      defer { current = nil }
      return current
    }
    if let appointment { world.cancel(appointment) }
  }

  /// Fires, unless the timer was set again or cancelled while the firing waited on the executor.
  private func deliver(_ appointment: VirtualEnvironment.Appointment) {
    let isCurrent = current.withLock { current in
      guard current == appointment else { return false }
      current = nil
      return true
    }
    if isCurrent { fire() }
  }
}

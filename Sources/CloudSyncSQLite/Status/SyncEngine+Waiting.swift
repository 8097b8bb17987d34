import CloudSyncCore

extension SyncEngine {
  /// Sends and fetches, and calls a function when both are done or the engine stops.
  ///
  /// - Parameter completion: Called once, on any thread; at once if the engine is stopped.
  public func syncChanges(completion: @escaping @Sendable () -> Void) {
    guard isRunning else { return completion() }
    sendChanges()
    fetchChanges()
    state.withLock { $0.waiters.append(completion) }
    // After everything that was called for before.
    executor.run { [self] in report() }
  }
}

import CloudSyncCore

/// Somebody who waits for a fetch, and is told once what it has brought.
final class FetchWaiter: Sendable {
  private let waiter: SyncWaiter<FetchOutcome>
  /// How many records had been fetched before.
  private let received: Int

  init(received: Int, _ completion: @escaping @Sendable (FetchOutcome) -> Void) {
    waiter = SyncWaiter(completion)
    self.received = received
  }

  func keep(_ timer: any SyncTimer) { waiter.keep(timer) }

  /// Tells whether the fetch has succeeded, and whether it has brought anything.
  func end(hasFetched: Bool, received present: Int = 0) {
    waiter.end(!hasFetched ? .failed : present > received ? .new : .nothing)
  }
}

import CloudSyncService
import NIOPosix
import Synchronization

/// Threads on which the store is asked: it may wait for a disk, which those threads must not that serve connections.
final class StorePool: Sendable {
  private let threads: NIOThreadPool
  private let waiting = Atomic(0)
  private let limit: Int

  init(threadCount: Int, waitingLimit: Int) {
    threads = NIOThreadPool(numberOfThreads: threadCount)
    limit = waitingLimit
    threads.start()
  }

  /// How many requests wait for a thread, or have one.
  var load: Int { waiting.load(ordering: .relaxed) }

  /// Does something on one of the threads; what it gives may come later, from any thread.
  ///
  /// - Parameters:
  ///   - refusal: What to answer when there is no room.
  ///   - body: Calls its completion once.
  /// - Returns: What the completion is called with.
  func run<Value: Sendable>(
    orElse refusal: @autoclosure @Sendable () -> Value,
    _ body: @escaping @Sendable (@escaping @Sendable (Value) -> Void) -> Void
  ) async -> Value {
    guard waiting.add(1, ordering: .relaxed).newValue <= limit else {
      waiting.subtract(1, ordering: .relaxed)
      return refusal()
    }
    let result: Value? = await withCheckedContinuation { continuation in
      threads.submit { [self] state in
        guard state == .active else {
          waiting.subtract(1, ordering: .relaxed)
          return continuation.resume(returning: nil)
        }
        body { continuation.resume(returning: $0) }
        waiting.subtract(1, ordering: .relaxed)
      }
    }
    return result ?? refusal()
  }

  func close() { threads.shutdownGracefully { _ in } }
}

#if canImport(CloudKit)
import CloudKit
import CloudSyncCore

/// One call of a session's: what of it is running, and whether it was given up.
final class CloudKitCall: Sendable {
  private struct State: Sendable {
    var operation: UncheckedBox<CKOperation>?
    var isCancelled = false
  }

  let context: RequestContext
  private let state = Locked(State())

  init(context: RequestContext) { self.context = context }

  /// Starts an operation, unless the call was given up: then it is never started, and the result is false.
  func start(operation: CKDatabaseOperation, in database: UncheckedBox<CKDatabase>) -> Bool {
    let box = UncheckedBox<CKOperation>(operation)
    let isCancelled = state.withLock { state in
      state.operation = box
      return state.isCancelled
    }
    guard !isCancelled else { return false }
    database.value.add(operation)
    return true
  }

  /// Gives the call up.
  func cancel() {
    let operation = state.withLock { state in
      state.isCancelled = true
      return state.operation
    }
    operation?.value.cancel()
  }
}

/// A completion that is called once, whatever comes after it.
final class OnceCompletion<Value: Sendable>: Sendable {
  private let completion: Locked<(@Sendable (Result<Value, SyncError>) -> Void)?>

  init(_ completion: @escaping @Sendable (Result<Value, SyncError>) -> Void) {
    self.completion = Locked(completion)
  }

  func finish(_ result: Result<Value, SyncError>) {
    let completion = completion.withLock { completion in
      defer { completion = nil }
      return completion
    }
    completion?(result)
  }
}
#endif

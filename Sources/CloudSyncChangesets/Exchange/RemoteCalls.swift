import CloudSyncCore

/// Calls that wait for the session: they end with its answer, or when it can give none.
final class RemoteCalls: Sendable {
  private struct State {
    var next = 0
    /// What ends the calls that wait, by number.
    var failures: [Int: @Sendable (ChangesetError) -> Void] = [:]
  }

  private let state = Locked(State())

  /// Waits for what an operation's completion tells.
  func run<Value: Sendable>(
    _ submit:
      @Sendable (
        _ done: @escaping @Sendable (Result<Value, SyncError>) -> Void
      ) -> OperationID
  ) async throws(ChangesetError) -> Value {
    let result = await withCheckedContinuation {
      (continuation: CheckedContinuation<Result<Value, ChangesetError>, Never>) in
      let number = state.withLock { state in
        state.next += 1
        state.failures[state.next] = { continuation.resume(returning: .failure($0)) }
        return state.next
      }
      _ = submit { answer in
        guard self.take(number: number) != nil else { return }
        continuation.resume(returning: answer.mapError { ChangesetError($0) })
      }
    }
    return try result.get()
  }

  /// Ends all calls that wait.
  func fail(error: ChangesetError) {
    let numbers = state.withLock { $0.failures.keys.sorted() }
    for number in numbers { take(number: number)?(error) }
  }

  /// Whoever takes a call ends it: it ends once.
  private func take(number: Int) -> (@Sendable (ChangesetError) -> Void)? {
    state.withLock { $0.failures.removeValue(forKey: number) }
  }
}

extension ChangesetError {
  /// What an error of the cloud's means for a history.
  init(_ error: SyncError) {
    self.init(.cloud, "the cloud failed: \(error)")
  }
}

import CloudSyncCore

/// Calls that wait for the session: they end with its answer, or when it can give none.
final class RemoteCalls: Sendable {
  /// What makes the session keep what it is given, and answer nothing.
  enum Trouble: Hashable, Comparable, Sendable {
    case halt, account, zone
  }

  private struct State {
    var next = 0
    var troubles: [Trouble: ChangesetError] = [:]
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
      // A call that begins after the session has told of a trouble would never hear of it.
      let (number, trouble) = state.withLock { state in
        state.next += 1
        let trouble = state.troubles.min { $0.key < $1.key }?.value
        if trouble == nil {
          state.failures[state.next] = { continuation.resume(returning: .failure($0)) }
        }
        return (state.next, trouble)
      }
      if let trouble { return continuation.resume(returning: .failure(trouble)) }
      _ = submit { answer in
        guard self.take(number: number) != nil else { return }
        continuation.resume(returning: answer.mapError { ChangesetError($0) })
      }
    }
    return try result.get()
  }

  /// Ends all calls that wait, and those that come, until it is over.
  func begin(trouble: Trouble, error: ChangesetError) {
    state.withLock { $0.troubles[trouble] = error }
    fail(error: error)
  }

  func end(trouble: Trouble) { state.withLock { $0.troubles[trouble] = nil } }

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
  static var lostZone: ChangesetError {
    ChangesetError(
      .cloud,
      "the zone's data were erased in the cloud; “reset” uploads everything again"
    )
  }

  /// What an error of the cloud's means for a history.
  init(_ error: SyncError) {
    self.init(.cloud, "the cloud failed: \(error)")
  }
}

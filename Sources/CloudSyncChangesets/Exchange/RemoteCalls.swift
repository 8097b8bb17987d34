import CloudSyncCore

/// Calls that wait for the session: they end with its answer, or when it can give none.
///
/// What a call that has ended asked for is asked for no more: carried out later, a deletion would take what has been
/// stored since.
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
    /// What they have asked for, as soon as that is known.
    var operations: [Int: OperationID] = [:]
    /// Those that have failed before it was.
    var failedEarly: Set<Int> = []
  }

  private let state = Locked(State())
  private let cancel: @Sendable (OperationID) -> Void

  /// - Parameter cancel: Has the session give up what a call has asked for.
  init(cancel: @escaping @Sendable (OperationID) -> Void) { self.cancel = cancel }

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
      let id = submit { answer in
        guard self.take(number: number) != nil else { return }
        continuation.resume(returning: answer.mapError { ChangesetError($0) })
      }
      note(operation: id, of: number)
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
    let ended = state.withLock { state in
      let failures = state.failures.sorted { $0.key < $1.key }
      let operations = failures.compactMap { state.operations[$0.key] }
      state.failedEarly.formUnion(state.failures.keys.filter { state.operations[$0] == nil })
      (state.failures, state.operations) = ([:], [:])
      return (failures: failures.map(\.value), operations: operations)
    }
    for operation in ended.operations { cancel(operation) }
    for failure in ended.failures { failure(error) }
  }

  /// Notes what a call has asked for, which may have ended before that was known.
  private func note(operation: OperationID, of number: Int) {
    let hasFailed = state.withLock { state in
      if state.failures[number] != nil { state.operations[number] = operation }
      return state.failedEarly.remove(number) != nil
    }
    if hasFailed { cancel(operation) }
  }

  /// Whoever takes a call ends it: it ends once.
  private func take(number: Int) -> (@Sendable (ChangesetError) -> Void)? {
    state.withLock { state in
      state.operations[number] = nil
      return state.failures.removeValue(forKey: number)
    }
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

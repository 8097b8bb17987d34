import CloudSyncCore

/// Lets one thing happen at a time, in the order in which they were asked for.
final class SerialGate: Sendable {
  private struct State {
    var isBusy = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Locked(State())

  /// Does something when all that was asked for before is over.
  func run<Value: Sendable>(_ body: @Sendable () async -> Value) async -> Value {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        if state.isBusy {
          state.waiting.append(continuation)
          return false
        }
        state.isBusy = true
        return true
      }
      if isFree { continuation.resume() }
    }
    let value = await body()
    let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
      if state.waiting.isEmpty {
        state.isBusy = false
        return nil
      }
      return state.waiting.removeFirst()
    }
    next?.resume()
    return value
  }
}

import Synchronization

/// How many requests of one token are under way, and how many bytes of bodies are in memory.
final class RequestGate: Sendable {
  private struct State {
    /// By token, or what stands for it; looked into, never iterated.
    var requests: [String: Int] = [:]
    var bytes = 0
  }

  private let requestLimit: Int
  private let byteLimit: Int
  private let state = Mutex(State())

  init(requestLimit: Int, byteLimit: Int) {
    self.requestLimit = requestLimit
    self.byteLimit = byteLimit
  }

  /// Lets a request in; false if as many of the same key are under way as may be.
  func enter(_ key: String) -> Bool {
    state.withLock { state in
      let count = state.requests[key] ?? 0
      guard count < requestLimit else { return false }
      state.requests[key] = count + 1
      return true
    }
  }

  func leave(_ key: String) {
    state.withLock { state in
      let count = (state.requests[key] ?? 1) - 1
      state.requests[key] = count > 0 ? count : nil
    }
  }

  /// Takes memory for a body; false if there is none left.
  func take(bytes: Int) -> Bool {
    state.withLock { state in
      guard state.bytes + bytes <= byteLimit else { return false }
      state.bytes += bytes
      return true
    }
  }

  func give(bytes: Int) { state.withLock { $0.bytes -= bytes } }
}

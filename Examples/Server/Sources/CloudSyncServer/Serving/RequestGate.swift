import Synchronization

/// How many requests of one token are under way, and how many bytes of bodies are in memory.
final class RequestGate: Sendable {
  private struct State {
    /// By token, or what stands for it; looked into, never iterated.
    var requests: [String: Int] = [:]
    var bytes = 0
    /// By account; looked into, never iterated.
    var bytesOfSenders: [String: Int] = [:]
  }

  private let requestLimit: Int
  private let byteLimit: Int
  private let senderByteLimit: Int
  private let state = Mutex(State())

  init(requestLimit: Int, byteLimit: Int, senderByteLimit: Int) {
    self.requestLimit = requestLimit
    self.byteLimit = byteLimit
    self.senderByteLimit = senderByteLimit
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

  /// Takes memory for a body; false if there is none left, or the account has its share.
  func take(bytes: Int, of sender: String) -> Bool {
    state.withLock { state in
      let own = state.bytesOfSenders[sender] ?? 0
      guard state.bytes + bytes <= byteLimit, own + bytes <= senderByteLimit else { return false }
      state.bytes += bytes
      state.bytesOfSenders[sender] = own + bytes
      return true
    }
  }

  func give(bytes: Int, of sender: String) {
    state.withLock { state in
      state.bytes -= bytes
      let own = (state.bytesOfSenders[sender] ?? bytes) - bytes
      state.bytesOfSenders[sender] = own > 0 ? own : nil
    }
  }
}

import CloudSyncCore

/// Waits for a server that is away, however long that is; the user may end it.
struct ServerPatience {
  let name: String
  let console: Console
  private var seconds: Int64 = 1
  private var hasExplained = false

  init(name: String, console: Console) {
    self.name = name
    self.console = console
  }

  /// Waits before the next attempt, and says once what for; returns false if there is nothing to wait for.
  mutating func waits(after error: SyncError) -> Bool {
    guard error.isPassing, !Interrupt.hasCome else { return false }
    if !hasExplained {
      console.noteWait(for: name, after: error)
    }
    hasExplained = true
    let asked = (error.retryAfterNanoseconds ?? 0) / 1_000_000_000
    Interrupt.wait(seconds: max(seconds, min(asked, 3_600)))
    seconds = min(2 * seconds, 30)
    return true
  }
}

extension Console {
  /// Says what a command waits for, and that the user may end it.
  func noteWait(for name: String, after error: SyncError) {
    note("waiting for \(name), until Ctrl-C: \(Words.line("\(error)"))")
  }
}

extension SyncError {
  /// Whether the same request may be answered later.
  fileprivate var isPassing: Bool {
    switch code {
    case .networkFailure, .networkUnavailable, .serviceUnavailable, .requestRateLimited, .zoneBusy,
      .serverResponseLost, .timedOut, .internalError, .accountTemporarilyUnavailable:
      true
    default: false
    }
  }
}

import CloudSyncCore

/// Publishes what transactions have changed, in their order, by one thread at a time.
final class ChangeQueue<Change: Sendable>: Sendable {
  private let state = Locked<(waiting: [Change], isSending: Bool)>(([], false))
  private let publisher: SyncSubject<Change>

  init(_ publisher: SyncSubject<Change>) { self.publisher = publisher }

  /// Whether anybody wants to know.
  var isWanted: Bool { publisher.hasSubscribers }

  /// Takes what a transaction has changed, while nobody else can begin one.
  func append(_ changes: Change) { state.withLock { $0.waiting.append(changes) } }

  /// Publishes what waits, unless another thread does; what comes meanwhile is published by that one.
  func publish() {
    let isFirst = state.withLock { state in
      defer { state.isSending = true }
      return !state.isSending
    }
    guard isFirst else { return }
    while true {
      let next = state.withLock { state -> Change? in
        if state.waiting.isEmpty {
          state.isSending = false
          return nil
        }
        return state.waiting.removeFirst()
      }
      guard let next else { return }
      publisher.send(next)
    }
  }
}

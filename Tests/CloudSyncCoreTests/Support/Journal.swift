import CloudSyncCore

/// What happened in a test, in order; closures write into it.
final class Journal<Entry: Sendable>: Sendable {
  private let storage = Locked<[Entry]>([])

  var entries: [Entry] { storage.withLock { $0 } }

  func add(_ entry: Entry) {
    storage.withLock { $0.append(entry) }
  }
}

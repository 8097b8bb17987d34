import CloudSyncCore

/// What happened in a test, in order; closures write into it.
package final class Collector<Entry: Sendable>: Sendable {
  private let storage = Locked<[Entry]>([])

  package init() {}

  package var entries: [Entry] { storage.withLock { $0 } }

  package func add(_ entry: Entry) {
    storage.withLock { $0.append(entry) }
  }
}

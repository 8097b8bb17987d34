import CloudSyncChangesets
import CloudSyncSQLite
import CloudSyncSession

enum HistorySamples {
  static func begin() throws {
    // SAMPLE: CloudSyncChangesets/CloudSyncChangesets.md
    let database = try DatabaseFile(path: "shop.db")
    let repository = try ChangesetRepository(database)

    try database.execute("UPDATE products SET price = price + 1")
    try repository.commit(meta: #"{"message": "Prices of May"}"#)

    try repository.undo()  // and redo(), revert(…), checkout(…), restore(…)
    for commit in try repository.log() { print(commit.id.short, commit.meta) }
    // SAMPLE: end
  }

  static func exchange(
    _ repository: ChangesetRepository,
    _ handler: any OperationHandler
  ) async throws {
    // SAMPLE: CloudSyncChangesets/TwoWaysToSync.md
    let remote = try ChangesetRemote(
      repository,
      operationHandler: handler,
      zoneID: ZoneID(name: "History")
    )

    try await remote.push()  // commits that the cloud has not got
    try await remote.fetch()  // commits of others: rows stay as they are
    try repository.mergeAll()  // joins what replicas did at once
    try repository.pull()  // now rows follow

    try await remote.sync()  // or all of it, with a commit first
    // SAMPLE: end
  }

  static func shorten(_ repository: ChangesetRepository) throws {
    // SAMPLE: CloudSyncChangesets/LongHistories.md
    let removed = try repository.gc(depth: 1_000)
    print("\(removed.commits) commits have lost their changes, \(removed.bytes) bytes")
    // SAMPLE: end
  }

  static func fetchAgain(_ remote: ChangesetRemote) async throws {
    // SAMPLE: CloudSyncChangesets/LongHistories.md
    try remote.resetLastChangeToken()
    try await remote.fetch()
    // SAMPLE: end
  }

  static func squash(_ remote: ChangesetRemote) async throws {
    // SAMPLE: CloudSyncChangesets/LongHistories.md
    let summary = try await remote.squash(depth: 1_000)
    if let beginning = summary.beginning { print("begins with \(beginning.id.short)") }
    if !summary.waitingFor.isEmpty { print("waits for \(summary.waitingFor)") }
    // SAMPLE: end
  }

  static func comeBack(_ remote: ChangesetRemote) async throws {
    // SAMPLE: CloudSyncChangesets/LongHistories.md
    do { try await remote.sync() } catch {
      guard error.code == .behindHorizon else { throw error }
      try await remote.rebase()
      try await remote.sync()
    }
    // SAMPLE: end
  }

  static func bringOver(
    _ repository: ChangesetRepository,
    _ remote: ChangesetRemote
  ) async throws {
    // SAMPLE: CloudSyncChangesets/LongHistories.md
    let commits = try repository.commitsLeftBehind()
    for commit in commits { print(commit.id.short, commit.replica ?? "") }
    try await remote.rebaseOthers()
    try await remote.sync()
    // SAMPLE: end
  }

  static func step(_ repository: ChangesetRepository) throws {
    // SAMPLE: CloudSyncChangesets/UndoAndRedo.md
    try repository.commit(meta: #"{"message": "Move appointment"}"#) { connection in
      // several statements, one step
    }
    // SAMPLE: end
  }
}

#if canImport(AppKit)
import AppKit

enum EditorSample {
  // SAMPLE: CloudSyncChangesets/UndoAndRedo.md
  @MainActor final class Editor {
    let repository: ChangesetRepository

    init(_ repository: ChangesetRepository) { self.repository = repository }

    func undo() throws { if try repository.undo() == nil { NSSound.beep() } }
    func redo() throws { if try repository.redo() == nil { NSSound.beep() } }
  }
  // SAMPLE: end
}
#endif

import CloudSyncChangesets
import CloudSyncCore
import CloudSyncSimulator

extension ChangesetDevice {
  /// Squashes the history now and then, also without waiting for whoever has not heard of it.
  func squash(
    remote: ChangesetRemote,
    process: DeviceProcess
  ) async throws(ChangesetError) {
    guard isSquashed, process.ratio(of: .killed).hits > 0 else { return }
    let (isDrawn, depth, isImpatient) = history.withLock { history in
      (
        history.squashes.chance(1, in: 4), history.squashes.pick([0, 0, 0, 0, 1, 3]),
        history.squashes.chance(3, in: 4)
      )
    }
    guard isDrawn else { return }
    do throws(ChangesetError) {
      if isImpatient {
        _ = try await remote.squash(depth: depth, patience: 0)
      } else {
        try await remote.squash(depth: depth)
      }
    } catch {
      // Heads that wait for a response, commits that wait for others, changes that were removed here.
      guard [.unmerged, .needsUpgrade].contains(error.code) || lacksOldChanges(error) else {
        throw error
      }
    }
  }

  /// Puts what others cannot have any more on top of what they have.
  func rebase(remote: ChangesetRemote) async {
    do throws(ChangesetError) {
      try await remote.rebase()
      try await remote.sync()
    } catch {
      guard app.withLock({ $0.process?.isAlive ?? false }) else { return }
      // Rows may be edited meanwhile, and others may squash again.
      if ![.uncommittedChanges, .behindHorizon].contains(error.code) { note(error: error) }
    }
  }

  /// Puts what others have left behind on top of what all have, now and then, and in the end everything.
  func rebaseOthers(
    remote: ChangesetRemote,
    process: DeviceProcess
  ) async throws(ChangesetError) {
    guard isSquashed, let repository else { return }
    if process.ratio(of: .killed).hits > 0,
      history.withLock({ !$0.squashes.chance(1, in: 2) })
    {
      return
    }
    do throws(ChangesetError) {
      if try repository.commitsLeftBehind().isEmpty { return }
      try repository.rebaseOthers()
      try await remote.sync()
    } catch {
      // Rows that are edited meanwhile, heads that wait for a response, what an older app does not know.
      let usual: [ChangesetError.Code] = [.uncommittedChanges, .unmerged, .needsUpgrade]
      guard usual.contains(error.code) || lacksOldChanges(error) else { throw error }
    }
  }

  /// Whether an error says that old changes are not here, where that can be.
  func lacksOldChanges(_ error: ChangesetError) -> Bool {
    guard error.code == .historyTooShort else { return false }
    return history.withLock { $0.hasCollected } || isBegunWithSnapshot
  }

  /// Whether the history here may begin with a snapshot.
  private var isBegunWithSnapshot: Bool {
    guard isSquashed, let repository else { return false }
    do throws(ChangesetError) { return try repository.horizon() != nil } catch { return false }
  }
}

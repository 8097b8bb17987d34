import CloudSyncCore
import CloudSyncSQLiteSupport

/// Keeps how long the cloud has asked to wait, which the next process has to know.
final class KeptWait: Sendable {
  private let repository: ChangesetRepository
  private let kept: Locked<Deadline?>

  init(in repository: ChangesetRepository, from essence: SyncEssence) {
    self.repository = repository
    kept = Locked(essence.serverWait)
  }

  /// Stores what a session has learnt, if it is to wait until another time than before.
  ///
  /// Where that cannot be written it is tried again with the next event.
  func keep(_ essence: SyncEssence) {
    guard kept.withLock({ $0 != essence.serverWait }) else { return }
    do throws(ChangesetError) {
      try repository.write { (work) throws(ChangesetError) in
        try work.info.set(.wait, .blob([UInt8](essence.data)))
      }
      kept.withLock { $0 = essence.serverWait }
    } catch { return }
  }
}

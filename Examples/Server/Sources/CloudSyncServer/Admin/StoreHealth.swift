import CloudSyncLocalCloud
import Foundation
import Synchronization

/// Whether the server can do its work: whether the store can be read, and takes what is written.
final class StoreHealth: Sendable {
  /// What is written to see whether there is room.
  private static let probeByteCount = 1_000_000

  private let store: any LocalCloudStore
  private let folder: String
  private let hasFailed = Atomic(false)
  private let isEnding = Atomic(false)

  /// Creates the health of a store.
  ///
  /// - Parameters:
  ///   - store: The store.
  ///   - folder: A folder on the disk that has to have room.
  init(store: any LocalCloudStore, folder: String) {
    self.store = store
    self.folder = folder
  }

  /// Takes the outcome of a request.
  func note(status: Int, of kind: RequestKind) {
    guard kind == .modifyRecords else { return }
    if status == 503 { hasFailed.store(true, ordering: .relaxed) }
    if status == 200 { hasFailed.store(false, ordering: .relaxed) }
  }

  /// The server is about to end.
  func end() { isEnding.store(true, ordering: .relaxed) }

  /// Why no requests should be sent here now; nil if all is well.
  ///
  /// It reads, and after a failure it writes.
  func problem() -> String? {
    if isEnding.load(ordering: .relaxed) { return "the server is about to end" }
    guard isOpen(for: .read) else { return "the store cannot be read" }
    guard hasFailed.load(ordering: .relaxed) else { return nil }
    guard hasRoom(), isOpen(for: .write) else { return "the store cannot be written" }
    // The next request that is refused says otherwise.
    hasFailed.store(false, ordering: .relaxed)
    return nil
  }

  private func isOpen(for kind: LocalCloudTransactionKind) -> Bool {
    do throws(LocalCloudStoreError) {
      return try store.transaction(kind) { (transaction) throws(LocalCloudStoreError) in
        _ = try transaction.documents(withPrefix: "server/")
        return true
      }
    } catch { return false }
  }

  private func hasRoom() -> Bool {
    let path = "\(folder)/room-\(getpid())"
    defer { unlink(path) }
    let data = Data(repeating: 0, count: Self.probeByteCount)
    do { try data.write(to: URL(fileURLWithPath: path)) } catch { return false }
    return true
  }
}

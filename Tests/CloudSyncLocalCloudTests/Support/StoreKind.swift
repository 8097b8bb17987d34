import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncTestSupport
import Foundation

/// The kinds of store on which every rule is tested.
enum StoreKind: Sendable, CaseIterable {
  case memory
  case file

  func makeStore() throws -> any LocalCloudStore {
    switch self {
    case .memory: MemoryStore()
    case .file: try SQLiteStore(path: ScratchFolder.shared.newPath())
    }
  }
}

/// A folder for the files of one run of the tests, which goes when the run ends.
final class ScratchFolder: Sendable {
  static let shared = ScratchFolder()

  let path: String
  private let count = Locked(0)

  private init() {
    let folder = URL(fileURLWithPath: TestPath.folder)
      .appendingPathComponent(
        "CloudSyncLocalCloudTests-\(ProcessInfo.processInfo.processIdentifier)"
      )
    path = folder.path
    try? FileManager.default.removeItem(atPath: path)
    try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    atexit { try? FileManager.default.removeItem(atPath: ScratchFolder.shared.path) }
  }

  /// The path of a file that does not exist.
  func newPath() -> String {
    let number = count.withLock { count in
      count += 1
      return count
    }
    return "\(path)/store-\(number).sqlite"
  }
}

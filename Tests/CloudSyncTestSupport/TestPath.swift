import CloudSyncCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Paths of files that tests make.
package enum TestPath {
  private static let count = Locked(0)

  /// The folder in which tests make files: in memory where there is one, since what tests store need not outlive them, and
  /// they would wait for the disk most of their time.
  package static let folder: String = {
    let memory = "/dev/shm"
    let manager = FileManager.default
    let system = try? manager.attributesOfFileSystem(forPath: memory)
    let free = system?[.systemFreeSize].flatMap { Int64("\($0)") } ?? 0
    // In a container it may be small.
    let isThere = manager.isWritableFile(atPath: memory) && free > 2_000_000_000
    return isThere ? memory : manager.temporaryDirectory.path
  }()

  /// A path in the folder for temporary files that nobody else is given, in this process or another one.
  ///
  /// Tests run side by side, and two of them may have one name, or one of them several arguments.
  package static func unique(_ name: String) -> String {
    let number = count.withLock { count in
      count += 1
      return count
    }
    let process = ProcessInfo.processInfo.processIdentifier
    return "\(folder)/cloudsync-\(name.prefix { $0 != "(" })-\(process)-\(number)"
  }
}

import CloudSyncCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Paths of files that tests make.
package enum TestPath {
  private static let count = Locked(0)

  /// A path in the folder for temporary files that nobody else is given, in this process or another one.
  ///
  /// Tests run side by side, and two of them may have one name, or one of them several arguments.
  package static func unique(_ name: String) -> String {
    let number = count.withLock { count in
      count += 1
      return count
    }
    let process = ProcessInfo.processInfo.processIdentifier
    let folder = FileManager.default.temporaryDirectory.path
    return "\(folder)/cloudsync-\(name.prefix { $0 != "(" })-\(process)-\(number)"
  }
}

import CloudSyncTestSupport
import Foundation

enum TemporaryFolder {
  static func make() throws -> String {
    let url = URL(fileURLWithPath: TestPath.folder)
      .appendingPathComponent(
        "history-\(ProcessInfo.processInfo.globallyUniqueString)"
      )
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    return url.path
  }

  static func remove(_ path: String) { try? FileManager.default.removeItem(atPath: path) }
}

import CloudSyncTestSupport
import Foundation

/// A folder that goes when it is not needed any more.
final class TestFolder {
  let path: String

  init(_ name: String) throws {
    path = TestPath.unique(name)
    if FileManager.default.fileExists(atPath: path) {
      try FileManager.default.removeItem(atPath: path)
    }
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit {
    do { try FileManager.default.removeItem(atPath: path) } catch {
      print("the folder \(path) stays: \(error)")
    }
  }

  func file(_ name: String) -> String { "\(path)/\(name)" }

  var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
  }

  /// The names in a folder within it; none if that is not there.
  func names(in name: String) throws -> [String] {
    guard FileManager.default.fileExists(atPath: file(name)) else { return [] }
    return try FileManager.default.contentsOfDirectory(atPath: file(name)).sorted()
  }
}

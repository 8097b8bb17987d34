#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A folder for big files, removed with everything in it when it is released.
final class ScratchFolder {
  private let folder: String

  init() throws {
    folder =
      FileManager.default.temporaryDirectory
      .appendingPathComponent("CloudSyncBenchmarks-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  deinit {
    do { try FileManager.default.removeItem(atPath: folder) } catch { print("\(folder): \(error)") }
  }

  /// Where a file of this name is.
  func path(_ name: String) -> String { "\(folder)/\(name)" }

  /// How many bytes a file has.
  func size(_ name: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: path(name))
    return attributes[.size] as? Int ?? 0
  }
}

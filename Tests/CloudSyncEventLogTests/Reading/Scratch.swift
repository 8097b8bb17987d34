import Foundation
import Testing

/// A folder of a test's own, which goes with it.
final class Scratch: Sendable {
  let path: String

  init(_ name: String = #function, file: String = #fileID, line: Int = #line) throws {
    // Names come from the place in the source, for tests know no chance.
    let place = "\(file)-\(line)".replacing("/", with: "-")
    let process = ProcessInfo.processInfo.processIdentifier
    path = "\(NSTemporaryDirectory())/cloudsync-\(process)-\(place)"
    try? FileManager.default.removeItem(atPath: path)
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func file(_ name: String) -> String { "\(path)/\(name)" }

  func bytes(_ name: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(fileURLWithPath: file(name))))
  }

  func write(_ bytes: [UInt8], _ name: String) throws {
    try Data(bytes).write(to: URL(fileURLWithPath: file(name)))
  }

  /// The names of the files, sorted.
  var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
  }
}

import Foundation

/// A folder of a test's, which goes with it.
final class Folder: Sendable {
  let path: String

  init(_ name: String = #function) throws {
    let word = name.prefix { $0 != "(" }
    var template = Array(
      "\(FileManager.default.temporaryDirectory.path)/\(word)-XXXXXX".utf8CString
    )
    guard mkdtemp(&template) != nil else { throw TestFailure("no folder for \(name)") }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func path(_ name: String) -> String { "\(path)/\(name)" }

  /// The paths of all files below the folder.
  func files(below name: String = "") -> [String] {
    let all = FileManager.default.enumerator(atPath: path(name))?.compactMap { $0 as? String } ?? []
    return
      all.filter {
        var isFolder: ObjCBool = false
        let path = "\(path(name))/\($0)"
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
          && !isFolder.boolValue
      }
      .sorted()
  }
}

/// Why a test cannot go on.
struct TestFailure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// Programs that were built with the tests.
enum Program {
  static var server: String { path(of: "cloudsync-server") }
  static var tool: String { path(of: "cloudsync") }
  static var testServer: String { path(of: "test-server") }

  private static func path(of name: String) -> String {
    URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
      .appendingPathComponent(name).path
  }
}

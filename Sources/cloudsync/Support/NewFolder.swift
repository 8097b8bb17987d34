#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Folders that commands make for their files; they return the path.
enum NewFolder {
  /// Makes the folder that the user wants, which must not exist.
  @discardableResult
  static func make(at wanted: String) throws -> String {
    guard mkdir(wanted, 0o777) == 0 else {
      let reason = String(cString: strerror(errno))
      throw ToolError.failure("the folder \(wanted) cannot be made: \(reason); name a new one")
    }
    return wanted
  }

  /// Makes one among the system's for such things.
  ///
  /// - Parameters:
  ///   - command: What its name says.
  ///   - option: With what the user can name another.
  /// - Returns: Its path.
  /// - Throws: A failure that says why none can be made, and names the option.
  static func makeTemporary(for command: String, option: String) throws -> String {
    let path = FileManager.default.temporaryDirectory.path + "/cloudsync-\(command)-XXXXXX"
    var template = Array(path.utf8CString)
    guard mkdtemp(&template) != nil else {
      let reason = String(cString: strerror(errno))
      throw ToolError.failure(
        "no folder for the files can be made: \(reason); name one with \(option)"
      )
    }
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Removes a folder of the system's with all that is in it; what cannot be removed the system removes.
  static func removeTemporary(at path: String) {
    try? FileManager.default.removeItem(atPath: path)
  }
}

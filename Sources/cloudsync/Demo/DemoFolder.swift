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

/// Where a demonstration leaves its files.
struct DemoFolder {
  let path: String

  /// Makes the folder that is wanted, which must not exist, or one of the system's for such things.
  init(_ wanted: String?) throws {
    if let wanted {
      guard mkdir(wanted, 0o777) == 0 else {
        let reason = String(cString: strerror(errno))
        throw ToolError.failure("the folder \(wanted) cannot be made: \(reason); name a new one")
      }
      path = wanted
      return
    }
    var template = Array(
      (FileManager.default.temporaryDirectory.path + "/cloudsync-demo-XXXXXX").utf8CString
    )
    guard mkdtemp(&template) != nil else {
      let reason = String(cString: strerror(errno))
      throw ToolError.failure(
        "no folder for the files can be made: \(reason); name one with --keep"
      )
    }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// The path of a file in the folder.
  func file(_ name: String) -> String { "\(path)/\(name)" }
}

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// How the tool is called by whoever has started it.
enum Invocation {
  /// Its name where it is installed.
  static let plain = "cloudsync"

  /// How this process was started.
  static var ofProcess: String {
    name(
      of: CommandLine.arguments.first ?? plain,
      in: FileManager.default.currentDirectoryPath
    )
  }

  /// What to type to start it again.
  ///
  /// - Parameters:
  ///   - path: How it was started.
  ///   - folder: The folder that it was started in.
  /// - Returns: The name alone where the shell has found it, `swift run` where that has, and the path otherwise.
  static func name(of path: String, in folder: String) -> String {
    guard path.contains("/") else { return plain }
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    // SwiftPM starts what it has built by a path with the platform in it, which nobody types.
    guard parts.count >= 4, parts[parts.count - 4] == ".build" else { return path }
    let package = parts.dropLast(4)
    let isAbove = package.allSatisfy { $0 == ".." }
    let name = package.joined(separator: "/")
    guard isAbove || folder == name || folder.hasPrefix("\(name)/") else { return path }
    return parts[parts.count - 2] == "release"
      ? "swift run -c release \(plain)" : "swift run \(plain)"
  }
}

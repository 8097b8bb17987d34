#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Asset {
  /// Whether the location is a path that does not say where it begins.
  ///
  /// A path begins with a slash, and an address has a scheme: those are absolute.
  public var isRelative: Bool {
    !location.utf8.starts(with: "/".utf8) && !location.contains("://")
  }

  /// The asset with a location that is relative to a folder, if its file lies in the folder.
  ///
  /// What is stored in this form is still right when the folder has moved, as the container of an
  /// app does with an update of the app or a restored backup.
  ///
  /// - Parameter folder: The path of a folder, absolute.
  /// - Returns: The asset as it is stored.
  public func relative(to folder: String) -> Asset {
    let prefix = Self.withSlash(folder)
    guard location.utf8.starts(with: prefix.utf8), location.utf8.count > prefix.utf8.count else {
      return self
    }
    return moved(to: String(decoding: location.utf8.dropFirst(prefix.utf8.count), as: UTF8.self))
  }

  /// The asset with the location that its file has now.
  ///
  /// - Parameter folder: The path that the folder has now, absolute.
  /// - Returns: The asset with an absolute location.
  public func resolved(in folder: String) -> Asset {
    isRelative ? moved(to: Self.withSlash(folder) + location) : self
  }

  /// A path from the root: one that is not is meant from the folder that the process is in now.
  package static func pathFromRoot(_ path: String) -> String {
    path.utf8.first == UInt8(ascii: "/")
      ? path : withSlash(FileManager.default.currentDirectoryPath) + path
  }

  private func moved(to location: String) -> Asset {
    Asset(sha256: sha256, byteCount: byteCount, location: location)
  }

  private static func withSlash(_ folder: String) -> String {
    folder.utf8.last == UInt8(ascii: "/") ? folder : folder + "/"
  }
}

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Bionic)
import Bionic
#endif

/// The files of one account's assets, to be rid of those that no record has.
struct UnusedAssets {
  /// The account's folder.
  let path: String
  /// Files that were written or looked for since then stay: their record may be on its way.
  let limit: Date

  private static let ending = ".unused"

  /// The names of the files that are old enough, sorted; those among them that uploads have left unfinished.
  func candidates() -> [String] {
    // Without the folder there is nothing to remove.
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    return names.filter { isOld("\(path)/\($0)") }.sorted()
  }

  private func isOld(_ file: String) -> Bool {
    guard let facts = try? FileManager.default.attributesOfItem(atPath: file),
      facts[.type] as? FileAttributeType == .typeRegular,
      let date = facts[.modificationDate] as? Date
    else { return false }
    return date < limit
  }

  /// Removes a file, unless somebody has looked for it meanwhile.
  ///
  /// - Parameter name: Its name.
  /// - Returns: Whether it is gone.
  func remove(_ name: String) -> Bool {
    let file = "\(path)/\(name)"
    let aside = name.hasSuffix(Self.ending) ? file : file + Self.ending
    // Whoever looks for it from now on is told that it is missing, and uploads it again.
    guard aside == file || rename(file, aside) == 0 else { return false }
    guard isOld(aside) else {
      // It was found a moment ago, and its record may be saved by now.
      rename(aside, file)
      return false
    }
    return unlink(aside) == 0
  }
}

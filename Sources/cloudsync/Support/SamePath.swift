import CloudSyncSQLite

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

/// Tells whether names mean the same file.
enum SamePath {
  /// Which file it is, whatever it is called.
  struct Identity: Equatable {
    private let device: UInt64
    private let number: UInt64

    private init(_ facts: stat) {
      device = UInt64(truncatingIfNeeded: facts.st_dev)
      number = UInt64(truncatingIfNeeded: facts.st_ino)
    }

    /// Which file is open; nil if that cannot be told.
    init?(descriptor: Int32) {
      var facts = stat()
      guard fstat(descriptor, &facts) == 0 else { return nil }
      self.init(facts)
    }

    /// Which file has a path; nil if there is none.
    init?(path: String) {
      var facts = stat()
      guard stat(path, &facts) == 0 else { return nil }
      self.init(facts)
    }
  }

  /// The path without links and dots; nil if there is no such file.
  static func resolved(path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  /// Throws if there is no file at a path, and tells which one may have been meant.
  static func checkPresence(of path: String) throws {
    guard Identity(path: path) == nil else { return }
    let reason = String(cString: strerror(errno))
    let ending = path.split(separator: ".").last.map { ".\($0)" } ?? ""
    let hint = Suggestion.text(for: name(of: path), among: neighbours(of: path, ending: ending))
    throw ToolError.failure("\(path): it cannot be opened: \(reason)\(hint)")
  }

  /// The last part of a path.
  static func name(of path: String) -> String { String(path.split(separator: "/").last ?? "") }

  /// The names of the files beside a path, with an ending.
  static func neighbours(of path: String, ending: String) -> [String] {
    let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
      .joined(separator: "/")
    let place = folder.isEmpty ? (path.hasPrefix("/") ? "/" : ".") : folder
    let names = (try? FileManager.default.contentsOfDirectory(atPath: place)) ?? []
    return names.filter { $0.hasSuffix(ending) }.sorted()
  }

  /// Throws if a file that is to be written anew is one of these, or any database.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - others: The files that the command works on.
  /// - Throws: That what is there would be lost, or that there is no such folder.
  static func checkReplaceable(_ path: String, besides others: [String]) throws {
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    var facts = stat()
    guard stat(folder, &facts) == 0, facts.st_mode & S_IFMT == S_IFDIR else {
      throw ToolError.failure("\(path): there is no folder \(folder) to write it to")
    }
    if others.contains(where: { isSame(path, as: $0) }) {
      throw ToolError.usage(
        "\(path) would be overwritten, and is what the command works on; name another file"
      )
    }
    // What cannot be read cannot be written either, and that is told then.
    guard let file = fopen(path, "rb") else { return }
    defer { fclose(file) }
    let mark = Array("SQLite format 3\0".utf8)
    var start = [UInt8](repeating: 0, count: mark.count)
    guard fread(&start, 1, start.count, file) == start.count, start == mark else { return }
    throw ToolError.usage("\(path) is a database and would be overwritten; name another file")
  }

  /// Whether a path leads to a file without any content.
  static func isEmpty(_ path: String) -> Bool {
    var facts = stat()
    return stat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFREG && facts.st_size == 0
  }

  /// Whether two paths lead to one file.
  static func isSame(_ one: String, as other: String) -> Bool {
    guard let first = Identity(path: one), let second = Identity(path: other) else {
      return one == other
    }
    return first == second
  }
}

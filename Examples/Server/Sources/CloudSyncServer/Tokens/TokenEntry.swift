import CloudSyncService
import CloudSyncSession
import Foundation

/// A token in the list: whom it belongs to, and its digest; never the token.
struct TokenEntry: Codable, Sendable, Hashable {
  /// What it is called in the list: the beginning of the digest.
  var id: String { String(sha256.prefix(12)) }
  /// The digits of the token's SHA-256 digest.
  var sha256: String
  var account: String
  var device: String
  /// Seconds since 1970.
  var created: Int64
  /// When it ends, in seconds since 1970; nil for never.
  var expires: Int64?

  var access: ServiceAccess {
    ServiceAccess(account: AccountIdentity(account), device: device)
  }

  func isExpired(at seconds: Int64) -> Bool { expires.map { $0 <= seconds } ?? false }

  static func digits(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(
      decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] },
      as: UTF8.self
    )
  }
}

/// The list of tokens in a file: a line of JSON each.
struct TokenList: Sendable {
  private(set) var entries: [TokenEntry] = []

  /// Reads the list; a missing file has none.
  ///
  /// - Parameter path: The file.
  /// - Throws: The number of the line that is none.
  init(path: String) throws(ServerFailure) {
    guard let data = FileManager.default.contents(atPath: path) else {
      if FileManager.default.fileExists(atPath: path) {
        throw .failure("\(path): it cannot be read: \(ServerFolder.reason())")
      }
      return
    }
    let decoder = JSONDecoder()
    for (number, line) in data.split(separator: 0x0a).enumerated() {
      guard let entry = try? decoder.decode(TokenEntry.self, from: line),
        entry.sha256.utf8.count == 64
      else { throw .failure("\(path):\(number + 1): this is no token") }
      entries.append(entry)
    }
  }

  mutating func add(_ entry: TokenEntry) { entries.append(entry) }

  /// Removes the tokens of a name, or of a device; returns how many.
  mutating func remove(where isRemoved: (TokenEntry) -> Bool) -> Int {
    let count = entries.count
    entries.removeAll(where: isRemoved)
    return count - entries.count
  }

  func write(to path: String) throws(ServerFailure) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    var bytes: [UInt8] = []
    for entry in entries {
      guard let line = try? encoder.encode(entry) else {
        throw .failure("\(path): the token of \(entry.id) cannot be written")
      }
      bytes += line + [0x0a]
    }
    try ServerFolder.write(bytes, to: path)
  }
}

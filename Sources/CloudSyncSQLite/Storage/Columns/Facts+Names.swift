import CloudSyncSQLiteSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Facts that are names by names, of several things each.
extension Facts {
  /// What is kept under a name; empty if nothing is.
  func names(_ name: Name) throws(SQLiteError) -> [String: [String: String]] {
    guard case .text(let text)? = try value(name) else { return [:] }
    do {
      return try JSONDecoder().decode([String: [String: String]].self, from: Data(text.utf8))
    } catch {
      throw SQLiteError(
        code: 11,
        message: "cloudsync_facts is damaged at \(name.rawValue): \(error)"
      )
    }
  }

  /// Forgets what is kept of one of the things.
  func forget(_ name: Name, of thing: String) throws(SQLiteError) {
    var all = try names(name)
    guard all.removeValue(forKey: thing) != nil else { return }
    try set(name, toNames: all)
  }

  /// Keeps names; nothing is kept if there are none.
  func set(_ name: Name, toNames names: [String: [String: String]]) throws(SQLiteError) {
    if names.isEmpty { return try set(name, to: nil) }
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let data: Data
    do { data = try encoder.encode(names) } catch {
      throw SQLiteError(code: 1, message: "\(name.rawValue) cannot be kept: \(error)")
    }
    try set(name, to: .text(String(decoding: data, as: UTF8.self)))
  }
}

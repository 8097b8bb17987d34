import CloudSyncSQLiteSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What columns were called before a migration that has rebuilt their table: until its rows were compared with the cloud's
/// records, which have the former names.
struct FormerColumns {
  let connection: SQLiteConnection

  private var facts: Facts { Facts(connection: connection) }

  /// The former names of a table's columns, by the present ones.
  func names(of table: Int64) throws(SQLiteError) -> [String: String] {
    try all()["\(table)"] ?? [:]
  }

  /// Notes new names, by the former ones; a column that was renamed before keeps its first name.
  func note(_ renamed: [String: String], of table: Int64) throws(SQLiteError) {
    var all = try all()
    let known = all["\(table)"] ?? [:]
    var names = known.filter { renamed[$0.key] == nil }
    for (old, new) in renamed { names[new] = known[old] ?? old }
    all["\(table)"] = names
    try set(all)
  }

  /// Forgets the names of a table whose rows were compared.
  func forget(table: Int64) throws(SQLiteError) {
    var all = try all()
    if all.removeValue(forKey: "\(table)") != nil { try set(all) }
  }

  private func all() throws(SQLiteError) -> [String: [String: String]] {
    guard case .text(let text)? = try facts.value(.formerColumns) else { return [:] }
    do {
      return try JSONDecoder().decode([String: [String: String]].self, from: Data(text.utf8))
    } catch {
      throw SQLiteError(code: 11, message: "former_columns in cloudsync_facts is damaged: \(error)")
    }
  }

  private func set(_ names: [String: [String: String]]) throws(SQLiteError) {
    if names.isEmpty { return try facts.set(.formerColumns, to: nil) }
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    do throws(any Error) {
      let data = try encoder.encode(names)
      try facts.set(.formerColumns, to: .text(String(decoding: data, as: UTF8.self)))
    } catch let error as SQLiteError { throw error } catch {
      throw SQLiteError(code: 1, message: "former names of columns cannot be kept: \(error)")
    }
  }
}

import CloudSyncSQLiteSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Of which kind the values are that the cloud has in the own fields of columns.
///
/// A cloud fixes the kind of a field when it is first saved. So a column whose type a migration changes keeps the
/// kind that it had, and one that was made anew with another type takes the kind that records show, at the next
/// setup or once the cloud refuses a row for it; values of other kinds lie aside.
struct ColumnKinds {
  /// By the type of the records, and by the name of the column.
  typealias Kinds = [String: [String: ColumnKind]]

  let connection: SQLiteConnection

  private var facts: Facts { Facts(connection: connection) }

  /// Takes what records have shown since the last setup; returns the types of these records.
  func takeShown() throws(SQLiteError) -> [String] {
    let shown = try kinds(named: .shownKinds)
    if shown.isEmpty { return [] }
    let known = try kinds(named: .columnKinds)
    try set(known.merging(shown) { old, new in old.merging(new) { $1 } }, as: .columnKinds)
    try facts.set(.shownKinds, to: nil)
    return shown.keys.sorted()
  }

  /// The kinds of a table's columns; those that were never asked for are what the types say, for good.
  func kinds(
    ofType recordType: String,
    declared: [String: ColumnKind]
  ) throws(SQLiteError) -> [String: ColumnKind] {
    var all = try kinds(named: .columnKinds)
    let known = all[recordType] ?? [:]
    let merged = declared.merging(known) { $1 }
    if merged != known {
      all[recordType] = merged
      try set(all, as: .columnKinds)
    }
    return merged
  }

  /// Notes that a record has shown a column's own field to be of another kind than was thought; returns whether that is
  /// new.
  func show(
    _ kind: ColumnKind,
    of column: String,
    ofType recordType: String
  ) throws(SQLiteError) -> Bool {
    var shown = try kinds(named: .shownKinds)
    if shown[recordType]?[column] == kind { return false }
    shown[recordType, default: [:]][column] = kind
    try set(shown, as: .shownKinds)
    return true
  }

  // MARK: Storing

  private func kinds(named name: Facts.Name) throws(SQLiteError) -> Kinds {
    guard case .text(let text)? = try facts.value(name) else { return [:] }
    do {
      return try JSONDecoder()
        .decode([String: [String: String]].self, from: Data(text.utf8))
        .mapValues { $0.compactMapValues { ColumnKind(rawValue: $0) } }
    } catch {
      throw SQLiteError(
        code: 11,
        message: "cloudsync_facts is damaged at \(name.rawValue): \(error)"
      )
    }
  }

  private func set(_ kinds: Kinds, as name: Facts.Name) throws(SQLiteError) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    do throws(any Error) {
      let data = try encoder.encode(kinds.mapValues { $0.mapValues(\.rawValue) })
      try facts.set(name, to: .text(String(decoding: data, as: UTF8.self)))
    } catch let error as SQLiteError { throw error } catch {
      throw SQLiteError(code: 1, message: "the kinds of columns cannot be kept: \(error)")
    }
  }
}

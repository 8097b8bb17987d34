import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// A row by its table and key, in the one spelling that stands for all that are equal.
package struct RowID: Sendable, Hashable, CustomStringConvertible {
  let table: String
  let key: [SQLiteValue]

  /// A row of a table that has its key in some spelling.
  ///
  /// No key of the simulation has upper-case letters or spaces at its end but by another spelling.
  static func canonical(table: String, key: [SQLiteValue]) -> RowID {
    guard table == "items", case .text(let text)? = key.first else {
      return RowID(table: table, key: key)
    }
    let folded = text.lowercased()
    return RowID(table: table, key: [.text(String(folded.prefix { $0 != " " }))])
  }

  /// The name of its record.
  var recordName: String { RecordName.make(table: table, key: key) ?? "" }

  /// Both in a few words.
  package var description: String {
    "\(table)(\(key.map(\.literal).joined(separator: ", ")))"
  }

  /// The condition that finds it.
  func condition(table: SimulatedSchema.Table) -> String {
    zip(table.key, key).map { "\($0.name) = \($1.literal)" }.joined(separator: " AND ")
  }
}

import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// A row that is not synchronized because a column of its primary key holds NULL.
///
/// SQLite allows that in ordinary tables, and takes two such keys for different ones: no other
/// device could tell which row is meant. The row stays as it is, and is sent once it has a key.
public struct UnnamedRow: Sendable, Hashable {
  /// The table's name.
  public let table: String
  /// The row's number; nil where columns of the table have all names of it.
  public let rowNumber: Int64?
  /// The columns of the key that may hold NULL, one of which does.
  public let columns: [String]

  /// What is wrong and what to do, in a sentence.
  public var reason: String {
    let row = rowNumber.map { "Row \($0)" } ?? "A row"
    let names = columns.map(\.quotedName).joined(separator: ", ")
    return
      "\(row) of table \(table.quotedName) has NULL in its primary key (\(names)), so no other device"
      + " could find it; give it a key."
  }
}

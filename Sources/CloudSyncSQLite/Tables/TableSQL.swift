import CloudSyncSQLiteSupport

/// The statements of a table that are made once, since they are run for every row.
final class TableSQL: Sendable {
  /// The table's name, as statements have it.
  let table: String
  /// The columns that can be written, in the table's order.
  let columns: [String]
  let key: [String]
  /// What a statement says of conflicts.
  ///
  /// Where the table has rules of its own, which may be to remove other rows, they do not count. Else nothing is
  /// said: it would outweigh what the app's triggers say.
  let clause: String
  /// The values of a row's columns.
  let row: KeptSQL
  /// Something if there is a row.
  let presence: KeptSQL
  /// A new row, with all its columns.
  let insertion: KeptSQL
  let deletion: KeptSQL

  init(name: String, columns: [String], key: [String], hasConflictRules: Bool) {
    table = "main.\(name.quotedName)"
    self.columns = columns
    self.key = key
    clause = hasConflictRules ? " OR ABORT" : ""
    let isRow = Self.isRow(of: key)
    let list = columns.map(\.quotedName).joined(separator: ", ")
    row = KeptSQL("SELECT \(list) FROM \(table) WHERE \(isRow)")
    presence = KeptSQL("SELECT 1 FROM \(table) WHERE \(isRow)")
    insertion = KeptSQL(Self.insertion(of: columns, into: table, clause: clause))
    deletion = KeptSQL("DELETE FROM \(table) WHERE \(isRow)")
  }

  /// The condition for one row, whose key is bound first.
  static func isRow(of key: [String]) -> String {
    key.enumerated().map { "\($1.quotedName) IS ?\($0 + 1)" }.joined(separator: " AND ")
  }

  static func insertion(of columns: [String], into table: String, clause: String) -> String {
    let list = columns.map(\.quotedName).joined(separator: ", ")
    let marks = columns.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
    return "INSERT\(clause) INTO \(table)(\(list)) VALUES(\(marks))"
  }
}

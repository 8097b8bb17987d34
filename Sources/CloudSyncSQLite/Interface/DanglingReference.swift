/// A row that refers to a row which is not there.
public struct DanglingReference: Sendable, Hashable, CustomStringConvertible {
  /// The row's table.
  public let table: String
  /// The row's key: its value, or the values of several columns joined by commas, as SQL literals.
  public let key: String
  /// The columns of the foreign key.
  public let columns: [String]
  /// The table that the foreign key refers to.
  public let parentTable: String

  /// The table, the key and the reference in one line.
  public var description: String {
    "row \(key) of \(table) refers by \(columns.joined(separator: ", ")) to no row of \(parentTable)"
  }
}

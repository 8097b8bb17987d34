import CloudSyncSQLiteSupport

/// A column that holds another table's keys without saying so by `REFERENCES`.
///
/// A migration that changes these keys leaves the column's old values behind, and joins find nothing, unless the column
/// is named in ``PrimaryKeyMigration/followedReferences``.
public struct UndeclaredReference: Sendable, Hashable {
  /// What makes a column look like a reference.
  public enum Evidence: String, Sendable, Hashable {
    /// Its name is that of the other table or of its key, and values of it are keys there.
    case name
    /// All its values are keys, and they are many, or its name ends as those of references do.
    case values
    /// All its values are keys, but they are few and its name says nothing: that may be chance.
    case guess
  }

  /// The column.
  public let reference: KeyReference
  /// What makes it look like one.
  public let evidence: Evidence
  /// How many rows have a value.
  public let rows: Int
  /// How many of them have one that is a key of the other table.
  public let matches: Int
  /// Whether it can be named in ``PrimaryKeyMigration/followedReferences``: row numbers of a virtual table, such as an index
  /// of texts, are integers for ever.
  public internal(set) var canFollow = true
  /// The tables that have all its values as keys too: which one it refers to only somebody who knows the app can tell.
  public internal(set) var otherParents: [String] = []

  /// The column and what it seems to refer to, in a sentence.
  public var reason: String {
    let column = "\(reference.table.quotedName).\(reference.column.quotedName)"
    let share =
      matches == rows ? matches < 2 ? "\(matches)" : "all \(rows)" : "\(matches) of \(rows)"
    func keys(_ one: String, _ several: String) -> String {
      "(\(share) \(rows == 1 ? "\(one) is a key" : "\(several) are keys") there)."
    }
    let what =
      switch evidence {
      case .name: "looks like a reference to"
      case .values: "seems to refer to"
      case .guess: "may refer to"
      }
    let parents = ([reference.parentTable] + otherParents).map(\.quotedName)
    if !canFollow {
      return "Virtual table \(reference.table.quotedName) seems to find the rows of table"
        + " \(parents.joined(separator: " or ")) by their integer keys \(keys("row number", "row numbers"))"
    }
    return "Column \(column) \(what) table \(parents.joined(separator: " or ")) without saying so"
      + " " + keys("value", "values")
  }
}

/// A column whose values are the keys of rows of a table.
public struct KeyReference: Sendable, Hashable {
  /// The column's table.
  public var table: String
  /// The column.
  public var column: String
  /// The table whose keys it holds.
  public var parentTable: String

  /// Creates a reference.
  public init(table: String, column: String, parentTable: String) {
    self.table = table
    self.column = column
    self.parentTable = parentTable
  }
}

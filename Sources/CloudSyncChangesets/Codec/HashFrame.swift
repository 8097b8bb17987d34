import CloudSyncSQLiteSupport

/// What the hash of a state leaves out of its rows.
///
/// A migration that adds a column touches no row: in the states behind it cells that hold the constant which
/// rows were filled with count nothing. A history that had the column from the beginning counts them. So a
/// state's own line of commits tells what is left out, and nothing else that a replica may know.
struct HashFrame: Sendable, Hashable {
  /// The constants of columns that were added on the state's line.
  var fills = Fills()
  /// The columns with constants, by table, that the state's schema does not have (yet, or any more).
  var absent: [String: Set<String>] = [:]

  func lacks(column: String, of table: String) -> Bool { absent[table]?.contains(column) == true }
}

extension HashFrame {
  /// Whether what is left out of this state is left out of another too, as far as both have the columns.
  func isComparable(with other: HashFrame, all: Fills) -> Bool {
    all.tables.allSatisfy { table, columns in
      columns.keys.allSatisfy { column in
        lacks(column: column, of: table) || other.lacks(column: column, of: table)
          || fills.tables[table]?[column] == other.fills.tables[table]?[column]
      }
    }
  }
}

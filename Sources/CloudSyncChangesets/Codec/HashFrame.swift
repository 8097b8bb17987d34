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
  /// Whether changes tell all that differs between the hashes of this state and another.
  ///
  /// They do not where a cell counts in one state and not in the other, though both have it.
  func isComparable(with other: HashFrame, all: Fills) -> Bool {
    all.tables.allSatisfy { table, columns in
      columns.allSatisfy { column, constant in
        let standing = [self, other].filter { !$0.lacks(column: column, of: table) }
          .map { $0.fills.tables[table]?[column] }
        return switch standing.count {
        case 0: true
        // Rows hold the constant where one state has the column, which the other knows nothing of.
        case 1: constant == .null || standing[0] != nil
        default: standing[0] == standing[1]
        }
      }
    }
  }
}

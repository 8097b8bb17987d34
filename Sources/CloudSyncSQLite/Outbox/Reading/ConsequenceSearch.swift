import CloudSyncSQLiteSupport

/// Finds the deletions between a note that a row about to be deleted does not match, and the deletion of that row.
struct ConsequenceSearch {
  private(set) var consequences: Set<Int64> = []
  /// The deletions so far, in their order.
  private var deletions: [Int64] = []
  /// How many deletions there were before the last note of a row after which nothing has happened to it.
  private var open: [RowIdentity: Int] = [:]

  mutating func take(_ edit: CapturedEdit, of row: RowIdentity) {
    if edit.change == .mismatched { return open[row] = deletions.count }
    let first = open.removeValue(forKey: row)
    guard edit.change == .deleted else { return }
    if let first { consequences.formUnion(deletions[first...]) }
    deletions.append(edit.id)
  }
}

/// What tells rows apart, however their keys are spelled.
struct RowIdentity: Hashable {
  var table: Int64
  var key: [SQLiteValue]
}

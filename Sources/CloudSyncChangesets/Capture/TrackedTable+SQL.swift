import CloudSyncSQLiteSupport

/// The statements of a tracked table that are run for each commit.
final class TrackedTableSQL: Sendable {
  /// Gives a row if anything was touched.
  let isTouched: KeptSQL
  /// What the mirror keeps, and what the table has in its place.
  let comparison: KeptSQL

  init(name: String, mirror: String, key: [String], columns: [String], hasBinaryKey: Bool) {
    isTouched = KeptSQL("SELECT 1 FROM \(mirror) LIMIT 1")
    let mirrored =
      key.indices.map { "m.k\($0)" } + ["m.was"] + columns.indices.map { "m.c\($0)" }
    let present = (key + columns).map { "t.\($0.quotedName)" }
    let match = key.enumerated()
      .map { place, column in
        let same = "t.\(column.quotedName) = m.k\(place)"
        return hasBinaryKey ? same : "\(same) AND m.k\(place) = t.\(column.quotedName)"
      }
    comparison = KeptSQL(
      """
      SELECT \((mirrored + present).joined(separator: ", ")) FROM \(mirror) m
      LEFT JOIN \(name.quotedName) t ON \(match.joined(separator: " AND "))
      """
    )
  }
}

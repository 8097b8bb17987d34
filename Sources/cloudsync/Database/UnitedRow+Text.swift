import CloudSyncCore
import CloudSyncSQLite

extension UnitedRow {
  /// The row for scripts: keys are SQL.
  struct Report: Encodable {
    var table: String
    var key: String
    var into: String

    init(_ row: UnitedRow) {
      table = row.table
      key = UnitedRow.literals(row.key)
      into = UnitedRow.literals(row.keptKey)
    }
  }

  /// Which row went into which, in a few words.
  var words: String {
    "\(table) \(Self.literals(key)) into \(Self.literals(keptKey))"
  }

  /// What is to be known of rows that have become one, and what to do if they are not the same; nil if there are none.
  static func warning(of rows: [UnitedRow], path: String) -> String? {
    guard let first = rows.first else { return nil }
    let more = rows.count == 1 ? "" : ", and \(rows.count - 1) more"
    return
      "warning: \(path): \(Phrase.count(rows.count, "row")) became one with another that has the same value of a unique"
      + " key, as --unique-merge says (\(first.words)\(more)); where the two differed the newer value stayed. If they are"
      + " not the same, take what is missing from a backup, with a value of its own, and sync with --unique-newest"
  }

  /// A key as SQL has it.
  static func literals(_ key: [FieldValue]) -> String {
    key.map(\.sqlText).joined(separator: ", ")
  }
}

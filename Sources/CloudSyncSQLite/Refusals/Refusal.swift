import CloudSyncSQLiteSupport

/// Why a row cannot be as the cloud, or a merge, would have it.
struct Refusal {
  /// SQLite's extended code; one of the engine's own where SQLite was not asked.
  var code: Int64
  var reason: String

  /// A value that no column can hold; SQLite's code for a datatype that does not match.
  static let mismatch: Int64 = 20
  /// A trigger that ignores what it is to write; SQLite's code for one that says no.
  static let ignored: Int64 = 1_811

  /// Whether another row holds the values of a unique key.
  var isUnique: Bool { Self.isUnique(code) }

  /// UNIQUE, PRIMARY KEY and row numbers.
  static func isUnique(_ code: Int64) -> Bool { [2_067, 1_555, 2_579].contains(code) }
}

extension SQLiteError {
  /// Whether SQLite, or a trigger of the app's, refuses a row for what it holds.
  var isRefusal: Bool {
    if kind == .constraint || kind == .foreignKey { return true }
    // A datatype that does not match, and a value too large for this build.
    return code & 0xff == 20 || code & 0xff == 18
  }
}

extension RowState {
  /// Forgets the row's state apart from the table: it is in the table now.
  mutating func unshelve() {
    shelf = nil
    shelfCode = nil
    shelfError = nil
  }

  /// Whether other rows may stand in the way of the row, or parents be missing, rather than rules.
  var isWorthRetrying: Bool {
    waitsFor != nil || shelfCode.map(Refusal.isUnique) ?? true
  }
}

import CloudSyncSQLiteSupport

extension SQLiteConnection {
  /// Whether the main database stores a value as it is.
  ///
  /// One in UTF-16 replaces text that is no UTF-8, and two characters of Unicode that are none.
  func keeps(_ value: SQLiteValue) throws(SQLiteError) -> Bool {
    switch value {
    case .null, .integer, .real, .blob: return true
    case .malformedText: return try isUTF16 == false
    case .text(let text): return text.hasNoncharacter ? try isUTF16 == false : true
    }
  }

  /// Whether the main database has its text in UTF-16.
  var isUTF16: Bool {
    get throws(SQLiteError) {
      try value("PRAGMA encoding") != .text("UTF-8")
    }
  }
}

extension String {
  /// Whether it has U+FFFE or U+FFFF.
  fileprivate var hasNoncharacter: Bool {
    // All but a few texts have no such byte.
    guard utf8.contains(0xef) else { return false }
    return unicodeScalars.contains { $0.value == 0xfffe || $0.value == 0xffff }
  }
}

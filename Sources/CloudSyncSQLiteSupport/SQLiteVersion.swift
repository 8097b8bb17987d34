#if canImport(SQLite3)
import SQLite3
#else
import CSQLite
#endif

/// The version of the SQLite that the program runs with.
package enum SQLiteVersion {
  /// The oldest that has what this package uses; iOS 16 and macOS 13 have 3.39.
  package static let least: Int32 = 3_037_000

  /// The one that the program runs with, as in `3.40.1`.
  package static var present: String { text(sqlite3_libversion_number()) }

  /// Throws where the linked library is too old: better at once than at a statement later.
  package static func check() throws(SQLiteError) {
    try check(sqlite3_libversion_number())
  }

  package static func check(_ number: Int32) throws(SQLiteError) {
    guard number < least else { return }
    throw SQLiteError(
      code: SQLITE_ERROR,
      message:
        "SQLite \(text(least)) or newer is needed, and this program runs with \(text(number))"
    )
  }

  private static func text(_ number: Int32) -> String {
    "\(number / 1_000_000).\(number / 1_000 % 1_000).\(number % 1_000)"
  }
}

import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// A statement of a migration, all of which is one transaction.
struct MigrationStatement {
  let sql: String

  /// Runs the statements of a script in the transaction that is open.
  static func run(script: String, on connection: SQLiteConnection) throws(SQLiteError) {
    try connection.execute(script: script) { (statement) throws(SQLiteError) in
      try MigrationStatement(sql: statement).isRun()
    }
  }

  /// Whether it is run: what begins and ends transactions in a script for other tools has no meaning here.
  func isRun() throws(SQLiteError) -> Bool {
    let text = SQLText(sql)
    // Empty statements before it belong to it.
    let first = text.meaningfulTokens.first { !text.isSymbol(";", at: $0) }
    guard let first else { return false }
    if ["BEGIN", "COMMIT", "END"].contains(where: { text.isWord($0, at: first) }) { return false }
    let isUndone = text.isWord("ROLLBACK", at: first) && !text.hasWord("TO")
    guard isUndone else { return true }
    throw SQLiteError(
      code: 1,
      message:
        "a migration cannot be rolled back by itself: remove the statement; nothing is kept of one that fails",
      sql: sql
    )
  }
}

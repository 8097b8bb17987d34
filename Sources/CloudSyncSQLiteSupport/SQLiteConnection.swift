#if canImport(SQLite3)
import SQLite3
#else
import CSQLite
#endif

/// A connection to a SQLite database, used by one thread at a time.
///
/// A connection that was opened here is closed when the last reference goes; one that was borrowed is
/// its owner's.
@safe
package final class SQLiteConnection {
  /// How a file is opened.
  package enum Access: Sendable {
    case readOnly
    case readWrite
    /// The file is created if it is missing.
    case create
    /// The file is read, and nobody changes it meanwhile: it is not locked, and nothing is made beside it.
    ///
    /// What a log beside it has is not seen.
    case unchanging

    fileprivate var flags: Int32 {
      switch self {
      case .readOnly: SQLITE_OPEN_READONLY
      case .unchanging: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
      case .readWrite: SQLITE_OPEN_READWRITE
      case .create: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
      }
    }
  }

  /// SQLite's own handle.
  package let handle: OpaquePointer
  private let isOwned: Bool
  /// Prepared statements, by their text.
  private var statements: [String: SQLiteStatement] = [:]
  /// Prepared statements of texts that are kept elsewhere, by their identity.
  private var keptStatements: [ObjectIdentifier: (sql: KeptSQL, statement: SQLiteStatement)] = [:]
  /// Prepared statements of the program's own text, by where it lies.
  private var fixedStatements: [UInt: SQLiteStatement] = [:]

  /// Opens a file; ":memory:" is a database that is nowhere else.
  package init(path: String, access: Access = .create) throws(SQLiteError) {
    try SQLiteVersion.check()
    var handle: OpaquePointer?
    let flags = access.flags | SQLITE_OPEN_NOMUTEX
    let name = access == .unchanging ? Self.unchangingName(path: path) : path
    let code = unsafe sqlite3_open_v2(name, &handle, flags, nil)
    guard code == SQLITE_OK, let handle = unsafe handle else {
      let error = unsafe Self.error(code, handle: handle)
      unsafe sqlite3_close_v2(handle)
      throw error
    }
    unsafe self.handle = handle
    isOwned = true
    unsafe sqlite3_extended_result_codes(handle, 1)
  }

  /// The URI of a file that nobody changes; every byte that is no letter or digit is escaped.
  private static func unchangingName(path: String) -> String {
    let bytes = path.utf8.map { byte in
      let isPlain =
        byte < 0x80 && (Character(UnicodeScalar(byte)).isLetter || byte == UInt8(ascii: "/"))
      return isPlain ? String(UnicodeScalar(byte)) : "%" + Hexadecimal.text(of: [byte])
    }
    return "file:\(bytes.joined())?immutable=1"
  }

  /// Uses a connection of somebody else's, who keeps it open meanwhile.
  package init(borrowing handle: OpaquePointer) {
    unsafe self.handle = handle
    isOwned = false
  }

  deinit {
    forgetStatements()
    if isOwned { unsafe sqlite3_close_v2(handle) }
  }

  /// Lets go of all prepared statements.
  package func forgetStatements() {
    statements.removeAll()
    keptStatements.removeAll()
    fixedStatements.removeAll()
  }

  /// Ends what queries have not come to an end, so that nothing of them is kept locked.
  package func resetStatements() {
    var next = unsafe sqlite3_next_stmt(handle, nil)
    while let statement = unsafe next {
      if unsafe sqlite3_stmt_busy(statement) != 0 { unsafe sqlite3_reset(statement) }
      unsafe next = sqlite3_next_stmt(handle, statement)
    }
  }

  /// Waits up to so long for other connections.
  package func setBusyTimeout(milliseconds: Int32) {
    unsafe sqlite3_busy_timeout(handle, milliseconds)
  }

  // MARK: Statements

  /// Runs statements that have no values and whose rows do not matter.
  package func execute(_ sql: String) throws(SQLiteError) {
    let code = unsafe sqlite3_exec(handle, sql, nil, nil, nil)
    if code != SQLITE_OK { throw error(code, sql: sql) }
  }

  /// The statement of a text, prepared at its first use and kept.
  package func statement(_ sql: String) throws(SQLiteError) -> SQLiteStatement {
    if let known = statements[sql] { return known }
    let statement = try prepare(sql)
    // Texts are as many as tables and combinations of columns: those in use come back soon.
    if statements.count >= 200 { statements.removeAll() }
    statements[sql] = statement
    return statement
  }

  /// The statement of a text that is kept elsewhere, prepared at its first use and kept.
  package func statement(_ sql: KeptSQL) throws(SQLiteError) -> SQLiteStatement {
    if let known = keptStatements[ObjectIdentifier(sql)] { return known.statement }
    let statement = try prepare(sql.text)
    // Whoever has kept a text may be gone.
    if keptStatements.count >= 500 { keptStatements.removeAll() }
    keptStatements[ObjectIdentifier(sql)] = (sql, statement)
    return statement
  }

  /// The statement of a text of the program's, prepared at its first use and kept.
  package func fixedStatement(_ sql: StaticString) throws(SQLiteError) -> SQLiteStatement {
    let key = unsafe UInt(bitPattern: sql.utf8Start)
    if let known = fixedStatements[key] { return known }
    let statement = try prepare("\(sql)")
    fixedStatements[key] = statement
    return statement
  }

  /// A statement that is used once.
  package func prepare(_ sql: String) throws(SQLiteError) -> SQLiteStatement {
    var prepared: OpaquePointer?
    let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
    let code = unsafe sqlite3_prepare_v3(handle, sql, -1, flags, &prepared, nil)
    guard code == SQLITE_OK else { throw error(code, sql: sql) }
    guard let prepared = unsafe prepared else {
      throw SQLiteError(code: SQLITE_MISUSE, message: "there is no statement", sql: sql)
    }
    return unsafe SQLiteStatement(prepared, of: handle)
  }

  /// The first column of a query's first row; nil if it gives no row.
  package func value(_ sql: String) throws(SQLiteError) -> SQLiteValue? {
    let statement = try prepare(sql)
    return try statement.step() ? statement.value(0) : nil
  }

  /// The whole number that a query gives; 0 if it gives none.
  package func integer(_ sql: String) throws(SQLiteError) -> Int64 {
    let statement = try prepare(sql)
    return try statement.step() ? statement.integer(0) : 0
  }

  /// How many rows the last statement has written itself, apart from triggers and foreign keys.
  package var changeCount: Int32 { unsafe sqlite3_changes(handle) }

  /// Whether a transaction is open.
  package var isInTransaction: Bool { unsafe sqlite3_get_autocommit(handle) == 0 }

  // MARK: Transactions

  /// Runs a body in a transaction that writes, and undoes all of it if the body throws.
  ///
  /// Within an open transaction it is a savepoint.
  package func transaction<Value, Failure: Error>(
    _ body: () throws(Failure) -> Value,
    mapping: (SQLiteError) -> Failure
  ) throws(Failure) -> Value {
    let isNested = isInTransaction
    let (begin, commit, undo): (StaticString, StaticString, String) =
      isNested
      ? ("SAVEPOINT cloudsync", "RELEASE cloudsync", "ROLLBACK TO cloudsync; RELEASE cloudsync")
      : ("BEGIN IMMEDIATE", "COMMIT", "ROLLBACK")
    do throws(SQLiteError) { try fixedStatement(begin).run() } catch { throw mapping(error) }
    do throws(Failure) {
      let value = try body()
      do throws(SQLiteError) { try fixedStatement(commit).run() } catch { throw mapping(error) }
      return value
    } catch {
      // Where SQLite has undone everything by itself there is nothing to undo, and it says so.
      if isInTransaction { unsafe sqlite3_exec(handle, undo, nil, nil, nil) }
      throw error
    }
  }

  /// Runs a body in a transaction that writes, and undoes all of it if the body throws.
  package func transaction<Value>(
    _ body: () throws(SQLiteError) -> Value
  ) throws(SQLiteError) -> Value {
    try transaction(body, mapping: { $0 })
  }

  // MARK: Errors

  func error(_ code: Int32, sql: String) -> SQLiteError {
    unsafe Self.error(code, handle: handle, sql: sql)
  }

  static func error(_ code: Int32, handle: OpaquePointer?, sql: String? = nil) -> SQLiteError {
    let message = unsafe handle.map { unsafe String(cString: sqlite3_errmsg($0)) } ?? "no memory"
    return SQLiteError(code: code, message: message, sql: sql)
  }
}

/// A text of SQL whose statement is found by its identity: it is not read anew for each row.
package final class KeptSQL: Sendable {
  package let text: String

  package init(_ text: String) { self.text = text }
}

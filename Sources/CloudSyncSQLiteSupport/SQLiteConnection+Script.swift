#if canImport(SQLite3)
import SQLite3
#else
import CSQLite
#endif

extension SQLiteConnection {
  /// Runs the statements of a text one after the other, whose rows do not matter.
  ///
  /// - Parameters:
  ///   - script: The text.
  ///   - isMeant: Whether a statement is run, by its text, which may begin with comments.
  /// - Throws: SQLite's reason, or that of `isMeant`; what was done before stays.
  package func execute(
    script: String,
    where isMeant: (String) throws(SQLiteError) -> Bool
  ) throws(SQLiteError) {
    let text = script.utf8CString
    var start = 0
    while start < text.count - 1 {
      let (statement, end) = try prepare(text, from: start)
      start = max(end, start + 1)
      if let statement, try isMeant(statement.sql) { while try statement.step() {} }
    }
  }

  /// The first statement from a place of a text on, nil if there is only a comment, and where it ends.
  private func prepare(
    _ text: ContiguousArray<CChar>,
    from start: Int
  ) throws(SQLiteError) -> (statement: SQLiteStatement?, end: Int) {
    var prepared: OpaquePointer?
    var end = start
    let code = unsafe text.withUnsafeBufferPointer { bytes in
      guard let base = bytes.baseAddress else { return SQLITE_OK }
      var tail: UnsafePointer<CChar>?
      let code = unsafe sqlite3_prepare_v3(handle, base + start, -1, 0, &prepared, &tail)
      if let tail = unsafe tail { end = unsafe tail - base }
      return code
    }
    guard code == SQLITE_OK else {
      let words = text[start..<(text.count - 1)].prefix(200).map(UInt8.init(bitPattern:))
      throw error(code, sql: String(decoding: words, as: UTF8.self))
    }
    return (unsafe prepared.map { unsafe SQLiteStatement($0, of: handle) }, end)
  }
}

public import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

extension DatabaseFile {
  /// Runs one statement with values, and returns its rows.
  ///
  /// A statement that edits rows is captured like any other: call ``SyncEngine/sendChanges()`` afterwards.
  ///
  /// - Parameters:
  ///   - sql: The statement, with `?` or `?1` for each value.
  ///   - values: The values in the order of the statement: null, text, numbers and data.
  /// - Returns: All rows; none for a statement that has no result.
  /// - Throws: SQLite's reason with the statement and the file, or that the values do not fit the statement.
  @discardableResult
  public func query(
    _ sql: String,
    _ values: [FieldValue] = []
  ) throws(SyncEngineError) -> [DatabaseRow] {
    let path = path
    return try use { (connection) throws(SyncEngineError) in
      do throws(SQLiteError) {
        let statement = try connection.prepare(sql)
        try statement.bind(values, of: sql)
        let columns = (0..<statement.columnCount).map { statement.columnName($0) }
        return try statement.mapRows { statement in
          DatabaseRow(
            columns: columns,
            values: columns.indices.map { $0.field(of: statement) }
          )
        }
      } catch {
        let mapped = SyncEngineError(error, path: path)
        // The statement is what whoever reads the message looks for.
        let reason = mapped.reason.contains(sql) ? mapped.reason : "\(mapped.reason), in: \(sql)"
        throw SyncEngineError(mapped.code, path: path, reason)
      }
    }
  }
}

extension Int {
  /// The value of a statement's column of this number.
  fileprivate func field(of statement: SQLiteStatement) -> FieldValue {
    let value = statement.value(Int32(self))
    guard case .field(let field) = ValueCodec.encode(value, assetThreshold: .max) else {
      return .null
    }
    // A text with a NUL is a text to whoever reads it here: only a record needs another form of it.
    if case .text(let text) = value { return .string(text) }
    return field
  }
}

extension SQLiteStatement {
  /// Binds values to all that the statement asks for.
  fileprivate func bind(_ values: [FieldValue], of text: String) throws(SQLiteError) {
    let rest = text.utf8.dropFirst(sql.utf8.count)
    guard rest.allSatisfy({ [9, 10, 12, 13, 32, 59].contains($0) }) else {
      throw misuse("there is more than one statement; use execute(_:) for several", text)
    }
    guard values.count == parameterCount else {
      throw misuse(
        "the statement takes \(parameterCount) values, and \(values.count) were given",
        text
      )
    }
    for (place, value) in values.enumerated() {
      guard case .value(let stored)? = ValueCodec.decode(value) else {
        throw misuse("a \(value.kind) cannot be stored in a column", text)
      }
      bind(stored, at: Int32(place + 1))
    }
  }

  private func misuse(_ message: String, _ text: String) -> SQLiteError {
    SQLiteError(code: 21, message: message, sql: text)  // SQLITE_MISUSE
  }
}

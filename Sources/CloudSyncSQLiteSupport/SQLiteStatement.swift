#if canImport(SQLite3)
import SQLite3
#else
import CSQLite
#endif

/// A prepared statement: bind its values, counted from 1, step through its rows, and reset it.
///
/// It must not outlive its connection's handle. Values that are bound stay bound.
@safe
package final class SQLiteStatement {
  private let handle: OpaquePointer
  private let connection: OpaquePointer

  /// Tells SQLite to copy what is bound.
  private static var transient: sqlite3_destructor_type {
    unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
  }

  init(_ handle: OpaquePointer, of connection: OpaquePointer) {
    unsafe self.handle = handle
    unsafe self.connection = connection
  }

  deinit { unsafe sqlite3_finalize(handle) }

  /// The statement's text.
  package var sql: String { unsafe sqlite3_sql(handle).map { unsafe String(cString: $0) } ?? "" }

  /// How many values it takes.
  package var parameterCount: Int { unsafe Int(sqlite3_bind_parameter_count(handle)) }

  // MARK: Values

  @discardableResult
  package func bind(_ value: Int64, at index: Int32) -> SQLiteStatement {
    unsafe sqlite3_bind_int64(handle, index, value)
    return self
  }

  @discardableResult
  package func bind(_ text: String, at index: Int32) -> SQLiteStatement {
    var text = text
    text.withUTF8 { bytes in unsafe bindText(UnsafeRawBufferPointer(bytes), at: index) }
    return self
  }

  @discardableResult
  package func bind(_ bytes: [UInt8], at index: Int32) -> SQLiteStatement {
    _ = unsafe bytes.withUnsafeBytes { buffer in
      // Without bytes there may be no address, and SQLite would take it for NULL.
      if unsafe buffer.isEmpty {
        unsafe sqlite3_bind_zeroblob(handle, index, 0)
      } else {
        unsafe sqlite3_bind_blob64(
          handle,
          index,
          buffer.baseAddress,
          UInt64(buffer.count),
          Self.transient
        )
      }
    }
    return self
  }

  @discardableResult
  package func bindNull(at index: Int32) -> SQLiteStatement {
    unsafe sqlite3_bind_null(handle, index)
    return self
  }

  @discardableResult
  package func bind(_ value: SQLiteValue, at index: Int32) -> SQLiteStatement {
    switch value {
    case .null: bindNull(at: index)
    case .integer(let value): bind(value, at: index)
    case .real(let value): unsafe sqlite3_bind_double(handle, index, value)
    case .text(let value): bind(value, at: index)
    case .malformedText(let bytes):
      unsafe bytes.withUnsafeBytes { unsafe bindText($0, at: index) }
    case .blob(let bytes): bind(bytes, at: index)
    }
    return self
  }

  private func bindText(_ bytes: UnsafeRawBufferPointer, at index: Int32) {
    guard let start = unsafe bytes.baseAddress?.assumingMemoryBound(to: CChar.self) else {
      return _ = unsafe sqlite3_bind_text(handle, index, "", 0, Self.transient)
    }
    unsafe sqlite3_bind_text64(
      handle,
      index,
      start,
      UInt64(bytes.count),
      Self.transient,
      UInt8(SQLITE_UTF8)
    )
  }

  /// Binds bytes while a body runs, without a copy.
  package func binding<Value, Failure: Error>(
    _ bytes: [UInt8],
    at index: Int32,
    _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    let result = unsafe bytes.withUnsafeBytes { buffer -> Result<Value, Failure> in
      if unsafe buffer.isEmpty {
        unsafe sqlite3_bind_zeroblob(handle, index, 0)
      } else {
        unsafe sqlite3_bind_blob64(handle, index, buffer.baseAddress, UInt64(buffer.count), nil)
      }
      defer { unsafe sqlite3_bind_null(handle, index) }
      do throws(Failure) { return .success(try body()) } catch { return .failure(error) }
    }
    return try result.get()
  }

  // MARK: Rows

  /// Goes to the next row, if there is one.
  package func step() throws(SQLiteError) -> Bool {
    let code = unsafe sqlite3_step(handle)
    switch code {
    case SQLITE_ROW: return true
    case SQLITE_DONE:
      unsafe sqlite3_reset(handle)
      return false
    default:
      let error = unsafe SQLiteConnection.error(code, handle: connection, sql: sql)
      unsafe sqlite3_reset(handle)
      throw error
    }
  }

  /// Runs a statement whose rows do not matter.
  package func run() throws(SQLiteError) {
    while try step() {}
  }

  /// Ends a query before its last row.
  package func reset() { unsafe sqlite3_reset(handle) }

  /// Calls a body for every row; the statement is reset in the end, also if the body throws.
  package func forEachRow<Failure: Error>(
    mapping: (SQLiteError) -> Failure,
    _ body: () throws(Failure) -> Void
  ) throws(Failure) {
    defer { reset() }
    while true {
      let hasRow: Bool
      do throws(SQLiteError) { hasRow = try step() } catch { throw mapping(error) }
      guard hasRow else { return }
      try body()
    }
  }

  package func forEachRow(_ body: () throws(SQLiteError) -> Void) throws(SQLiteError) {
    try forEachRow(mapping: { $0 }, body)
  }

  /// What a body makes of every row; the statement is reset in the end, also if the body throws.
  package func mapRows<Value>(
    _ body: (SQLiteStatement) throws(SQLiteError) -> Value
  ) throws(SQLiteError) -> [Value] {
    var values: [Value] = []
    try forEachRow { () throws(SQLiteError) in values.append(try body(self)) }
    return values
  }

  // MARK: Columns, counted from 0

  /// A column's name, as the query calls it.
  package func columnName(_ column: Int32) -> String {
    unsafe sqlite3_column_name(handle, column).map { unsafe String(cString: $0) } ?? ""
  }

  package var columnCount: Int32 { unsafe sqlite3_column_count(handle) }

  package func isNull(_ column: Int32) -> Bool {
    unsafe sqlite3_column_type(handle, column) == SQLITE_NULL
  }

  package func integer(_ column: Int32) -> Int64 { unsafe sqlite3_column_int64(handle, column) }

  /// Bytes; none for NULL.
  package func bytes(_ column: Int32) -> [UInt8] {
    guard let start = unsafe sqlite3_column_blob(handle, column) else { return [] }
    let count = unsafe Int(sqlite3_column_bytes(handle, column))
    return unsafe Array(UnsafeRawBufferPointer(start: start, count: count))
  }

  /// Text, whose bytes may contain zeros; nil for NULL and if they are no UTF-8.
  package func text(_ column: Int32) -> String? {
    guard let start = unsafe sqlite3_column_text(handle, column) else { return nil }
    let count = unsafe Int(sqlite3_column_bytes(handle, column))
    let bytes = unsafe UnsafeRawBufferPointer(start: start, count: count)
    // Decoding repairs what is wrong, so only what was right comes out as it went in.
    var text = unsafe String(decoding: bytes, as: UTF8.self)
    let isSame = text.withUTF8 { unsafe UnsafeRawBufferPointer($0).hasSameBytes(as: bytes) }
    return isSame ? text : nil
  }

  /// The value, exactly as it is stored.
  package func value(_ column: Int32) -> SQLiteValue {
    switch unsafe sqlite3_column_type(handle, column) {
    case SQLITE_INTEGER: .integer(integer(column))
    case SQLITE_FLOAT: unsafe .real(sqlite3_column_double(handle, column))
    case SQLITE_TEXT: text(column).map { .text($0) } ?? .malformedText(bytes(column))
    case SQLITE_BLOB: .blob(bytes(column))
    default: .null
    }
  }
}

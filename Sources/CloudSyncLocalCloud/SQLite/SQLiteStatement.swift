import CloudSyncCore

#if canImport(SQLite3)
import SQLite3
#else
import CSQLite
#endif

/// A prepared statement: bind its values, step through its rows, and reset it.
final class SQLiteStatement {
  private let handle: OpaquePointer
  private unowned let database: SQLiteDatabase

  /// Tells SQLite to copy what is bound.
  private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

  init(_ handle: OpaquePointer, _ database: SQLiteDatabase) {
    self.handle = handle
    self.database = database
  }

  deinit { sqlite3_finalize(handle) }

  // MARK: Values

  @discardableResult
  func bind(_ value: Int64, at index: Int32) -> SQLiteStatement {
    sqlite3_bind_int64(handle, index, value)
    return self
  }

  @discardableResult
  func bind(_ text: String, at index: Int32) -> SQLiteStatement {
    UTF8Bytes.with(text) { bytes in
      // Without bytes there is no address, and SQLite would take it for NULL.
      guard let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self) else {
        return _ = sqlite3_bind_text(handle, index, "", 0, Self.transient)
      }
      sqlite3_bind_text(handle, index, start, Int32(bytes.count), Self.transient)
    }
    return self
  }

  /// Binds bytes while a body runs, without a copy.
  func binding<Value>(
    _ bytes: [UInt8],
    at index: Int32,
    _ body: () throws(LocalCloudStoreError) -> Value
  ) throws(LocalCloudStoreError) -> Value {
    let result = bytes.withUnsafeBytes { buffer -> Result<Value, LocalCloudStoreError> in
      if buffer.count == 0 {
        sqlite3_bind_zeroblob(handle, index, 0)
      } else {
        sqlite3_bind_blob64(handle, index, buffer.baseAddress, UInt64(buffer.count), nil)
      }
      defer { sqlite3_bind_null(handle, index) }
      do throws(LocalCloudStoreError) { return .success(try body()) } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  // MARK: Rows

  /// Goes to the next row, if there is one.
  func step() throws(LocalCloudStoreError) -> Bool {
    switch sqlite3_step(handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE:
      sqlite3_reset(handle)
      return false
    case let code:
      let error = database.error(code)
      sqlite3_reset(handle)
      throw error
    }
  }

  /// Runs a statement that gives no rows.
  func run() throws(LocalCloudStoreError) {
    _ = try step()
    sqlite3_reset(handle)
  }

  /// Ends a query before its last row.
  func reset() { sqlite3_reset(handle) }

  func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

  func bytes(_ column: Int32) -> [UInt8] {
    guard let start = sqlite3_column_blob(handle, column) else { return [] }
    let count = Int(sqlite3_column_bytes(handle, column))
    return Array(UnsafeRawBufferPointer(start: start, count: count))
  }

  /// Text, whose bytes may contain zeros; nil if they are no UTF-8.
  func text(_ column: Int32) -> String? {
    guard let start = sqlite3_column_text(handle, column) else { return nil }
    let count = Int(sqlite3_column_bytes(handle, column))
    return UTF8Bytes.text(UnsafeRawBufferPointer(start: start, count: count))
  }
}

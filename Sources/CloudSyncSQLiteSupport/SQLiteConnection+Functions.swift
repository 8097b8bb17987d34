#if canImport(SQLite3)
import SQLite3
#else
import CSQLite
#endif

extension SQLiteConnection {
  /// Whether SQL on this connection can call a function of that name without arguments.
  package func hasFunction(_ name: String) -> Bool {
    // Every version of SQLite answers so; its list of functions is not there in all of them.
    do throws(SQLiteError) { _ = try prepare("SELECT \(name.quotedName)()") } catch { return false }
    return true
  }

  /// Gives SQL on this connection a function without arguments that returns text, another each time.
  ///
  /// It may stand in defaults and triggers. It stays until the connection is closed or the next of its
  /// name takes its place, and is called on whatever thread uses the connection.
  package func addTextFunction(
    _ name: String,
    _ body: @escaping @Sendable () -> String
  ) throws(SQLiteError) {
    let context = unsafe Unmanaged.passRetained(TextFunction(body)).toOpaque()
    let code = unsafe sqlite3_create_function_v2(
      handle,
      name,
      0,
      SQLITE_UTF8 | SQLITE_INNOCUOUS,
      context,
      { call, _, _ in
        guard let context = unsafe sqlite3_user_data(call) else {
          return unsafe sqlite3_result_error_nomem(call)
        }
        let function = unsafe Unmanaged<TextFunction>.fromOpaque(context).takeUnretainedValue()
        let copies = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        unsafe sqlite3_result_text(call, function.body(), -1, copies)
      },
      nil,
      nil,
      { context in
        if let context = unsafe context {
          unsafe Unmanaged<TextFunction>.fromOpaque(context).release()
        }
      }
    )
    // SQLite lets go of the context itself where it refuses.
    guard code == SQLITE_OK else { throw unsafe Self.error(code, handle: handle) }
  }
}

/// What SQLite keeps of a function.
private final class TextFunction: Sendable {
  let body: @Sendable () -> String

  init(_ body: @escaping @Sendable () -> String) { self.body = body }
}

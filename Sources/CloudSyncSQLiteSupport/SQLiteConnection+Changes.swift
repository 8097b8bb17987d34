#if canImport(SQLite3)
import SQLite3
#else
import CSQLite
#endif

/// What a connection has written while somebody listened.
package struct SQLiteChanges: Sendable, Hashable {
  /// The tables whose rows were changed, as far as SQLite tells.
  package fileprivate(set) var tables: Set<String> = []
  /// Whether rows were changed that SQLite does not tell of: those of tables without a rowid.
  package fileprivate(set) var hasUntoldRows = false
}

extension SQLiteConnection {
  /// Takes what the update hook is told.
  private final class Listener {
    var tables: Set<String> = []
    var count: Int32 = 0
  }

  /// Runs a body and finds out which tables it writes to; changes that it undoes are among them.
  ///
  /// The connection's one update hook is taken meanwhile, so it must be free.
  package func changes<Value>(
    during body: () throws -> Value
  ) rethrows -> (value: Value, changes: SQLiteChanges) {
    let listener = Listener()
    let before = unsafe sqlite3_total_changes(handle)
    let former = unsafe sqlite3_update_hook(
      handle,
      { listener, _, _, table, _ in
        guard let listener = unsafe listener, let table = unsafe table else { return }
        let known = unsafe Unmanaged<Listener>.fromOpaque(listener).takeUnretainedValue()
        known.count &+= 1
        unsafe known.tables.insert(String(cString: table))
      },
      Unmanaged.passUnretained(listener).toOpaque()
    )
    unsafe precondition(
      former == nil,
      "the connection's update hook is in use: record what is written while nobody else does"
    )
    defer { unsafe sqlite3_update_hook(handle, nil, nil) }
    let value = try withExtendedLifetime(listener) { try body() }
    let count = unsafe sqlite3_total_changes(handle) &- before
    return (value, SQLiteChanges(tables: listener.tables, hasUntoldRows: count != listener.count))
  }
}

#if canImport(SQLite3)
import SQLite3
#else
import CSQLite
#endif

/// Breaks a connection's work off at a statement: for tests and simulations of crashes.
///
/// From the statement of a number on, statements fail, and nothing is committed: whatever transaction
/// is open is rolled back, as a crash would have it. The statements of triggers count like others.
@safe
package final class StatementFault {
  /// How many statements are still to begin, with the one that fails.
  package private(set) var remaining: Int
  /// Whether statements fail now.
  package private(set) var hasStruck = false
  private let didStrike: () -> Void
  private var isUndoing = false

  /// Creates a fault.
  ///
  /// - Parameters:
  ///   - statement: Which statement fails, counted from 1.
  ///   - didStrike: Is called when it begins.
  package init(at statement: Int, didStrike: @escaping () -> Void = {}) {
    remaining = statement
    self.didStrike = didStrike
  }

  /// Notes that a statement begins, or a trigger, whose text is a comment.
  fileprivate func begin(_ text: UnsafePointer<CChar>?) {
    if hasStruck {
      isUndoing = unsafe text.map { unsafe String(cString: $0).hasPrefix("ROLLBACK") } ?? false
      return
    }
    remaining -= 1
    guard remaining <= 0 else { return }
    hasStruck = true
    didStrike()
  }

  /// Whether what runs now must fail.
  fileprivate var mustFail: Bool { hasStruck && !isUndoing }

  fileprivate static func of(_ context: UnsafeMutableRawPointer?) -> StatementFault? {
    unsafe context.map {
      unsafe Unmanaged<StatementFault>.fromOpaque($0).takeUnretainedValue()
    }
  }
}

extension SQLiteConnection {
  /// Runs a body in which a fault may strike; the hooks of the connection are the fault's meanwhile.
  package func withFault<Value>(
    _ fault: StatementFault,
    _ body: () throws -> Value
  ) throws -> Value {
    let context = unsafe Unmanaged.passUnretained(fault).toOpaque()
    unsafe sqlite3_trace_v2(
      handle,
      UInt32(SQLITE_TRACE_STMT),
      { _, context, _, text in
        unsafe StatementFault.of(context)?.begin(text?.assumingMemoryBound(to: CChar.self))
        return 0
      },
      context
    )
    unsafe sqlite3_progress_handler(
      handle,
      1,
      { unsafe StatementFault.of($0)?.mustFail == true ? 1 : 0 },
      context
    )
    // What a statement has done before it noticed is not committed.
    unsafe sqlite3_commit_hook(
      handle,
      { unsafe StatementFault.of($0)?.hasStruck == true ? 1 : 0 },
      context
    )
    defer {
      unsafe sqlite3_trace_v2(handle, 0, nil, nil)
      unsafe sqlite3_progress_handler(handle, 0, nil, nil)
      unsafe sqlite3_commit_hook(handle, nil, nil)
      // A BEGIN that failed may have begun.
      if fault.hasStruck, isInTransaction { unsafe sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
    }
    return try withExtendedLifetime(fault) { try body() }
  }
}

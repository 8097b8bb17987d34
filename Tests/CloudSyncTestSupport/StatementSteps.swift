import CloudSyncCore

#if canImport(SQLite3)
import SQLite3
#else
import CSQLite
#endif

/// Counts the steps that SQLite makes on a connection, in tens.
package final class StatementSteps: Sendable {
  private let count = Locked(0)

  /// How many tens of steps a body takes on the connection that `use` gives the handle of.
  package static func count(
    of use: (@Sendable (OpaquePointer) -> Void) throws -> Void,
    during body: () throws -> Void
  ) throws -> Int {
    let steps = StatementSteps()
    let context = Unmanaged.passRetained(steps)
    defer { context.release() }
    let address = Int(bitPattern: context.toOpaque())
    try use { listen(to: $0, address) }
    try body()
    try use { sqlite3_progress_handler($0, 0, nil, nil) }
    return steps.count.withLock { $0 }
  }

  private static func listen(to handle: OpaquePointer, _ address: Int) {
    sqlite3_progress_handler(
      handle,
      10,
      { context in
        guard let context else { return 0 }
        let steps = Unmanaged<StatementSteps>.fromOpaque(context).takeUnretainedValue()
        steps.count.withLock { $0 += 1 }
        return 0
      },
      UnsafeMutableRawPointer(bitPattern: address)
    )
  }
}

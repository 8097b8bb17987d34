import CloudSyncCore
import CloudSyncSQLite

#if canImport(SQLite3)
import SQLite3
#else
import CSQLite
#endif

/// Counts the steps that SQLite makes on a connection, in tens.
final class StatementSteps: Sendable {
  private let count = Locked(0)

  /// How many tens of steps a body takes.
  static func count(of database: DatabaseFile, during body: () throws -> Void) throws -> Int {
    let steps = StatementSteps()
    let context = Unmanaged.passRetained(steps)
    defer { context.release() }
    try steps.listen(to: database, context.toOpaque())
    try body()
    try database.write { handle in sqlite3_progress_handler(handle, 0, nil, nil) }
    return steps.count.withLock { $0 }
  }

  private func listen(to database: DatabaseFile, _ context: UnsafeMutableRawPointer) throws {
    let address = Int(bitPattern: context)
    try database.write { handle in
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
}

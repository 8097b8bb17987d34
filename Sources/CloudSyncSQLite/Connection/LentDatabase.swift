import CloudSyncCore

/// A connection that the app has opened itself, lent to an engine.
///
/// ```swift
/// let database = LentDatabase(handle) { work in
///   try queue.sync { try work() }  // where the app uses the connection
/// }
/// ```
///
/// The app keeps the handle open while an engine has the database, and uses it itself only in the same way: on the
/// same queue, or under the same lock. No transaction of the app's may be open while the work is done. What has to
/// wait for another connection's lock waits as long as the app has told SQLite to: call `sqlite3_busy_timeout`.
public final class LentDatabase: SyncDatabase {
  /// Where the handle lies, as a number: Swift lets no pointer go from one thread to another.
  ///
  /// That only one thread uses it at a time, whoever lends it sees to.
  private let address: UInt
  private let serially: @Sendable (_ work: () throws -> Void) throws -> Void

  /// Lends a connection.
  ///
  /// - Parameters:
  ///   - handle: SQLite's handle of the connection.
  ///   - serially: Does the work it is given at once and once, while nobody else uses the connection, and returns
  ///     when it is done. It may refuse by throwing.
  public init(
    _ handle: OpaquePointer,
    serially: @escaping @Sendable (_ work: () throws -> Void) throws -> Void
  ) {
    address = UInt(bitPattern: handle)
    self.serially = serially
  }

  /// Runs a block with the connection, alone.
  ///
  /// The block must not call this object, unless what lends the connection may be called from inside its work.
  ///
  /// - Parameter body: What is done with SQLite's handle; it keeps neither that nor a statement.
  /// - Returns: What the block returns.
  /// - Throws: What the block throws, or why the connection was not lent.
  public func write<Value: Sendable>(
    _ body: @Sendable (OpaquePointer) throws -> Value
  ) throws -> Value {
    var value: Value?
    try serially {
      if let handle = OpaquePointer(bitPattern: address) { value = try body(handle) }
    }
    guard let value else {
      throw SyncEngineError(.cannotAccess, "the database was lent, but the work was not done")
    }
    return value
  }
}

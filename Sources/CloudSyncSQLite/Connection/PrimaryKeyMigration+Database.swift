import CloudSyncCore
public import CloudSyncSQLiteSchema
package import CloudSyncSQLiteSupport

extension PrimaryKeyMigration {
  /// Migrates a database in one transaction: all of it or, if anything fails, nothing.
  ///
  /// - Parameter database: The database; the engine must not be set up on its tables.
  /// - Returns: The tables that were rewritten, by name.
  /// - Throws: A ``SyncEngineError`` that names the table that stands in the way, and why; or what the
  ///   database throws.
  @discardableResult
  public func run(on database: some SyncDatabase) throws -> [String] {
    try database.write { handle in try run(on: SQLiteConnection(borrowing: handle)) }
  }

  /// Migrates a database in one transaction, and tells the old and the new key of each row.
  ///
  /// - Parameters:
  ///   - database: The database; the engine must not be set up on its tables.
  ///   - onKey: Takes each pair before anything is final: an error that it throws undoes everything.
  /// - Returns: The tables that were rewritten, by name.
  /// - Throws: As ``run(on:)``, or what the closure throws.
  @discardableResult
  public func run(
    on database: some SyncDatabase,
    onKey: @escaping @Sendable (KeyMapping) throws -> Void
  ) throws -> [String] {
    let failure = Locked<(any Error)?>(nil)
    do {
      return try database.write { handle in
        try run(
          on: SQLiteConnection(borrowing: handle),
          listener: KeyListener { (mapping) throws(SQLiteError) in
            do { try onKey(mapping) } catch {
              failure.withLock { $0 = error }
              throw SQLiteError(code: 4, message: "the keys could not be kept: \(error)")
            }
          }
        )
      }
    } catch { throw failure.withLock { $0 } ?? error }
  }

  /// Finds out what the migration would do, and changes nothing.
  ///
  /// - Parameter database: The database.
  /// - Returns: What would be done, what looks like a reference and is not declared, and what else to know.
  /// - Throws: A ``SyncEngineError`` that names the table that stands in the way, and why; or what the
  ///   database throws.
  public func report(on database: some SyncDatabase) throws -> KeyMigrationReport {
    try database.write { handle in
      do throws(KeyMigrationError) {
        return try report(on: SQLiteConnection(borrowing: handle))
      } catch { throw SyncEngineError(error) }
    }
  }

  /// Migrates a connection's main database.
  @discardableResult
  package func run(
    on connection: SQLiteConnection,
    listener: KeyListener? = nil
  ) throws(SyncEngineError) -> [String] {
    do throws(KeyMigrationError) {
      return try run(on: connection, digest: { SHA256.digest(of: $0) }, listener: listener)
    } catch { throw SyncEngineError(error) }
  }
}

extension SyncEngineError {
  fileprivate init(_ error: KeyMigrationError) {
    switch error {
    case .schema(let reason): self.init(.schema, reason)
    case .damaged(let reason): self.init(.damaged, reason)
    case .sqlite(let error): self.init(error)
    }
  }
}

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

  /// Migrates a connection's main database.
  @discardableResult
  package func run(on connection: SQLiteConnection) throws(SyncEngineError) -> [String] {
    do throws(KeyMigrationError) {
      return try run(on: connection) { SHA256.digest(of: $0) }
    } catch {
      throw switch error {
      case .schema(let reason): SyncEngineError(.schema, reason)
      case .damaged(let reason): SyncEngineError(.damaged, reason)
      case .sqlite(let error): SyncEngineError(error)
      }
    }
  }
}

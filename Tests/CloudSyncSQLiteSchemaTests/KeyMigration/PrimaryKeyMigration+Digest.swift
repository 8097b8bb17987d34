import CloudSyncCore
import CloudSyncSQLiteSupport

@testable import CloudSyncSQLiteSchema

extension PrimaryKeyMigration {
  @discardableResult
  func run(on connection: SQLiteConnection) throws(KeyMigrationError) -> [String] {
    try run(on: connection) { SHA256.digest(of: $0) }
  }
}

extension DerivedUUID {
  init(salt: String) { self.init(salt: salt) { SHA256.digest(of: $0) } }
}

extension KeyMigrationError {
  /// What it says; nil for an error of SQLite's.
  var reason: String? {
    switch self {
    case .schema(let reason), .damaged(let reason): reason
    case .sqlite(let error): error.message
    }
  }
}

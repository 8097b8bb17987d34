import CloudSyncSession
import CloudSyncSQLite

enum MigrationsSamples {
  static func add(_ database: DatabaseFile) throws {
    // SAMPLE: CloudSyncSQLite/Migrations.md
    try database.execute("ALTER TABLE notes ADD COLUMN color TEXT")
    // SAMPLE: end
  }

  static func drop(_ database: DatabaseFile) throws {
    // SAMPLE: CloudSyncSQLite/Migrations.md
    try SyncEngine.withoutCapture(of: ["notes"], in: database) {
      try database.execute(
        """
        ALTER TABLE notes RENAME COLUMN text TO body;
        ALTER TABLE notes DROP COLUMN stars;
        """
      )
    }
    // SAMPLE: end
  }

  static func keys(_ database: DatabaseFile) throws {
    // SAMPLE: CloudSyncSQLite/Migrations.md
    let violations = try SyncEngine.check(database, tables: ["lists", "notes"])
    for violation in violations { print(violation) }
    // SAMPLE: end
  }
}

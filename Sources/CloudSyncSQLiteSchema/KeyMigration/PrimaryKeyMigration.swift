package import CloudSyncSQLiteSupport

/// Gives tables keys that can be synchronized: integer and missing primary keys become UUIDs.
///
/// A key of one integer column, or none, becomes a `TEXT` key with a fresh UUID as its default. All that
/// refers to it follows, in type and in value, also in keys of several columns; these, and keys that are
/// no integers, stay otherwise as they are. Declarations keep their comments, quotes, collations and
/// rules, rows keep their numbers, and indexes, triggers and views stay as they were written.
///
/// A row's UUID depends on its table, its old key (or its number, where there was no key) and the salt
/// alone: copies of one database get the same UUIDs. Hence databases that hold different rows with the
/// same keys, as those of two users do, need different salts if they will ever share rows.
public struct PrimaryKeyMigration: Sendable, Hashable {
  /// The tables, among them all that refer to those whose keys change.
  public var tables: [String]
  /// What makes the UUIDs of this database its own.
  public var salt: String
  /// Whether unique keys beside the primary one go.
  ///
  /// Unique indexes then become plain ones. Keys that a foreign key needs stay.
  public var dropsUniqueKeys: Bool

  /// The default of new keys, as the SQL of an expression.
  ///
  /// At first it is `uuid()`, which plain SQLite lacks: other connections than the engine's must have it
  /// to insert rows. ``portableKeyDefault`` works everywhere.
  public var keyDefault = "uuid()"

  /// An expression that gives a random UUID (version 4) in every SQLite.
  public static let portableKeyDefault = """
    lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) \
    || '-' || substr('89ab', 1 + (random() & 3), 1) || substr(hex(randomblob(2)), 2) || '-' \
    || hex(randomblob(6)))
    """

  /// Creates a migration.
  public init(tables: [String], salt: String = "", dropsUniqueKeys: Bool = false) {
    self.tables = tables
    self.salt = salt
    self.dropsUniqueKeys = dropsUniqueKeys
  }

  /// Migrates a connection's main database in one transaction: all of it or, if anything fails, nothing.
  ///
  /// - Parameters:
  ///   - connection: The connection; the engine must not be set up on its tables.
  ///   - digest: SHA-256, which this module does not have.
  /// - Returns: The tables that were rewritten, by name.
  /// - Throws: The table that stands in the way, and why; or what SQLite throws.
  @discardableResult
  package func run(
    on connection: SQLiteConnection,
    digest: @escaping ([UInt8]) -> [UInt8]
  ) throws(KeyMigrationError) -> [String] {
    if connection.isInTransaction {
      throw KeyMigrationError.schema(
        "primary keys cannot be migrated within a transaction; end it first"
      )
    }
    let restored = try sqlite { () throws(SQLiteError) in
      let foreignKeys = try connection.integer("PRAGMA foreign_keys")
      let legacyRenaming = try connection.integer("PRAGMA legacy_alter_table")
      // Else dropping a table would delete what refers to it, and renaming it would take others along.
      try connection.execute("PRAGMA foreign_keys = OFF; PRAGMA legacy_alter_table = ON")
      return "PRAGMA foreign_keys = \(foreignKeys); PRAGMA legacy_alter_table = \(legacyRenaming)"
    }
    let result: Result<[String], KeyMigrationError>
    do throws(KeyMigrationError) {
      let uuids = DerivedUUID(salt: salt, digest: digest)
      result = .success(
        try connection.transaction(
          { () throws(KeyMigrationError) in try migrate(connection, uuids: uuids) },
          mapping: { .sqlite($0) }
        )
      )
    } catch { result = .failure(error) }
    try sqlite { () throws(SQLiteError) in try connection.execute(restored) }
    return try result.get()
  }

  /// Migrates within a transaction.
  private func migrate(
    _ connection: SQLiteConnection,
    uuids: DerivedUUID
  ) throws(KeyMigrationError) -> [String] {
    let schema = try sqlite { () throws(SQLiteError) in try DatabaseSchema.read(connection) }
    let plan = try MigrationPlan(self, for: schema)
    guard !plan.tables.isEmpty else { return [] }
    let execution = MigrationExecution(
      plan: plan,
      uuids: uuids,
      keyDefault: keyDefault,
      connection: connection
    )
    try execution.run()
    return plan.tables.map(\.schema.name)
  }
}

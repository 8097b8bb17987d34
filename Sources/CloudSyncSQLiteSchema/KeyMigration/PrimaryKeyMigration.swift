package import CloudSyncSQLiteSupport

/// Gives tables keys that can be synchronized: integer and missing primary keys become UUIDs.
///
/// A key of one integer column, or none, becomes a `TEXT` key with a fresh UUID as its default. All that
/// refers to it follows, in type and in value, also in keys of several columns; these, and keys that are
/// no integers, stay otherwise as they are. Declarations keep their comments, quotes, collations and
/// rules, rows keep their numbers, and indexes, triggers and views stay as they were written.
///
/// A row's UUID depends on its table, its old key (or its number, where there was no key) and the salt
/// alone: databases that are migrated with one salt become copies of each other. Two devices that have given the
/// same number to different rows would lose one of each two, so give each database a salt of its own, unless all
/// rows of both came from one database.
public struct PrimaryKeyMigration: Sendable, Hashable {
  /// The tables, among them all that refer to those whose keys change.
  public var tables: [String]
  /// What makes the UUIDs of this database its own: rows of another one that have the same old key and were migrated with
  /// the same salt are the same rows.
  public var salt: String
  /// Whether unique keys beside the primary one go.
  ///
  /// Unique indexes then become plain ones. Keys that a foreign key needs stay.
  public var dropsUniqueKeys: Bool

  /// Columns that hold keys of other tables without declaring it, and follow them.
  ///
  /// Values of theirs that are no keys, such as a 0 for none, stay. ``UndeclaredReference`` tells of columns that look
  /// like such references.
  public var followedReferences: [KeyReference] = []
  /// Whether the old key stays in a column of its own: `old_id` of a key `id`.
  ///
  /// It is the table's last column, so `INSERT` without names of columns wants a value more.
  public var keepsOldKeys = false
  /// Whether integer keys stay, and SQLite is told to remember the greatest one (`AUTOINCREMENT`), so that the engine can
  /// give each device a range of its own.
  public var keepsIntegerKeys = false

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
  ///
  /// - Parameters:
  ///   - tables: The tables, among them all that refer to those whose keys change.
  ///   - salt: One and the same text for copies of a database that have got no rows since they parted, the empty one if
  ///     nothing is said; a new random text for a database whose rows are its own. It means nothing where ``keepsIntegerKeys`` is set.
  ///   - dropsUniqueKeys: Whether unique keys beside the primary one go.
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
  ///   - listener: Takes each old key with its new one, within the transaction: what it throws undoes everything.
  /// - Returns: The tables that were rewritten, by name.
  /// - Throws: The table that stands in the way, and why; or what SQLite throws.
  @discardableResult
  package func run(
    on connection: SQLiteConnection,
    digest: @escaping ([UInt8]) -> [UInt8],
    listener: KeyListener? = nil
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
          { () throws(KeyMigrationError) in
            try migrate(connection, uuids: uuids, listener: listener)
          },
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
    uuids: DerivedUUID,
    listener: KeyListener?
  ) throws(KeyMigrationError) -> [String] {
    let schema = try sqlite { () throws(SQLiteError) in try DatabaseSchema.read(connection) }
    let plan = try MigrationPlan(self, for: schema)
    guard !plan.tables.isEmpty else { return [] }
    try Self.checkVirtualTables(of: plan, in: schema, on: connection)
    let execution = MigrationExecution(
      plan: plan,
      schema: schema,
      uuids: uuids,
      keyDefault: keyDefault,
      connection: connection,
      listener: listener
    )
    try execution.run()
    return plan.tables.map(\.schema.name)
  }

  /// Throws if virtual tables would lose the rows that they know.
  static func checkVirtualTables(
    of plan: MigrationPlan,
    in schema: DatabaseSchema,
    on connection: SQLiteConnection
  ) throws(KeyMigrationError) {
    let obstacles = try sqlite { () throws(SQLiteError) in
      try VirtualTableObstacles(plan, in: schema, on: connection)
    }
    let reasons = obstacles.reasons
    if !reasons.isEmpty { throw .schema(reasons.joined(separator: " ")) }
  }
}

/// The old and the new key of a row.
public struct KeyMapping: Sendable, Hashable {
  /// The row's table.
  public let table: String
  /// The old key, as an SQL literal.
  public let old: String
  /// The new one.
  public let new: String
}

/// Takes old keys with their new ones.
///
/// A struct around the closure, because an optional function with a typed error needs the runtime of macOS 15.
package struct KeyListener {
  let take: (KeyMapping) throws(SQLiteError) -> Void

  package init(_ take: @escaping (KeyMapping) throws(SQLiteError) -> Void) { self.take = take }
}

import CloudSyncSQLiteSupport

/// The tables that a block has written to, for hosts that follow changes and do not see the engine's.
///
/// A library such as GRDB learns of changes from the statements that it runs itself. What the engine
/// writes with the connection's raw handle passes it by, and its observers with it, until it is told:
///
/// ```swift
/// func write<Value: Sendable>(_ body: @Sendable (OpaquePointer) throws -> Value) throws -> Value {
///   let (value, written) = try WrittenTables.recording(on: handle) { try body(handle) }
///   for name in written.names { tellObservers(of: name) }
///   return value
/// }
/// ```
public struct WrittenTables: Sendable, Hashable {
  /// The tables whose rows were changed, in the order of their names.
  ///
  /// The block itself, triggers, or actions of foreign keys may have changed them. Of the engine's own
  /// tables there are those behind the view `cloudsync_status`. A table WITHOUT ROWID is here whenever
  /// one of that kind was changed, for SQLite does not tell which; changes that were undone
  /// count too.
  public let names: [String]
  /// Whether tables, triggers or views were made, changed or removed: what is remembered of the schema
  /// and prepared statements are to be thrown away.
  public let isSchemaChanged: Bool

  /// The engine's tables that nobody observes.
  private static let inner: Set<String> = [
    "cloudsync_assets", "cloudsync_clock", "cloudsync_departed", "cloudsync_facts",
    "cloudsync_info", "cloudsync_seen",
  ]

  /// Runs a block and finds out which tables it writes to.
  ///
  /// - Parameters:
  ///   - connection: The handle. Its update hook is taken while the block runs, and must be free: with
  ///     GRDB it is, outside of GRDB's own statements.
  ///   - body: What is done with the handle.
  /// - Returns: What the block returns, and the tables.
  /// - Throws: What the block throws, or that the schema cannot be read.
  public static func recording<Value>(
    on connection: OpaquePointer,
    _ body: () throws -> Value
  ) throws -> (value: Value, written: WrittenTables) {
    let connection = SQLiteConnection(borrowing: connection)
    let version = try sqlite { () throws(SQLiteError) in try schemaVersion(of: connection) }
    let (value, changes) = try connection.changes(during: body)
    // The block has done its work: a failure from here on must not look like one of the block.
    var names = changes.tables
    if changes.hasUntoldRows { names.formUnion(tablesWithoutRowID(of: connection) ?? []) }
    let isSchemaChanged: Bool
    do throws(SQLiteError) { isSchemaChanged = try schemaVersion(of: connection) != version } catch
    {
      isSchemaChanged = true
    }
    let written = WrittenTables(
      names: names.filter { !inner.contains($0) && !isOfHistory($0) }.sorted(),
      isSchemaChanged: isSchemaChanged
    )
    return (value, written)
  }

  /// Whether it is a table of a history's that nobody observes: all but that of its heads.
  private static func isOfHistory(_ name: String) -> Bool {
    name.hasPrefix("changesets_") && name != "changesets_heads"
  }

  private static func schemaVersion(of connection: SQLiteConnection) throws(SQLiteError) -> Int64 {
    try connection.integer("PRAGMA schema_version")
  }

  /// Nil if the schema cannot be read; then there is nobody who observes it either.
  private static func tablesWithoutRowID(of connection: SQLiteConnection) -> [String]? {
    do throws(SQLiteError) {
      let query = try connection.prepare(
        "SELECT name FROM pragma_table_list WHERE wr ORDER BY name"
      )
      var names: [String] = []
      try query.forEachRow { if let name = query.text(0) { names.append(name) } }
      return names
    } catch { return nil }
  }
}

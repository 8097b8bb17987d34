import CloudSyncSQLite
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// The tables of a history as they are declared, ready to be read.
struct TrackedTables: Sendable {
  /// By the bytes of their names.
  let tables: [TrackedTable]
  let schema: DatabaseSchema
  let description: SchemaDescription
  let id: SchemaID
  /// The number that SQLite gives the declarations of the whole database.
  let version: Int64
  let defaults = ConstantDefaults()

  /// No tables.
  static let none: TrackedTables = {
    let description = SchemaDescription(tables: [])
    return TrackedTables(
      tables: [],
      schema: DatabaseSchema(tables: []),
      description: description,
      id: description.id,
      version: 0
    )
  }()

  /// The table that changes call so, byte by byte.
  func table(_ name: String) -> TrackedTable? { tables.first { $0.name.hasSameBytes(as: name) } }

  /// The table that people call so.
  func table(called name: String) -> TrackedTable? {
    tables.first { $0.name.isSameName(as: name) }
  }

  /// What a row has in a column, which may be one of its key.
  func value(
    of column: String,
    in table: String,
    key: RowKey,
    orElse value: (String) -> SQLiteValue?
  ) -> SQLiteValue {
    let place = self.table(table)?.key.firstIndex { $0.isSameName(as: column) }
    return place.map { key.values[$0] } ?? value(column) ?? .null
  }
}

/// Makes and reads the mirrors and triggers of tables.
struct CaptureInstallation {
  let connection: HistoryConnection

  /// The number of the database's declarations.
  static func version(connection: HistoryConnection) throws(ChangesetError) -> Int64 {
    try connection.integer("PRAGMA main.schema_version") ?? 0
  }

  func readSchema() throws(ChangesetError) -> DatabaseSchema {
    try connection.failing { () throws(SQLiteError) in try DatabaseSchema.read(connection.sqlite) }
  }

  /// Tracks tables from now on: makes their mirrors, and their triggers after all others.
  @discardableResult
  func install(names: [String]) throws(ChangesetError) -> TrackedTables {
    let schema = try readSchema()
    for name in names.sortedByBytes() {
      guard let declared = schema.table(named: name) else { continue }
      try connection.run("INSERT INTO changesets_tables(name) VALUES(?1)", .text(declared.name))
      let number = try connection.integer("SELECT last_insert_rowid()") ?? 0
      let table = try TrackedTable(number: number, schema: declared, connection)
      try connection.execute(table.mirrorDeclaration)
      try installTriggers(of: table)
    }
    let tables = try tracked()
    try Info(connection).set(.schema, .blob(tables.id.digest.bytes))
    return tables
  }

  func installTriggers(of table: TrackedTable) throws(ChangesetError) {
    let triggers = CaptureTriggers(table: table).all
    for trigger in triggers {
      try connection.execute("DROP TRIGGER IF EXISTS main.\(trigger.name)")
      try connection.execute(trigger.creation)
    }
  }

  /// Drops the mirrors and triggers of all tables, and forgets the tables.
  func uninstall() throws(ChangesetError) {
    for (number, _) in try registered() {
      let triggers = try connection.rows(
        "SELECT name FROM main.sqlite_schema WHERE type = 'trigger' AND name LIKE ?1 ESCAPE '\\'",
        .text("changesets\\_%\\_\(number)")
      ) { $0.text(0) ?? "" }
      for name in triggers { try connection.execute("DROP TRIGGER main.\(name.quotedName)") }
      try connection.execute("DROP TABLE IF EXISTS main.changesets_old_\(number)")
    }
    try connection.run("DELETE FROM changesets_tables")
  }

  private func registered() throws(ChangesetError) -> [(number: Int64, name: String)] {
    try connection.rows("SELECT number, name FROM changesets_tables ORDER BY name") {
      (number: $0.integer(0), name: $0.text(1) ?? "")
    }
  }

  /// Reads the tables, which are those that are tracked.
  ///
  /// That others' commits have such tables says nothing: here no commit tells what became of the rows.
  ///
  /// - Throws: That they were changed without the history.
  func unchanged() throws(ChangesetError) -> TrackedTables {
    let tables = try tracked()
    let known = try Info(connection).bytes(name: .schema)
    // A history of an earlier build does not keep it: there only what nobody has tells.
    let isSame =
      if let known { known == tables.id.digest.bytes } else {
        try Dictionaries(connection: connection).number(ofSchema: tables.id) != nil
      }
    guard isSame else {
      throw ChangesetError(
        .needsMigration,
        "the tables were changed without the history; “rescan” takes up what was done"
      )
    }
    return tables
  }

  /// Reads the tables as they are now.
  ///
  /// - Throws: That tables are gone, or their triggers are not what they should be: edits may be missing.
  func tracked() throws(ChangesetError) -> TrackedTables {
    let schema = try readSchema()
    let texts = try connection.rows(
      """
      SELECT name, sql FROM main.sqlite_schema
      WHERE type = 'trigger' AND substr(name, 1, 11) = 'changesets_'
      """
    ) { ($0.text(0) ?? "", $0.text(1) ?? "") }
    let installed = Dictionary(texts, uniquingKeysWith: { first, _ in first })
    var tables: [TrackedTable] = []
    for (number, name) in try registered() {
      guard let declared = schema.table(named: name) else {
        throw Self.changed(table: name, "is gone")
      }
      let table = try TrackedTable(number: number, schema: declared, connection)
      for trigger in CaptureTriggers(table: table).all
      where installed[trigger.name]?.hasSameBytes(as: trigger.storedText) != true {
        throw Self.changed(table: name, "was changed")
      }
      tables.append(table)
    }
    let description = SchemaDescription(
      tables: tables.map(\.schema),
      declarations: try Declarations(connection: connection).read(of: schema)
    )
    return TrackedTables(
      tables: tables.sorted { $0.name.precedesByBytes($1.name) },
      schema: schema,
      description: description,
      id: description.id,
      version: try Self.version(connection: connection)
    )
  }

  private static func changed(table: String, _ what: String) -> ChangesetError {
    ChangesetError(
      .needsMigration,
      "table \(table.quotedName) \(what) without the history; “rescan” takes up what was done"
    )
  }
}

public import CloudSyncCore
public import CloudSyncSQLite
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

extension ChangesetRemote {
  /// Brings a whole history into an empty database: its tables, its rows and its commits.
  ///
  /// Tables are made from what commits say of their schema. Computed columns, unique keys on expressions or some
  /// rows, and computed defaults cannot be told so, but for the time and the random key of a migrated table. Then let the
  /// app make the tables, begin a history of them and sync. CHECK constraints, indexes and triggers are the app's too.
  ///
  /// A clone whose process has ended in the midst is begun anew by the next one into the same database.
  ///
  /// - Parameters:
  ///   - database: A database without tables.
  ///   - handler: The cloud.
  ///   - zoneID: The zone.
  ///   - assets: Where files are on their way.
  ///   - accountProvider: Who is signed in; the history belongs to that account then.
  ///   - options: What is settled for merges, and what this copy is called.
  ///   - environment: Clock, threads and timer.
  /// - Returns: The history, at the head of its main branch.
  /// - Throws: That the database is not empty, that the zone holds no history, or what the cloud says; the
  ///   database is empty then as before.
  public static func clone(
    into database: some SyncDatabase,
    from handler: any OperationHandler,
    zoneID: ZoneID,
    assets: AssetOptions? = nil,
    accountProvider: AccountStatusProvider? = nil,
    options: ChangesetOptions = ChangesetOptions(),
    environment: SyncEnvironment = .live
  ) async throws(ChangesetError) -> ChangesetRepository {
    try Cloning.begin(in: database, options: options)
    do throws(ChangesetError) {
      let repository = try ChangesetRepository(clonedInto: database, options: options)
      let remote = try ChangesetRemote(
        repository,
        operationHandler: handler,
        zoneID: zoneID,
        assets: assets,
        accountProvider: accountProvider,
        environment: environment
      )
      defer { remote.session.stop() }
      try await remote.fetch()
      try repository.write { (work) throws(ChangesetError) in
        try Cloning(work: work).makeTables()
      }
      try repository.mergeAll()
      try repository.pull()
      try repository.write { (work) throws(ChangesetError) in try Cloning(work: work).complete() }
      return repository
    } catch {
      try Cloning.undo(in: database)
      throw error
    }
  }
}

extension ChangesetRemote {
  /// Whether a database was to become a clone, and its process ended before it was one.
  ///
  /// - Parameter database: The database.
  /// - Returns: Whether ``clone(into:from:zoneID:assets:accountProvider:options:environment:)`` begins anew there.
  /// - Throws: What is wrong with the database.
  public static func isUnfinishedClone(_ database: some SyncDatabase) throws(ChangesetError) -> Bool
  {
    try database.use { (connection) throws(ChangesetError) in
      try HistoryTables.isUnfinishedClone(connection: connection)
    }
  }
}

/// Makes the tables of a history that came from elsewhere.
struct Cloning {
  let work: HistoryWork

  /// Begins a history without tables.
  static func begin(
    in database: some SyncDatabase,
    options: ChangesetOptions
  ) throws(ChangesetError) {
    let isUnfinished = try database.use { (connection) throws(ChangesetError) in
      try ChangesetRepository.refuseTransaction(connection: connection)
      return try HistoryTables.isUnfinishedClone(connection: connection)
    }
    if isUnfinished { try undo(in: database) }
    try database.use { (connection) throws(ChangesetError) in
      try connection.transaction { () throws(ChangesetError) in
        guard try connection.integer("SELECT count(*) FROM main.sqlite_schema") == 0 else {
          throw ChangesetError(.misuse, "the database is not empty; clone into a new file")
        }
        try HistorySetup(connection: connection, options: options).createEmpty()
        try Info(connection).set(.cloning, .integer(1))
      }
    }
  }

  func complete() throws(ChangesetError) {
    try work.connection.run("DELETE FROM changesets_info WHERE name = 'cloning'")
  }

  /// Takes away what a clone has made that could not be completed.
  static func undo(in database: some SyncDatabase) throws(ChangesetError) {
    try database.use { (connection) throws(ChangesetError) in
      try connection.withoutForeignKeys { () throws(ChangesetError) in
        try connection.transaction { () throws(ChangesetError) in
          let names = try CaptureInstallation(connection: connection).readSchema().tables
            .map(\.name)
          for name in names { try connection.execute("DROP TABLE main.\(name.quotedName)") }
          try HistoryTables.remove(connection: connection)
        }
      }
    }
  }

  func makeTables() throws(ChangesetError) {
    let main = try work.dictionaries.number(ofName: "main")
    var heads: [LogRow] = []
    for head in try work.heads.heads() { heads.append(try work.log.row(head.seq)) }
    let wanted = heads.filter { $0.branch == main }
    guard let head = (wanted.isEmpty ? heads : wanted).max(by: { $0.generation < $1.generation })
    else { throw ChangesetError(.foreignCloud, "the zone holds no history") }
    let schema = try work.dictionaries.schema(number: head.schema)
    for table in schema.tables { try work.connection.execute(try TableMaking(table: table).sql()) }
    let installation = CaptureInstallation(connection: work.connection)
    try installation.install(names: schema.tables.map(\.name))
    guard try installation.tracked().id == schema.id else {
      throw ChangesetError(
        .schema,
        "the tables cannot be made from what commits say of them; let the app make them, and sync"
      )
    }
    let made = HistoryWork(
      connection: work.connection,
      tables: try installation.tracked(),
      options: work.options
    )
    try DefaultFills(work: made).keep()
    var position = try work.heads.position()
    position.branch = head.branch
    try work.heads.set(position)
  }
}

/// The declaration of a table that a commit describes.
struct TableMaking {
  let table: SchemaDescription.Table

  /// Nothing of it is SQL of others: names are quoted, types are words, defaults are literals.
  func sql() throws(ChangesetError) -> String {
    var parts: [String] = []
    let key = table.columns.filter { $0.keyPlace > 0 }.sorted { $0.keyPlace < $1.keyPlace }
    for column in table.columns { parts.append(try declaration(column: column)) }
    if !table.hasIntegerKey, !key.isEmpty {
      parts.append("PRIMARY KEY(\(names(names: key.map(\.name))))")
    }
    for unique in table.uniqueKeys {
      guard !unique.isPartial, !unique.columns.contains(nil) else {
        throw unknown(what: "a unique key on expressions or on some rows")
      }
      let terms = zip(unique.columns, unique.collations)
        .map { column, collation in
          "\((column ?? "").quotedName) COLLATE \(collation.quotedName)"
        }
      parts.append("UNIQUE(\(terms.joined(separator: ", ")))")
    }
    for foreign in table.foreignKeys {
      parts.append(
        "FOREIGN KEY(\(names(names: foreign.columns))) REFERENCES"
          + " \(foreign.table.quotedName)(\(names(names: foreign.referencedColumns)))"
          + " ON DELETE \(foreign.onDelete.rawValue) ON UPDATE \(foreign.onUpdate.rawValue)"
      )
    }
    let marks = [table.isWithoutRowID ? "WITHOUT ROWID" : nil, table.isStrict ? "STRICT" : nil]
    return "CREATE TABLE main.\(table.name.quotedName)(\(parts.joined(separator: ", ")))"
      + " \(marks.compactMap { $0 }.joined(separator: ", "))"
  }

  private func declaration(column: SchemaDescription.Column) throws(ChangesetError) -> String {
    if column.isGenerated { throw unknown(what: "the computed column \(column.name.quotedName)") }
    let isWords = column.type.unicodeScalars.allSatisfy {
      $0.isASCII && ($0.properties.isAlphabetic || "0123456789_ (),".unicodeScalars.contains($0))
    }
    guard isWords else { throw unknown(what: "the type of column \(column.name.quotedName)") }
    var text = "\(column.name.quotedName) \(column.type)"
    if table.hasIntegerKey, column.keyPlace == 1 { text += " PRIMARY KEY" }
    if column.isNotNull { text += " NOT NULL" }
    if let sql = column.defaultSQL {
      guard let declared = Self.declaredDefault(sql) else {
        throw unknown(what: "the computed default of column \(column.name.quotedName)")
      }
      text += " DEFAULT \(declared)"
    }
    return text
  }

  /// A default as a declaration has it; nil if it is an expression, which others' commits must not bring.
  ///
  /// The time, and the random key of a migration, are known not to do any harm.
  private static func declaredDefault(_ sql: String) -> String? {
    if SQLText(sql).isLiteral { return sql }
    let times = ["CURRENT_TIMESTAMP", "CURRENT_DATE", "CURRENT_TIME"]
    if times.contains(sql.uppercased()) { return sql }
    return sql == PrimaryKeyMigration.portableKeyDefault ? "(\(sql))" : nil
  }

  private func names(names: [String]) -> String {
    names.map(\.quotedName).joined(separator: ", ")
  }

  private func unknown(what: String) -> ChangesetError {
    ChangesetError(
      .schema,
      "table \(table.name.quotedName) has \(what), which commits do not describe; create the tables as the"
        + " app does, begin a history of them, and sync"
    )
  }
}

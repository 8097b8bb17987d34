public import CloudSyncCore
public import CloudSyncSQLite
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

extension ChangesetRepository {
  /// Whether a database has a history.
  ///
  /// - Parameter database: The database.
  /// - Returns: Whether one was begun and not removed.
  /// - Throws: What is wrong with the database.
  public static func isInstalled(in database: some SyncDatabase) throws(ChangesetError) -> Bool {
    try database.use { (connection) throws(ChangesetError) in
      try HistoryTables.installedVersion(connection: connection) != nil
    }
  }

  /// How many commits of a database's history no cloud is known to have: they are gone for good with it.
  ///
  /// The history need not be one that can be opened.
  ///
  /// - Parameter database: The database, which has a history.
  /// - Returns: Their number.
  /// - Throws: What is wrong with the database.
  public static func unpushedCount(
    in database: some SyncDatabase
  ) throws(ChangesetError) -> Int {
    try database.use { (connection) throws(ChangesetError) in
      // What goes on from before a squash, and was put on top of nothing, is in no cloud either.
      try CommitLog(connection: connection).unpushedCount()
        + Heads(connection: connection).beside().count
    }
  }

  /// The tables of a database, of which a history can be kept if they have primary keys.
  ///
  /// - Parameter database: The database.
  /// - Returns: The names, by their bytes; no views and virtual tables.
  /// - Throws: What is wrong with the database.
  public static func tables(of database: some SyncDatabase) throws(ChangesetError) -> [String] {
    try database.use { (connection) throws(ChangesetError) in
      try CaptureInstallation(connection: connection).readSchema().tables.map(\.name)
    }
  }

  /// A key from texts, as people write them: numbers where the columns hold numbers.
  ///
  /// - Parameters:
  ///   - table: The table.
  ///   - texts: The values in the key's order.
  /// - Returns: The key.
  /// - Throws: That there is no such table, or that its key has not so many columns.
  public func key(of table: String, _ texts: [String]) throws(ChangesetError) -> [FieldValue] {
    try read { (work) throws(ChangesetError) in
      guard let tracked = work.tables.table(called: table) else {
        throw ChangesetError(.misuse, "there is no table “\(table)” in the history")
      }
      guard texts.count == tracked.key.count else {
        throw ChangesetError(
          .misuse,
          "the key of table “\(table)” has the columns \(tracked.key.joined(separator: ", "))"
        )
      }
      return zip(tracked.key, texts)
        .map { column, text in
          let affinity = tracked.schema.column(named: column)?.affinity
          guard affinity != .text, affinity != .blob else { return .string(text) }
          return Int64(text).map { .int64($0) } ?? Double(text).map { .double($0) } ?? .string(text)
        }
    }
  }
}

extension ChangesetRepository {
  /// Takes up tables that were changed without ``migrate(_:options:_:)``, which no repository opens any more.
  ///
  /// Columns that came and went become a migration, as those of replicas do that have done the same. Rows that differ
  /// besides are not committed afterwards: they may be anybody's edits.
  ///
  /// A column that has only another name is the same one. SQLite tells of those that were renamed in place; of a table that
  /// was made anew the rows tell, if the new column is declared as the old one and holds the same in every row. If it does
  /// so in some rows, and others may have been edited since, `renamed` has to tell.
  ///
  /// - Parameters:
  ///   - database: The database.
  ///   - tables: The tables that the history is about from now on; nil for those that it has been about. Those that were
  ///     dropped are missing; one that is still there has to be named.
  ///   - renamed: The present names of columns by their table and former name: nil to go by SQLite and the rows, none if
  ///     what SQLite does not tell of is another column.
  ///   - options: What this copy is called.
  /// - Throws: That a table is gone, or has another primary key, that ``ChangesetError/Code/needsMigration`` because nobody
  ///   can tell whether a column was renamed, or what is wrong with the database.
  public static func rescan(
    _ database: some SyncDatabase,
    tables: [String]? = nil,
    renamed: [String: [String: String]]? = nil,
    options: ChangesetOptions = ChangesetOptions()
  ) throws(ChangesetError) {
    try database.use { (connection) throws(ChangesetError) in
      try refuseTransaction(connection: connection)
      guard let version = try HistoryTables.installedVersion(connection: connection) else {
        throw ChangesetError(.misuse, "the database has no history")
      }
      try HistoryTables.check(version: version)
      try connection.withoutForeignKeys { () throws(ChangesetError) in
        try connection.transaction { () throws(ChangesetError) in
          try Adopting(connection: connection, options: options, renamed: renamed)
            .run(names: tables)
        }
      }
    }
  }

  /// Changes the tables of a history, and commits what became of their rows.
  ///
  /// Run the app's migration with it while the tables are the former ones: after a plain `ALTER TABLE` repositories throw
  /// ``ChangesetError/Code/needsMigration``, and ``rescan(_:tables:renamed:options:)`` takes up what was done. Where rows are
  /// not committed, open a repository of the former tables first, and commit. A repository that is open goes on with the
  /// migrated tables.
  ///
  /// Columns and tables may be added, removed and renamed, and rows changed. Older commits have a column that
  /// is added with its constant default. Replicas whose app lacks a table or a column of a commit wait
  /// with ``ChangesetError/Code/needsUpgrade`` until they are migrated too.
  ///
  /// While an older commit is checked out nothing is migrated, unless its branch has tables or columns which this app
  /// lacks: then the tables are changed and no commit is made, and the branch can be switched to after that.
  /// If the older commit has columns that are gone by now, the rows become those of the branch at once.
  ///
  /// - Parameters:
  ///   - database: The database, whose rows are all committed.
  ///   - options: What this copy is called.
  ///   - body: Changes the tables, with the connection's handle, in the transaction that is open.
  /// - Throws: What the body throws, or a ``ChangesetError``, such as ``ChangesetError/Code/uncommittedChanges``; all is as
  ///   before then.
  public static func migrate(
    _ database: some SyncDatabase,
    options: ChangesetOptions = ChangesetOptions(),
    _ body: @Sendable (OpaquePointer) throws -> Void
  ) throws {
    try migrate(database, options: options) { connection in try body(connection.sqlite.handle) }
  }

  /// Changes the tables of a history by SQL, and commits what became of their rows, as ``migrate(_:options:_:)`` does.
  ///
  /// All of it is one transaction: BEGIN, COMMIT and END in it are passed over. Where only rows are changed no migration is
  /// made, and they are left to be committed.
  ///
  /// The database keeps the statements: commits of copies that are not migrated yet are migrated by them where
  /// ``ChangesetOptions/migrate`` is nil, before they are merged or switched to.
  ///
  /// - Parameters:
  ///   - database: The database, whose rows are all committed.
  ///   - sql: The statements.
  ///   - options: What this copy is called.
  /// - Throws: What SQLite says of the statements, or another ``ChangesetError``; all is as before then.
  public static func migrate(
    _ database: some SyncDatabase,
    sql: String,
    options: ChangesetOptions = ChangesetOptions()
  ) throws {
    try migrate(database, options: options, keeping: sql) { connection in
      try connection.failing { () throws(SQLiteError) in
        try MigrationStatement.run(script: sql, on: connection.sqlite)
      }
    }
  }

  private static func migrate(
    _ database: some SyncDatabase,
    options: ChangesetOptions,
    keeping sql: String? = nil,
    running body: @Sendable (HistoryConnection) throws -> Void
  ) throws {
    try database.useAnyError { connection in
      try refuseTransaction(connection: connection)
      let isEnforcing = try connection.integer("PRAGMA foreign_keys") == 1
      if isEnforcing { try connection.execute("PRAGMA foreign_keys = OFF") }
      let result = Result {
        try connection.sqlite.transaction(
          { () throws(any Error) in
            try Migrating(connection: connection, options: options, sql: sql)
              .run { try body(connection) }
          },
          mapping: { ChangesetError($0) as any Error }
        )
      }
      if isEnforcing { try connection.execute("PRAGMA foreign_keys = ON") }
      try result.get()
    }
  }
}

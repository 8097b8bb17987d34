public import CloudSyncCore
public import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// The history of a database's tables: edits become commits, which can be looked at, merged and taken back.
///
/// The history is in the database itself, in tables whose names begin with `changesets_`. Edits are seen
/// whoever makes them: other connections, other processes, also while there is no repository.
///
/// ```swift
/// let repository = try ChangesetRepository(DatabaseFile(path: "shop.db"))
/// try repository.commit(meta: #"{"message": "Prices of May"}"#) { connection in
///   sqlite3_exec(connection, "UPDATE products SET price = price + 1", nil, nil, nil)
/// }
/// for commit in try repository.log() { print(commit.id.short, commit.meta) }
/// ```
///
/// Calls run one after another, each in one transaction.
public final class ChangesetRepository: Sendable {
  /// The database.
  let database: any SyncDatabase
  let options: ChangesetOptions
  /// The tables as they were read last.
  private let known: Locked<TrackedTables>
  /// Whether nothing but commits is looked at, whatever has become of the tables.
  private let isOfCommitsAlone: Bool

  /// Publishes where the rows are after every move.
  public let headSubject = SyncSubject<Head>()

  /// Opens the history of a database, or begins one.
  ///
  /// A history that begins has the rows that are there in its first commits.
  ///
  /// - Parameters:
  ///   - database: The database.
  ///   - tables: The tables that a new history is about; nil for all. They must have primary keys that cannot be
  ///     NULL, and refer to no other tables.
  ///   - options: What is settled for merges, and what this copy is called.
  /// - Throws: What is wrong with the database or its tables, and what to do.
  public convenience init(
    _ database: some SyncDatabase,
    tables: [String]? = nil,
    options: ChangesetOptions = ChangesetOptions()
  ) throws(ChangesetError) {
    let isUnfinished = try database.use { (connection) throws(ChangesetError) in
      try HistoryTables.isUnfinishedClone(connection: connection)
    }
    if isUnfinished {
      throw ChangesetError(
        .damaged,
        "a clone into this database was not completed; clone once more, which begins it anew"
      )
    }
    try self.init(opening: database, tables: tables, options: options)
  }

  /// Opens the history of a database that is to become a clone.
  convenience init(
    clonedInto database: some SyncDatabase,
    options: ChangesetOptions
  ) throws(ChangesetError) {
    try self.init(opening: database, tables: nil, options: options)
  }

  private init(
    opening database: some SyncDatabase,
    tables: [String]?,
    options: ChangesetOptions
  ) throws(ChangesetError) {
    self.database = database
    self.options = options
    isOfCommitsAlone = false
    try MergeSettings.check(options: options)
    known = Locked(
      try database.use { (connection) throws(ChangesetError) in
        try Self.refuseTransaction(connection: connection)
        let tracked = try HistorySetup(connection: connection, options: options).open(names: tables)
        try CommitLog(connection: connection).index(unlessFewerThan: CommitLog.unindexedLimit)
        return tracked
      }
    )
  }

  /// Opens a history for commits that come from elsewhere, whatever has become of its tables: it has none then.
  package init(
    commitsOf database: some SyncDatabase,
    options: ChangesetOptions
  ) throws(ChangesetError) {
    self.database = database
    self.options = options
    isOfCommitsAlone = true
    known = Locked(
      try database.use { (connection) throws(ChangesetError) in
        try Self.refuseTransaction(connection: connection)
        guard let version = try HistoryTables.installedVersion(connection: connection) else {
          throw ChangesetError(.misuse, "the database has no history")
        }
        try HistoryTables.check(version: version)
        return .none
      }
    )
  }

  // MARK: Calls

  /// Runs a body in a transaction; HEAD is published if it moves.
  func write<Value: Sendable>(
    _ body: @Sendable (HistoryWork) throws(ChangesetError) -> Value
  ) throws(ChangesetError) -> Value {
    let (value, head) = try database.use { (connection) throws(ChangesetError) in
      try Self.refuseTransaction(connection: connection)
      return try connection.transaction { () throws(ChangesetError) in
        let work = try self.work(on: connection)
        let before = try work.heads.position()
        let value = try body(work)
        let isMoved = try work.heads.position() != before
        return (value, isMoved ? try work.head() : nil)
      }
    }
    if let head { headSubject.send(head) }
    return value
  }

  /// Runs a body that changes nothing.
  func read<Value: Sendable>(
    _ body: @Sendable (HistoryWork) throws(ChangesetError) -> Value
  ) throws(ChangesetError) -> Value {
    try database.use { (connection) throws(ChangesetError) in
      try Self.refuseTransaction(connection: connection)
      try connection.execute("BEGIN")
      defer { connection.end() }
      return try body(try self.work(on: connection))
    }
  }

  /// The history on a connection; the tables are read again if their declarations may have changed.
  func work(on connection: HistoryConnection) throws(ChangesetError) -> HistoryWork {
    var tracked = known.withLock { $0 }
    if !isOfCommitsAlone, try CaptureInstallation.version(connection: connection) != tracked.version
    {
      guard try HistoryTables.installedVersion(connection: connection) != nil else {
        throw ChangesetError(.misuse, "the history was removed; open a new one")
      }
      let fresh = try CaptureInstallation(connection: connection).unchanged()
      known.withLock { $0 = fresh }
      tracked = fresh
    }
    return HistoryWork(connection: connection, tables: tracked, options: options)
  }

  static func refuseTransaction(connection: HistoryConnection) throws(ChangesetError) {
    guard connection.sqlite.isInTransaction else { return }
    throw ChangesetError(
      .misuse,
      "the connection is in a transaction; commit it before the history is asked for anything"
    )
  }
}

extension HistoryConnection {
  /// Ends a transaction that has written nothing.
  func end() {
    // Where it has ended by itself there is nothing to end.
    if sqlite.isInTransaction { try? sqlite.execute("ROLLBACK") }
  }
}

extension SyncDatabase {
  /// Runs a body with the database's connection.
  func use<Value: Sendable>(
    _ body: @Sendable (HistoryConnection) throws(ChangesetError) -> Value
  ) throws(ChangesetError) -> Value {
    do { return try useAnyError(body) } catch let error as ChangesetError { throw error } catch {
      throw ChangesetError(.cannotAccess, "the database cannot be used: \(error)")
    }
  }

  /// The same for bodies that throw errors of the app's.
  func useAnyError<Value: Sendable>(
    _ body: @Sendable (HistoryConnection) throws -> Value
  ) throws -> Value {
    if let keeper = self as? any StatementKeeping {
      return try keeper.withConnection { try body(HistoryConnection(sqlite: $0)) }
    }
    return try write { handle in
      try body(HistoryConnection(sqlite: SQLiteConnection(borrowing: handle)))
    }
  }
}

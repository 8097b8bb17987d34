import CloudSyncCore
import CloudSyncSQLiteSupport

extension SyncMetadata {
  /// Why a record is held, and what ends that, in a sentence.
  package func reason(for held: HeldRecord) -> String {
    HeldReasons(parked: parked, waiting: waiting).reason(for: held)
  }
}

extension SyncMetadata {
  /// Reads what an engine has noted, as of one moment; nothing is written.
  ///
  /// - Parameter database: The database; a connection that can only read is enough.
  /// - Returns: Nil if no engine has ever been set up on the database, or it was torn down.
  /// - Throws: That the database cannot be read, or that another version of the program made the engine's tables.
  public static func read(
    from database: some SyncDatabase
  ) throws(SyncEngineError) -> SyncMetadata? {
    try database.use { (connection) throws(SyncEngineError) in
      try MetadataReading(connection: connection).read()
    }
  }

  /// The version of the engine's tables that this program makes and reads.
  public static var currentVersion: Int { Int(clamping: OutboxSchema.version) }

  /// The version of the engine's tables in a database, whether or not this program reads it.
  ///
  /// - Parameter database: The database; a connection that can only read is enough.
  /// - Returns: Nil if no engine has ever been set up on the database, or it was torn down.
  /// - Throws: That the database cannot be read.
  public static func version(in database: some SyncDatabase) throws(SyncEngineError) -> Int? {
    try database.use { (connection) throws(SyncEngineError) in
      try OutboxSchema.installedVersion(on: connection).map { Int(clamping: $0) }
    }
  }

  /// Removes every trace of an engine from a database, as ``SyncEngine/tearDown()`` does.
  ///
  /// The rows stay as they are, and the cloud is not touched. No engine may run on the database. What
  /// another version of the program made is removed too.
  ///
  /// - Parameter database: The database.
  /// - Throws: That the database cannot be written, or that a trigger or a view of the app names a table of the engine.
  public static func remove(from database: some SyncDatabase) throws(SyncEngineError) {
    try database.use { (connection) throws(SyncEngineError) in
      try EngineTables.checkNobodyAsks(on: connection)
      try sqlite { () throws(SQLiteError) in
        try connection.transaction { () throws(SQLiteError) in
          try EngineTables.remove(from: connection)
        }
      }
    }
  }
}

extension SyncMetadata {
  /// The journal mode of a database's file, as `delete` or `wal`.
  package static func journalMode(
    of database: some SyncDatabase
  ) throws(SyncEngineError) -> String {
    try database.use { (connection) throws(SyncEngineError) in
      try sqlite { () throws(SQLiteError) in
        guard case .text(let mode) = try connection.value("PRAGMA journal_mode") else { return "" }
        return mode
      }
    }
  }

  /// Keeps which journal mode a database's file had before it was synced; an engine is set up on it.
  package static func noteJournalMode(
    _ mode: String,
    in database: some SyncDatabase
  ) throws(SyncEngineError) {
    try database.keepFact(.journalMode, as: .text(mode))
  }

  /// The policies that a tool was given for a database; nil if none were kept.
  package static func toolPolicies(
    of database: some SyncDatabase
  ) throws(SyncEngineError) -> String? {
    try text(of: .toolPolicies, in: database)
  }

  /// The tables that a tool has left out when tables were named last, as text of its own; nil if that was not kept.
  package static func toolTables(of database: some SyncDatabase) throws(SyncEngineError) -> String?
  {
    try text(of: .toolTables, in: database)
  }

  /// Keeps the tables that a tool leaves out; an engine is set up on the database.
  package static func noteToolTables(
    _ text: String,
    in database: some SyncDatabase
  ) throws(SyncEngineError) {
    try database.keepFact(.toolTables, as: .text(text))
  }

  private static func text(
    of name: Facts.Name,
    in database: some SyncDatabase
  ) throws(SyncEngineError) -> String? {
    let value = try database.readFacts { (facts) throws(SQLiteError) in try facts.value(name) }
    guard case .text(let text)? = value else { return nil }
    return text
  }

  /// Keeps the policies that a tool was given; an engine is set up on the database.
  package static func noteToolPolicies(
    _ text: String?,
    in database: some SyncDatabase
  ) throws(SyncEngineError) {
    try database.keepFact(.toolPolicies, as: text.map { .text($0) })
  }

  /// Removes every trace of an engine, and gives the file the journal mode that was kept, if any.
  ///
  /// The mode comes first: whatever ends the process between the two, the traces still tell the mode.
  ///
  /// - Throws: That the database cannot be written, or, as `busy`, that another connection is open, which keeps the mode;
  ///   then nothing is removed.
  package static func removeRestoringJournalMode(
    from database: some SyncDatabase
  ) throws(SyncEngineError) {
    // What is left of an engine whose tables somebody has dropped can be removed, too.
    let mode = try? database.readFacts { (facts) throws(SQLiteError) in
      try facts.value(.journalMode)
    }
    if case .text(let mode)? = mode, ["delete", "truncate", "persist"].contains(mode) {
      try database.use { (connection) throws(SyncEngineError) in
        do throws(SQLiteError) {
          _ = try connection.value("PRAGMA journal_mode = \(mode)")
        } catch { throw SyncEngineError(error) }
      }
    }
    try remove(from: database)
  }
}

public import CloudSyncCore
import CloudSyncSQLiteSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Keeps tables of a SQLite database in step with a zone of a cloud, both ways.
///
/// Tables are named at run time; their columns and keys are read from the database. Triggers
/// capture every edit in its own transaction, whoever makes it, also while the engine is stopped.
/// What comes from the cloud is merged column by column and written in one transaction a page.
///
/// ```swift
/// let database = try DatabaseFile(path: "notes.sqlite")
/// let engine = try SyncEngine(
///   database: database, tables: ["lists", "notes"], zoneID: ZoneID(name: "Notes"),
///   operationHandler: cloud)
/// try engine.start()
/// try database.execute("UPDATE notes SET title = 'Tea' WHERE id = '7'")
/// await engine.syncChanges()
/// ```
///
/// Foreign keys work whether or not the engine's connection enforces them when the engine is made. Where it
/// does not, triggers do what the foreign keys say (``OrphanPolicy`` tells of what they leave open). These
/// triggers name the tables on both sides: a migration that drops a table, or drops and renames one to
/// rebuild it, has to begin with `PRAGMA legacy_alter_table = ON` or by dropping the triggers whose names
/// begin with `cloudsync_action_`, as SQLite demands of every trigger; the next engine makes them anew.
///
/// One engine at a time may run on a database.
public final class SyncEngine: Sendable {
  /// Every error of the database that the engine has met; it stops over those that do not pass.
  public let errors = SyncSubject<SyncEngineError>()
  /// What the engine is doing, whenever that changes.
  public let activity = SyncSubject<SyncActivity>(replaysLast: true)
  /// What the app has to decide, whenever that comes up; see ``question`` for what is open.
  public let questions = SyncSubject<SyncQuestion>()

  struct State {
    var session: CloudSyncSession?
    /// Counts starts: what an earlier session still says is not heard.
    var generation = 0
    /// Whether a look at the outbox is due.
    var isFeedDue = false
    /// How many records the operations have that the session has not completed.
    var inFlight: [Int64: Int] = [:]
    /// What they carry, of those that were submitted in this run.
    var sent: [Int64: SendBatch] = [:]
    var fetches = 0
    var counts = SyncCounts()
    var waiters: [@Sendable () -> Void] = []
    /// Whether the engine was started, and not stopped since.
    var isWanted = false
    /// Whether the account was away when its provider was last asked.
    var isAway = false
    /// How often the zone was lost since anything of it was seen.
    var zoneLosses = 0
    /// What could not be done yet because the database was locked, in order.
    var backlog: [Step] = []
    /// Records whose rows are gone, and whose edits the session is to forget if it has set them aside.
    var gone: [RecordID] = []
    /// What could not be written of the journal yet.
    var pieces: [JournalPiece] = []
    /// How often in a row the database was locked.
    var retries = 0

    var recordsInFlight: Int { inFlight.values.reduce(0, +) }
  }

  let database: any SyncDatabase
  let zoneID: ZoneID
  let options: SyncEngineOptions
  let environment: SyncEnvironment
  let executor: SyncExecutor
  let handler: any OperationHandler
  let tables: SyncTables
  let state = Locked(State())
  private let timerBox = Locked<(any SyncTimer)?>(nil)

  var retryTimer: (any SyncTimer)? { timerBox.withLock { $0 } }

  /// Prepares a database: the engine's own tables, the triggers, and what older rows need.
  ///
  /// - Parameters:
  ///   - database: The database.
  ///   - tables: The names of the tables to synchronize.
  ///   - zoneID: The zone that has their records.
  ///   - operationHandler: Talks to the cloud.
  ///   - options: Policies.
  ///   - environment: Clock, threads, timer and randomness; the real ones by default.
  /// - Throws: That the database cannot be used, or that its schema stands in the way: table, column,
  ///   rule, and the SQL that mends it.
  public init(
    database: any SyncDatabase,
    tables: [String],
    zoneID: ZoneID,
    operationHandler: any OperationHandler,
    options: SyncEngineOptions = SyncEngineOptions(),
    environment: SyncEnvironment = .live
  ) throws(SyncEngineError) {
    self.database = database
    self.zoneID = zoneID
    self.options = options
    self.environment = environment
    let assets = options.assets.map { AssetFolder(options: $0) }
    handler = assets?.resolving(operationHandler) ?? operationHandler
    executor = environment.makeExecutor()
    try Self.write(to: database) { (connection) throws(SyncEngineError) in
      try sqlite { () throws(SQLiteError) in
        try SQLiteVersion.check()
        try UUIDFunction.install(on: connection, environment)
      }
    }
    self.tables = try Self.prepare(database, tables) { (connection, attachment) in
      EngineSetup(
        connection: connection,
        options: options,
        zoneID: zoneID,
        nonce: environment.nonce,
        attachment: attachment
      )
    }
    let timer = environment.makeTimer(executor) { [weak self] in self?.retry() }
    timerBox.withLock { $0 = timer }
  }

  deinit { retryTimer?.cancel() }

  // MARK: The database

  /// Runs a body with the database's connection.
  static func write<Value: Sendable>(
    to database: any SyncDatabase,
    _ body: @Sendable (SQLiteConnection) throws(SyncEngineError) -> Value
  ) throws(SyncEngineError) -> Value {
    do {
      if let keeper = database as? any StatementKeeping { return try keeper.withConnection(body) }
      return try database.write { handle in try body(SQLiteConnection(borrowing: handle)) }
    } catch let error as SyncEngineError {
      throw error
    } catch {
      throw SyncEngineError(.cannotAccess, "the database cannot be written: \(error)")
    }
  }

  /// Runs a body in a transaction, and counts what it has done; before it what waits of the journal
  /// is written.
  ///
  /// The generation is the run that it is done for; nil if it is no matter.
  func transaction<Value: Sendable>(
    _ generation: Int? = nil,
    _ body: @Sendable (EngineWork) throws(SQLiteError) -> Value
  ) throws(SyncEngineError) -> Value {
    if options.metadata != .sameFile { try mendAttachment() }
    let value = try Self.write(to: database) { [self] (connection) throws(SyncEngineError) in
      try MetadataAttachment(options.metadata)?.attach(to: connection)
      // Looked up here, where nobody else can write.
      let (present, pieces) = state.withLock { ($0.generation, $0.pieces) }
      guard generation ?? present == present else {
        throw SyncEngineError(
          .superseded,
          "the engine was started, stopped or renewed meanwhile; call again"
        )
      }
      let (value, counts, gone) = try sqlite { () throws(SQLiteError) in
        try connection.transaction { () throws(SQLiteError) in
          let work = EngineWork(
            connection: connection,
            tables: tables,
            options: options,
            zoneID: zoneID
          )
          let count = options.metadata == .sameFile ? nil : try MetadataAttachment.open(work)
          try Self.writePieces(pieces, connection)
          let value = try body(work)
          try work.restoreRetouched()
          if let count { try MetadataAttachment.close(work, since: count) }
          return (value, work.tally.counts, work.tally.gone)
        }
      }
      state.withLock { state in
        state.counts += counts
        state.gone += gone
        if state.generation == present { state.pieces.removeFirst(pieces.count) }
      }
      return value
    }
    if options.metadata != .sameFile { try removeTakenEdits() }
    return value
  }

  /// Does something on the engine's executor; an error that does not pass ends the run.
  func perform(_ generation: Int, _ body: @escaping @Sendable () throws(SyncEngineError) -> Void) {
    executor.run { [self] in take(generation) { (_) throws(SyncEngineError) in try body() } }
  }
}

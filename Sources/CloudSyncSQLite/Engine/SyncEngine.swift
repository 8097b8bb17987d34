public import CloudSyncCore
import CloudSyncSQLiteSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Keeps tables of a SQLite database in step with a zone of a cloud, both ways.
///
/// Tables are named at run time; their columns and keys are read from the database. Triggers capture every
/// edit in its own transaction, whoever makes it, also while the engine is stopped. What comes from
/// the cloud is merged column by column and written in one transaction a page.
///
/// ```swift
/// let database = try DatabaseFile(path: "notes.sqlite")
/// let engine = try SyncEngine(
///   database: database, tables: ["lists", "notes"], zoneID: ZoneID(name: "Notes"),
///   operationHandler: cloud)
/// engine.start()
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
  public let errors = Subject<SyncEngineError>()
  /// What the engine is doing, whenever that changes.
  public let activity = Subject<SyncActivity>(replaysLast: true)

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
    handler = operationHandler
    executor = environment.makeExecutor()
    self.tables = try Self.write(to: database) { (connection) throws(SyncEngineError) in
      try sqlite { () throws(SQLiteError) in
        try UUIDFunction.install(on: connection, environment)
      }
      return try EngineSetup(
        connection: connection,
        options: options,
        zoneID: zoneID,
        nonce: environment.nonce
      )
      .prepare(tables)
    }
  }

  // MARK: The database

  /// Runs a body with the database's connection.
  static func write<Value: Sendable>(
    to database: any SyncDatabase,
    _ body: @Sendable (SQLiteConnection) throws(SyncEngineError) -> Value
  ) throws(SyncEngineError) -> Value {
    do {
      return try database.write { handle in try body(SQLiteConnection(borrowing: handle)) }
    } catch let error as SyncEngineError {
      throw error
    } catch {
      throw SyncEngineError(.cannotAccess, "the database cannot be written: \(error)")
    }
  }

  /// Runs a body in a transaction, and counts what it has done.
  func transaction<Value: Sendable>(
    _ body: @Sendable (EngineWork) throws(SQLiteError) -> Value
  ) throws(SyncEngineError) -> Value {
    let (value, counts) = try Self.write(to: database) {
      [tables, options, zoneID] (connection) throws(SyncEngineError) in
      try sqlite { () throws(SQLiteError) in
        try connection.transaction { () throws(SQLiteError) in
          let work = EngineWork(
            connection: connection,
            tables: tables,
            options: options,
            zoneID: zoneID
          )
          return (try body(work), work.tally.counts)
        }
      }
    }
    state.withLock { $0.counts += counts }
    return value
  }

  /// Does something on the engine's executor; an error ends the run.
  func perform(_ generation: Int, _ body: @escaping @Sendable () throws(SyncEngineError) -> Void) {
    executor.run { [self] in
      guard state.withLock({ $0.generation == generation && $0.session != nil }) else { return }
      do throws(SyncEngineError) { try body() } catch {
        errors.send(error)
        stop()
      }
      report()
    }
  }
}

public import CloudSyncCore
import CloudSyncSQLiteSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Synchronizes tables of a SQLite database with a zone of a cloud, both ways.
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
/// When a migration, or an engine of a newer version, changes a table while the engine runs, the engine notices it at its
/// next transaction, reads the tables anew, and goes on; what was changed meanwhile is found, as after a start. It
/// stops with an error if the new schema stands in the way.
///
/// Several engines may run on one database, in one process or in several, such as an app and its widget: each
/// sends what it finds and stores what it fetches, and what one is told late counts no more if another was told since.
public final class SyncEngine: Sendable {
  /// Every error of the database that the engine has met; it stops over those that do not pass.
  public let errors = SyncSubject<SyncEngineError>()
  /// Every error of the cloud's for which something has to be tried again, and that over which the session halts.
  ///
  /// That others have changed a record is none: the row is merged.
  public let cloudErrors = SyncSubject<SyncError>()
  /// What the engine is doing, whenever that changes.
  public let activity = SyncSubject<SyncActivity>(replaysLast: true)
  /// What the app has to decide, whenever that comes up; see ``question`` for what is open.
  public let questions = SyncSubject<SyncQuestion>()

  /// The rows that the engine has changed, after every transaction in which it has.
  public let changes = SyncSubject<RowChanges>()

  /// The rows that have become one with others, here or on another device, after every transaction in which some have.
  public let unitedRows = SyncSubject<[UnitedRow]>()

  let control: EngineControl
  var context: EngineContext { control.context }

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
    let assets = options.assets.map { AssetFolder(options: $0) }
    try database.use { (connection) throws(SyncEngineError) in
      try sqlite { () throws(SQLiteError) in
        try SQLiteVersion.check()
        try UUIDFunction.install(on: connection, environment: environment)
      }
    }
    let publishers = EnginePublishers(
      errors: errors,
      cloudErrors: cloudErrors,
      activity: activity,
      questions: questions,
      changes: changes,
      unitedRows: unitedRows
    )
    let context = EngineContext(
      database: database,
      zoneID: zoneID,
      options: options,
      environment: environment,
      executor: environment.makeExecutor(),
      handler: assets?.resolving(operationHandler) ?? operationHandler,
      tableNames: tables,
      publishers: publishers
    )
    let prepared = try database.use { (connection) throws(SyncEngineError) in
      try context.prepareTables(on: connection)
    }
    control = EngineControl(context, prepared)
    try control.readReport()
    control.report()
  }

  deinit { control.release() }
}

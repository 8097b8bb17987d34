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
/// Several engines may run on one database, in one process or in several, such as an app and its widget: each
/// sends what it finds and stores what it fetches, and pages of one that another has overtaken move no token.
public final class SyncEngine: Sendable {
  /// Every error of the database that the engine has met; it stops over those that do not pass.
  public let errors = SyncSubject<SyncEngineError>()
  /// Every error of the cloud's for which something has to be tried again, and that over which the session halts.
  public let cloudErrors = SyncSubject<SyncError>()
  /// What the engine is doing, whenever that changes.
  public let activity = SyncSubject<SyncActivity>(replaysLast: true)
  /// What the app has to decide, whenever that comes up; see ``question`` for what is open.
  public let questions = SyncSubject<SyncQuestion>()

  struct State {
    var session: CloudSyncSession?
    /// Counts starts: what an earlier session still says is not heard.
    var generation = 0
    /// Whether a look at what is to be sent is due.
    var isFeedDue = false
    /// Whether a fetch has to tell what became of a record.
    var isFetchDue = false
    /// The operations that the session has not completed.
    var inFlight: [Int64: SentBatch] = [:]
    var fetches = 0
    /// How many answers have said that the cloud lacks a record, as of the last transaction.
    var absences: Int64 = 0
    /// How many there were when the first of the fetches was asked for that the next run answers, and of the run
    /// that is under way; nil if nobody knows.
    var absencesBefore: (next: Int64?, present: Int64?) = (nil, nil)
    /// The page of the session's that has come last.
    var lastPage: PageID?
    var counts = SyncCounts()
    var waiters: [SyncWaiter] = []
    /// Over what the session has halted.
    var halt: SyncError?
    /// The cloud's error that was published last.
    var lastError: SyncError?
    /// Whether the engine was started, and not stopped since.
    var isWanted = false
    /// Whether the account was away when its provider was last asked.
    var isAway = false
    /// How often the zone was lost since anything of it was seen.
    var zoneLosses = 0
    /// What could not be done yet because the database was locked, in order.
    var backlog: [Step] = []
    /// What the session has learnt and is not written yet.
    var essence: [UInt8]?
    /// The essence that was seen last.
    var lastEssence: [UInt8]?
    /// Whether the cloud has refused the zone's record since anything was fetched.
    var isZoneRecordRefused = false
    /// The schema's version after the last transaction.
    var schemaVersion: Int64?
    /// What has come from the cloud and is not stored yet.
    var group = CloudGroup()
    /// A fetch that is to follow what was stored.
    var nextFetch: FetchOperation?
    /// Whether the last page that has come was not the last one of its fetch.
    var isPageDue = false
    /// How far a table was compared whose rows are sent as they are found; nil if that is what is stored.
    var comparedTo: Reconciliation.Position?
    /// How often in a row the database was locked.
    var retries = 0

    var recordsInFlight: Int { inFlight.values.reduce(0) { $0 + $1.count } }
  }

  let database: any SyncDatabase
  let zoneID: ZoneID
  let options: SyncEngineOptions
  let environment: SyncEnvironment
  let executor: SyncExecutor
  let handler: any OperationHandler
  let tables: SyncTables
  let state = Locked(State())
  private let timers = Locked<(retry: any SyncTimer, group: any SyncTimer)?>(nil)

  var retryTimer: (any SyncTimer)? { timers.withLock { $0?.retry } }
  var groupTimer: (any SyncTimer)? { timers.withLock { $0?.group } }

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
    try database.use { (connection) throws(SyncEngineError) in
      try sqlite { () throws(SQLiteError) in
        try SQLiteVersion.check()
        try UUIDFunction.install(on: connection, environment)
      }
    }
    self.tables = try database.use { (connection) throws(SyncEngineError) in
      try EngineSetup(connection: connection, options: options, nonce: environment.nonce)
        .prepare(tables)
    }
    let retryTimer = environment.makeTimer(executor) { [weak self] in self?.retry() }
    let groupTimer = environment.makeTimer(executor) { [weak self] in self?.storeGroup() }
    timers.withLock { $0 = (retryTimer, groupTimer) }
  }

  deinit {
    retryTimer?.cancel()
    groupTimer?.cancel()
  }

  /// Does something on the engine's executor; an error that does not pass ends the run.
  func perform(_ generation: Int, _ body: @escaping @Sendable () throws(SyncEngineError) -> Void) {
    executor.run { [self] in take(generation) { (_) throws(SyncEngineError) in try body() } }
  }
}

import CloudSyncCore
import CloudSyncSQLiteSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What an engine works with, whether or not it runs.
struct EngineContext: Sendable {
  let database: any SyncDatabase
  let zoneID: ZoneID
  let options: SyncEngineOptions
  let environment: SyncEnvironment
  let executor: SyncExecutor
  let handler: any OperationHandler
  /// The names of the tables, as the app has given them.
  let tableNames: [String]
  let publishers: EnginePublishers
}

/// Where an engine tells what happens.
struct EnginePublishers: Sendable {
  let errors: SyncSubject<SyncEngineError>
  let cloudErrors: SyncSubject<SyncError>
  let activity: SyncSubject<SyncActivity>
  let questions: SyncSubject<SyncQuestion>
  let changes: SyncSubject<RowChanges>
  let unitedRows: SyncSubject<[UnitedRow]>
}

extension EngineContext {
  /// Reads the tables, and makes the database ready for them.
  func prepareTables(on connection: SQLiteConnection) throws(SyncEngineError) -> PreparedTables {
    try EngineSetup(connection: connection, options: options, nonce: environment.nonce)
      .prepare(tableNames)
  }

  /// A session that goes on where the last one has stopped.
  func makeSession(
    restoring essence: SyncEssence?,
    by handler: HistoryKeepingHandler
  ) -> CloudSyncSession {
    let later = ConflictResolver { _ in .later }
    let session =
      essence.map { essence in
        CloudSyncSession(
          restoring: essence,
          operationHandler: handler,
          configuration: configuration,
          resolver: later,
          callbackExecutor: executor,
          gate: options.gate,
          environment: environment
        )
      }
      ?? CloudSyncSession(
        operationHandler: handler,
        zoneID: zoneID,
        configuration: configuration,
        resolver: later,
        callbackExecutor: executor,
        gate: options.gate,
        environment: environment
      )
    if let provider = options.accountProvider {
      session.appendMiddleware(AccountStatusMiddleware(provider: provider))
    }
    return session
  }

  private var configuration: SyncConfiguration {
    var configuration = options.configuration
    configuration.acknowledgesPages = true
    // The engine keeps what is pending by itself.
    configuration.refusedItems = .handBack
    // Why the cloud has no record, only the feed tells.
    configuration.missingRecordPolicy = .park
    configuration.zonePolicy.missing = .ask
    configuration.zonePolicy.purged = .ask
    configuration.zonePolicy.encryptedDataReset = .ask
    return configuration
  }
}

extension SyncDatabase {
  /// How far the cloud's history had come with all that the database has stored of it.
  func storedHistory() throws(SyncEngineError) -> [ChangeToken] {
    try readFacts { (facts) throws(SQLiteError) in try facts.historyTokens() } ?? []
  }

  /// What the last session has left in the database, which an engine may never have seen.
  func storedEssence() throws(SyncEngineError) -> SyncEssence? {
    let value = try readFacts { (facts) throws(SQLiteError) in try facts.value(.essence) }
    guard case .blob(let bytes)? = value else { return nil }
    do throws(CodedError) { return try SyncEssence(Data(bytes)) } catch {
      throw SyncEngineError(
        .damaged,
        "what the session has learnt cannot be read (\(error)); delete 'essence' from"
          + " cloudsync_facts to begin anew: no edit is lost by it"
      )
    }
  }
}

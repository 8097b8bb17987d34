#if canImport(CloudKit)
public import CloudKit
public import CloudSyncAssets
public import CloudSyncCore
import Foundation

/// Carries a session's operations out by Apple's CloudKit framework, in one zone of the private or the shared
/// database.
///
/// It never retries, splits or resolves: the session does. A request is one CloudKit operation, with a look-up
/// before it for edits of records whose system fields it does not have.
///
/// ```swift
/// let container = CKContainer(identifier: "iCloud.org.example.Notes")
/// let handler = CloudKitOperationHandler(
///   database: container.privateCloudDatabase,
///   zoneID: CKRecordZone.ID(zoneName: "Notes"),
///   assets: AssetCache(folder: folder + "/assets"))
/// let session = CloudSyncSession(operationHandler: handler, zoneID: handler.zoneID)
/// ```
///
/// The files of fetched assets lie in the cache. It is bounded, and only those of the last response are sure to stay:
/// copy what you keep.
public final class CloudKitOperationHandler: OperationHandler {
  private let connection: CloudKitConnection
  private let running = Locked<CloudKitCall?>(nil)

  /// 250 items and 1.5 MB: what CloudKit's own sync engine sends, and below the 2 MB that the server takes.
  public let limits = RequestLimits(items: 250, bytes: 1_500_000)
  /// A microsecond, unless the options say otherwise.
  public var timestampUnit: Duration { connection.options.timestampUnit }
  /// The zone as the session names it: give it to the session.
  public var zoneID: ZoneID { connection.identifiers.zoneID }

  /// Creates a handler.
  ///
  /// - Parameters:
  ///   - database: The private or the shared database of a container.
  ///   - zoneID: The session's zone; in the shared database with its owner.
  ///   - systemFields: Where it keeps the system fields of records: `SystemFieldsFile` of CloudSyncSQLite saves a
  ///     look-up for the first edit of each record after a launch.
  ///   - assets: Where the files of fetched assets go; without it a record that has one cannot be fetched.
  ///   - options: How requests are made.
  /// - Precondition: The database is not the public one, which has no change feed.
  public init(
    database: CKDatabase,
    zoneID: CKRecordZone.ID,
    systemFields: any SystemFieldsStore = SystemFieldsMemory(),
    assets: AssetCache? = nil,
    options: CloudKitOptions = CloudKitOptions()
  ) {
    let scope = DatabaseScope(database.databaseScope)
    precondition(
      scope != .public,
      "Give a CloudKitOperationHandler the private or the shared database: the public one has no feed."
    )
    connection = CloudKitConnection(
      database: UncheckedBox(database),
      identifiers: CloudKitIdentifiers(zoneID: zoneID, scope: scope),
      systemFields: systemFields,
      assets: assets,
      options: options
    )
  }

  /// Creates the zone; in the shared database, finds out whether the user takes part in it.
  public func handle(
    createZoneOperation operation: CreateZoneOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
  ) {
    CloudKitZoneCreation(
      connection: connection,
      call: begin(context),
      answer: OnceCompletion(completion)
    )
    .run()
  }

  /// Creates the subscription.
  public func handle(
    createSubscriptionOperation operation: CreateSubscriptionOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
  ) {
    CloudKitSubscriptionCreation(
      connection: connection,
      call: begin(context),
      answer: OnceCompletion(completion)
    )
    .run()
  }

  /// Saves and deletes records.
  public func handle(
    modifyOperation operation: ModifyOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<ModifyOperation.Response, SyncError>) -> Void
  ) {
    // CloudKit would send them all before it saves anything, and begin anew when the request is cancelled at its deadline.
    do throws(SyncError) {
      if !connection.options.isAtomic { try RequestedFiles.check(operation.records) }
    } catch { return completion(.failure(error)) }
    CloudKitModification(
      connection: connection,
      call: begin(context),
      answer: OnceCompletion(completion)
    )
    .run(operation)
  }

  /// Fetches one page of changes, or looks records up.
  public func handle(
    fetchOperation operation: FetchOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<FetchOperation.Response, SyncError>) -> Void
  ) {
    CloudKitPageFetch(
      connection: connection,
      call: begin(context),
      answer: OnceCompletion(completion)
    )
    .run(operation)
  }

  /// Cancels the operation of a call.
  public func cancel(_ attempt: Attempt) {
    let call = running.withLock { $0 }
    if call?.context.attempt == attempt { call?.cancel() }
  }

  private func begin(_ context: RequestContext) -> CloudKitCall {
    let call = CloudKitCall(context: context)
    running.withLock { $0 = call }
    return call
  }

  /// The ID of the subscription that the handler creates.
  var subscriptionID: String { connection.subscriptionID }
  /// Translates IDs as the handler does.
  var identifiers: CloudKitIdentifiers { connection.identifiers }
}
#endif

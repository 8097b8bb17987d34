/// Lets a session keep the files of assets by their place in a folder that may move.
///
/// An absolute path is stored with every journal, snapshot and database that has the asset, and
/// leads nowhere once the system has moved the app's container: after an update of the app, or a
/// restored backup. With this handler around the app's own the session sees, stores and announces
/// locations that are relative to the folder, and the app's handler sees absolute ones.
///
/// ```swift
/// let handler = AssetResolvingHandler(CloudHandler(), folder: NSHomeDirectory())
/// ```
///
/// Give it the path that the folder has in this run of the app. Submit assets relative
/// (``Asset/relative(to:)``), and read the files of announced ones by ``Asset/resolved(in:)``. Files
/// outside the folder and addresses stay as they are.
public struct AssetResolvingHandler: OperationHandler {
  private let handler: any OperationHandler
  private let folder: String

  /// Creates a handler.
  ///
  /// - Parameters:
  ///   - handler: The handler that talks to the cloud.
  ///   - folder: The path that the folder has now, absolute.
  public init(_ handler: any OperationHandler, folder: String) {
    self.handler = handler
    self.folder = folder
  }

  /// The limits of the handler inside.
  public var limits: RequestLimits { handler.limits }
  /// The unit of the handler inside.
  public var timestampUnit: Duration { handler.timestampUnit }

  /// Creates the zone.
  public func handle(
    createZoneOperation operation: CreateZoneOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
  ) {
    handler.handle(createZoneOperation: operation, context: context, completion: completion)
  }

  /// Creates the subscription.
  public func handle(
    createSubscriptionOperation operation: CreateSubscriptionOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
  ) {
    handler.handle(createSubscriptionOperation: operation, context: context, completion: completion)
  }

  /// Saves and deletes records, whose assets have absolute locations.
  public func handle(
    modifyOperation operation: ModifyOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<ModifyOperation.Response, SyncError>) -> Void
  ) {
    let resolved = operation.replacingRecords { record in
      record.replacingAssets { $0.resolved(in: folder) }
    }
    handler.handle(modifyOperation: resolved, context: context) { result in
      completion(
        result.map { response in
          var response = response
          response.savedRecords = response.savedRecords.map(stored)
          response.failures = response.failures.map(stored)
          return response
        }
        .mapError(stored)
      )
    }
  }

  /// Fetches a page; assets of its records whose files lie in the folder get relative locations.
  public func handle(
    fetchOperation operation: FetchOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<FetchOperation.Response, SyncError>) -> Void
  ) {
    handler.handle(fetchOperation: operation, context: context) { result in
      completion(
        result.map { response in
          var response = response
          response.changedRecords = response.changedRecords.map(stored)
          response.failures = response.failures.map(stored)
          return response
        }
        .mapError(stored)
      )
    }
  }

  /// Gives up a call of the handler inside.
  public func cancel(_ attempt: Attempt) { handler.cancel(attempt) }

  // MARK: What comes back, as it is stored

  private func stored(_ record: Record) -> Record {
    record.replacingAssets { $0.relative(to: folder) }
  }

  private func stored(_ failure: ItemFailure) -> ItemFailure {
    ItemFailure(failure.recordID, stored(failure.error))
  }

  private func stored(_ error: SyncError) -> SyncError {
    var error = error
    error.itemErrors = error.itemErrors.map(stored)
    error.clientRecord = error.clientRecord.map(stored)
    error.serverRecord = error.serverRecord.map(stored)
    error.ancestorRecord = error.ancestorRecord.map(stored)
    return error
  }
}

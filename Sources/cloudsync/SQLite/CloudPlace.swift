import CloudSyncCore
import CloudSyncSQLite
import Dispatch

/// A cloud of `cloudsync sync`: a file, or a server.
protocol CloudPlace {
  /// What the cloud is called on the command line.
  var name: String { get }
  var handler: any OperationHandler { get }
  /// Tells whose cloud it is; nil where all copies belong to one user.
  var account: AccountStatusProvider? { get }

  /// How large BLOBs travel, by way of a folder for files that are on their way.
  func assets(stagedIn folder: String) -> AssetOptions
  /// Throws if what a database was synchronized with before is another cloud, so that nothing is mixed.
  ///
  /// - Parameters:
  ///   - place: Where the database's next fetch begins, and whose rows they are; nil if it was synchronized with
  ///     nothing.
  ///   - path: The database.
  ///   - console: Takes why that cannot be told yet.
  /// - Throws: That it is another cloud.
  func check(_ place: SyncPlace?, of path: String, console: Console) throws
  /// Notices from now on what others change.
  func changes(every interval: Duration) throws -> any CloudChanges
}

/// Notices what others change in a cloud.
protocol CloudChanges {
  /// Why nothing can be noticed at the moment; nil if all is well.
  var problem: String? { get }

  /// Whether something may have changed since the last call.
  mutating func haveCome() throws -> Bool
}

extension CloudPlace {
  /// Throws if a database belongs to another cloud or zone.
  func check(_ database: DatabaseFile, for request: SyncCommand.Request, console: Console) throws {
    let place = try SyncEngine.place(in: database)
    if let place, place.zoneID != request.zoneID {
      throw ToolError.failure(
        "\(request.path): it was synchronized with the zone “\(place.zoneID.name)”, not"
          + " “\(request.zoneID.name)”; leave --zone out, or begin anew after “cloudsync detach"
          + " \(request.path)”"
      )
    }
    try check(place, of: request.path, console: console)
  }

  /// That a database belongs to another cloud.
  func isForeign(_ path: String) -> ToolError {
    .failure(
      "\(path): it was synchronized with another cloud than \(name), and belongs to another cloud; name that one,"
        + " or begin anew after “cloudsync detach \(path)”"
    )
  }

  /// Fetches one page, and waits for it.
  func fetch(after token: ChangeToken) -> Result<FetchOperation.Response, SyncError> {
    let result = Locked<Result<FetchOperation.Response, SyncError>?>(nil)
    let done = DispatchSemaphore(value: 0)
    let context = RequestContext(
      attempt: Attempt(epoch: 0, number: 0),
      writeToken: WriteToken(nonce: 0, number: 0),
      deadline: SyncEnvironment.live.now().adding(.seconds(60))
    )
    handler.handle(fetchOperation: FetchOperation(changeToken: token), context: context) { new in
      result.withLock { $0 = $0 ?? new }
      done.signal()
    }
    done.wait()
    return result.withLock { $0 } ?? .failure(SyncError(.internalError, "there was no answer"))
  }
}

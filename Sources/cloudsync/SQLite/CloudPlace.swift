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

  /// How large values travel, by way of a folder for files that are on their way.
  func assets(stagedIn folder: String) -> AssetOptions
  /// The names of the zones that the cloud has.
  ///
  /// - Parameter console: Takes why that cannot be told yet.
  /// - Returns: The names.
  /// - Throws: That the cloud cannot be used.
  func zoneNames(console: Console) throws -> [String]
  /// Tells whether a cloud is the one that a database was synced with, and waits until it can be told.
  ///
  /// - Parameters:
  ///   - place: Where the database's next fetch begins, and whose rows they are.
  ///   - isAttaching: Whether the rows may belong to another account.
  ///   - path: The database.
  ///   - console: Takes why that cannot be told yet.
  /// - Returns: What the cloud is to the database.
  /// - Throws: That the cloud cannot be used.
  func relation(
    to place: SyncPlace?,
    isAttaching: Bool,
    of path: String,
    console: Console
  ) throws -> CloudRelation
  /// Makes a cloud that was restored from a backup one that all other copies recognize as such.
  func renewHistory(after token: ChangeToken?) throws
  /// Stores large values again that the cloud has lost, as far as a database has them.
  ///
  /// - Parameters:
  ///   - database: The database.
  ///   - tables: The tables whose values are in the cloud.
  ///   - isAsked: Whether somebody wants all to be looked at; otherwise that is done where all are known to be lost.
  ///   - console: Takes what was stored, and what is still missing.
  /// - Throws: That it cannot be read, or stored.
  func restoreAssets(
    from database: DatabaseFile,
    tables: [String],
    isAsked: Bool,
    console: Console
  ) throws
  /// Throws if what is to be sent can never be taken.
  func checkAccess() throws
  /// Notices from now on what others change.
  func changes(every interval: Duration) throws -> any CloudChanges
}

extension CloudPlace {
  func checkAccess() throws {}
  func restoreAssets(
    from database: DatabaseFile,
    tables: [String],
    isAsked: Bool,
    console: Console
  ) throws {}
}

/// What a cloud is to a database.
enum CloudRelation: Sendable, Hashable {
  /// The one that it was synced with, or it was synced with none.
  case same
  /// Another one.
  case other
  /// The same, without changes that the database has seen: somebody has put back a backup.
  case restored
  /// The same, without the zone that the database was synced with.
  case emptied

  /// What joining it means for the rows; nil if they belong to it already.
  ///
  /// - Parameter creates: Whether it was gone, and is created for them: then it goes on as the one before.
  /// - Returns: Which cloud it is for them.
  func attached(creates: Bool) -> AttachedCloud? {
    switch self {
    case .same: nil
    case .other: creates ? .restored : .other
    case .restored, .emptied: .restored
    }
  }
}

/// Notices what others change in a cloud.
protocol CloudChanges {
  /// Why nothing can be noticed at the moment; nil if it can.
  var problem: String? { get }

  /// Whether something may have changed since the last call.
  mutating func haveCome() throws -> Bool
}

extension CloudPlace {
  /// Throws if a database belongs to another cloud or zone, or the cloud has lost changes.
  ///
  /// - Returns: What the cloud is to a database that is to be attached to it.
  @discardableResult
  func check(_ request: SyncCommand.Request, console: Console) throws -> CloudRelation {
    let (path, place) = (request.path, request.place)
    if let place, place.zoneID != request.zoneID, !request.isAttaching {
      throw ToolError.failure(
        "\(path): it was synced with the zone “\(place.zoneID.name)”, not"
          + " “\(request.zoneID.name)”; leave --zone out, or merge it into that zone with “"
          + "\(Self.attachCommand(for: request)) --zone \(request.zoneID.name)”"
      )
    }
    if request.isAttaching, place == nil {
      throw ToolError.failure(
        "\(path): it is not synced, so there is nothing to attach; “cloudsync sync \(path.argument) --cloud \(name.argument)"
          + " --all” begins: where the cloud has a row too, the cloud's values win"
      )
    }
    // A token says nothing of another zone.
    if let place, place.zoneID != request.zoneID {
      try checkZone(request.zoneID, creates: request.creates, console: console)
      return .other
    }
    let relation = try relation(
      to: place,
      isAttaching: request.isAttaching,
      of: path,
      console: console
    )
    // A database that knows the zone is told below that it is gone.
    if request.isAttaching || place?.token == nil {
      try checkZone(request.zoneID, creates: request.creates, console: console)
    }
    if request.isAttaching { return relation }
    let way = "“\(Self.attachCommand(for: request))”"
    switch relation {
    case .same: return relation
    case .other:
      throw ToolError.failure(
        "\(path): it was synced with another cloud than \(name); name that one, or merge the copy into"
          + " this one with \(way); --dry-run shows what that replaces and deletes"
      )
    case .restored:
      throw ToolError.failure(
        "\(name): it was restored from an older backup and may lack changes that \(path) has seen; merge"
          + " them back with \(way); --dry-run shows what that replaces and deletes"
      )
    case .emptied:
      throw ToolError.failure(
        "\(name): its zone “\(request.zoneID.name)”, with which \(path) was synced, is gone; upload"
          + " the rows again with \(way)"
      )
    }
  }

  /// Throws if the cloud lacks a zone, and it is not to be created: a mistyped name creates none.
  ///
  /// - Parameters:
  ///   - zoneID: The zone.
  ///   - creates: Whether it is to be created; nil where the command only reads one.
  ///   - console: Takes why that cannot be told yet.
  /// - Throws: That there is none, and which one may have been meant.
  func checkZone(_ zoneID: ZoneID, creates: Bool?, console: Console) throws {
    if creates == true { return }
    let zones = try zoneNames(console: console)
    if zones.contains(zoneID.name) { return }
    let hint = Suggestion.text(for: zoneID.name, among: zones)
    let others = zones.map { "“\($0)”" }.joined(separator: ", ")
    let what =
      "\(name): there is no zone “\(zoneID.name)”"
      + (hint.isEmpty && !zones.isEmpty ? ", only \(others)" : hint)
    let advice = (hint.isEmpty ? "; add" : " Otherwise add") + " --create to create it"
    throw ToolError.failure(creates == nil ? what : what + advice)
  }

  /// The command that merges a database with a cloud.
  static func attachCommand(for request: SyncCommand.Request) -> String {
    "cloudsync attach \(request.path.argument) --cloud \(request.cloud.argument) --merge"
  }

  /// Fetches the first page after what a database has stored, and waits for it; nil if it has stored none.
  func fetch(from place: SyncPlace?) -> Result<FetchOperation.Response, SyncError>? {
    guard let place, let token = place.token else { return nil }
    let result = Locked<Result<FetchOperation.Response, SyncError>?>(nil)
    let done = DispatchSemaphore(value: 0)
    let context = RequestContext(
      attempt: Attempt(epoch: 0, number: 0),
      writeToken: WriteToken(nonce: 0, number: 0),
      deadline: SyncEnvironment.live.now().adding(.seconds(60)),
      historyTokens: place.historyTokens
    )
    handler.handle(fetchOperation: FetchOperation(changeToken: token), context: context) { new in
      result.withLock { $0 = $0 ?? new }
      done.signal()
    }
    done.wait()
    return result.withLock { $0 } ?? .failure(SyncError(.internalError, "there was no response"))
  }
}

extension CloudRelation {
  /// What a cloud's response to a fetch from where a database has stopped says about the cloud.
  init(_ error: SyncError) {
    switch error.code {
    case .invalidArguments: self = .other
    case .zoneNotFound where error.isEncryptedDataReset: self = .restored
    case .zoneNotFound, .userDeletedZone: self = .emptied
    // What else may be wrong, the session finds out.
    default: self = .same
    }
  }
}

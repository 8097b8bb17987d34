import CloudSyncChangesets
import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import Foundation
import Testing

/// A cloud of one account, and what tests do to it from outside.
enum RemoteBench {
  static let zone = ZoneID(name: "History")
  static let ada = AccountIdentity("ada")
  static let bob = AccountIdentity("bob")

  static func handler(_ cloud: LocalCloud, device: String) -> LocalCloudConnection {
    cloud.connect(device: device, account: ada, zoneID: zone)
  }

  static func remote(
    _ bench: HistoryBench,
    _ cloud: LocalCloud,
    device: String = "desk"
  ) throws -> ChangesetRemote {
    try ChangesetRemote(
      bench.repository,
      operationHandler: handler(cloud, device: device),
      zoneID: zone
    )
  }

  static func packs(_ cloud: LocalCloud, of account: AccountIdentity = ada) throws -> [Record] {
    try cloud.records(account: account, zone: zone).filter { $0.recordType == "ChangesetPack" }
  }

  /// Writes a record as a stranger would.
  static func write(_ bytes: [UInt8], as name: String, _ cloud: LocalCloud) async throws {
    let stranger = CloudSyncSession(
      operationHandler: handler(cloud, device: "stranger"),
      zoneID: zone,
      resolver: .fieldwise(default: .client)
    )
    stranger.start()
    defer { stranger.stop() }
    var record = Record(
      recordType: "ChangesetPack",
      recordID: RecordID(name: name, zoneID: zone)
    )
    record["data"] = .data(Data(bytes))
    _ = try await stranger.perform(ModifyOperation(records: [record]))
  }
}

/// A handler that changes the answers of another one.
final class ChangingHandler: OperationHandler {
  typealias Change =
    @Sendable (FetchOperation, FetchOperation.Response) -> FetchOperation.Response

  /// How a request is broken off: before the cloud has it, or before its answer is here.
  enum Break: Sendable { case before, after }

  private let handler: any OperationHandler
  private let change: Locked<Change?>
  /// Called before anything is saved or deleted.
  let beforeModify = Locked<(@Sendable (ModifyOperation) -> Void)?>(nil)
  /// Called before a page is asked for; an error is the answer then.
  let beforeFetch = Locked<(@Sendable () -> SyncError?)?>(nil)
  /// Says of each request whether it is broken off, after which it is told of that.
  let breaks = Locked<(ask: @Sendable () -> Break?, tell: @Sendable () -> Void)?>(nil)

  init(_ handler: any OperationHandler, change: Change? = nil) {
    self.handler = handler
    self.change = Locked(change)
  }

  func set(_ change: Change?) { self.change.withLock { $0 = change } }

  func handle(
    createZoneOperation operation: CreateZoneOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
  ) { handler.handle(createZoneOperation: operation, context: context, completion: completion) }

  func handle(
    createSubscriptionOperation operation: CreateSubscriptionOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
  ) {
    handler.handle(createSubscriptionOperation: operation, context: context, completion: completion)
  }

  func handle(
    modifyOperation operation: ModifyOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<ModifyOperation.Response, SyncError>) -> Void
  ) {
    beforeModify.withLock { $0 }?(operation)
    guard let completion = breakable(completion) else { return }
    handler.handle(modifyOperation: operation, context: context, completion: completion)
  }

  /// A completion that may not hear of the answer; nil where the cloud does not get the request.
  private func breakable<Value>(
    _ completion: @escaping @Sendable (Result<Value, SyncError>) -> Void
  ) -> (@Sendable (Result<Value, SyncError>) -> Void)? {
    guard let breaks = breaks.withLock({ $0 }), let kind = breaks.ask() else { return completion }
    let end = { @Sendable in
      breaks.tell()
      completion(.failure(SyncError(.networkUnavailable)))
    }
    if kind == .after { return { @Sendable _ in end() } }
    end()
    return nil
  }

  func handle(
    fetchOperation operation: FetchOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<FetchOperation.Response, SyncError>) -> Void
  ) {
    if let error = beforeFetch.withLock({ $0 })?() { return completion(.failure(error)) }
    guard let completion = breakable(completion) else { return }
    let change = change.withLock { $0 }
    handler.handle(fetchOperation: operation, context: context) { result in
      completion(result.map { change?(operation, $0) ?? $0 })
    }
  }
}

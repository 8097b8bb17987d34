public import CloudSyncCore

/// A device's way to one zone of a local cloud: what a session sends its requests to.
public final class LocalCloudConnection: OperationHandler {
  private let cloud: LocalCloud
  /// The device's name.
  public let device: String
  /// The zone that requests are for.
  public let zoneID: ZoneID
  /// What sessions are told to keep to.
  public let limits: RequestLimits
  private let executor: SyncExecutor
  private let isAtomic: Bool?
  private let signedIn: Locked<AccountIdentity?>

  init(
    cloud: LocalCloud,
    device: String,
    account: AccountIdentity,
    zoneID: ZoneID,
    executor: SyncExecutor,
    isAtomic: Bool?
  ) {
    self.isAtomic = isAtomic
    self.cloud = cloud
    self.device = device
    self.zoneID = zoneID
    self.executor = executor
    limits = cloud.options.limits
    signedIn = Locked(account)
  }

  /// Who is signed in on the device.
  public var account: AccountIdentity? { signedIn.withLock { $0 } }

  /// Signs somebody in on the device, or out with nil; the session has to be told by its app.
  public func signIn(_ account: AccountIdentity?) { signedIn.withLock { $0 = account } }

  /// Tells the status of the account that is signed in, for `AccountStatusMiddleware`.
  public var accountStatus: AccountStatusProvider {
    AccountStatusProvider { completion in
      self.executor.run {
        guard let frame = self.frame else { return completion(.noAccount, nil) }
        let status = self.cloud.answer(kind: .read, frame: frame) {
          (engine) throws(LocalCloudStoreError) in
          .success(try engine.account()?.status ?? .available)
        }
        switch status {
        case .success(let status): completion(status, frame.account)
        case .failure: completion(.couldNotDetermine, nil)
        }
      }
    }
  }

  /// What a request is made with; nil when nobody is signed in.
  private var frame: RequestFrame? {
    account.map { account in
      var frame = cloud.frame(device: device, account: account, zoneID: zoneID)
      if let isAtomic { frame.options.isAtomic = isAtomic }
      return frame
    }
  }

  /// Carries out a request on the executor.
  private func serve<Value: Sendable>(
    completion: @escaping @Sendable (Result<Value, SyncError>) -> Void,
    body: @escaping @Sendable (LocalCloud, RequestFrame) -> Result<Value, SyncError>
  ) {
    executor.run {
      guard let frame = self.frame else {
        return completion(.failure(SyncError(.notAuthenticated, "nobody is signed in")))
      }
      completion(body(self.cloud, frame))
    }
  }

  /// Creates the zone; one that exists stays as it is.
  public func handle(
    createZoneOperation operation: CreateZoneOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
  ) {
    serve(completion: completion) { cloud, frame in
      if let error = CloudEngine.refusal(
        zoneID: frame.zoneID,
        asked: operation.zoneID,
        toCreate: true
      ) {
        return .failure(error)
      }
      return cloud.answer(kind: .write, frame: frame) { (engine) throws(LocalCloudStoreError) in
        try engine.createZone()
      }
    }
  }

  /// Lets the device hear of changes that others make in the zone.
  public func handle(
    createSubscriptionOperation operation: CreateSubscriptionOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
  ) {
    serve(completion: completion) { cloud, frame in
      if let error = CloudEngine.refusal(
        zoneID: frame.zoneID,
        asked: operation.zoneID,
        toCreate: false
      ) {
        return .failure(error)
      }
      return cloud.answer(kind: .write, frame: frame) { (engine) throws(LocalCloudStoreError) in
        try engine.createSubscription()
      }
    }
  }

  /// Saves and deletes records.
  public func handle(
    modifyOperation operation: ModifyOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<ModifyOperation.Response, SyncError>) -> Void
  ) {
    let token = context.writeToken
    executor.run {
      guard let frame = self.frame else {
        return completion(.failure(SyncError(.notAuthenticated, "nobody is signed in")))
      }
      if let error = self.cloud.pay(count: operation.itemCount, frame: frame) {
        return completion(.failure(error))
      }
      let kept: KeptAssets
      do throws(SyncError) {
        kept = try self.cloud.keepAssets(of: operation, account: frame.account)
      } catch { return completion(.failure(error)) }
      var framed = frame
      framed.assetErrors = kept.errors
      framed.historyTokens = context.historyTokens
      let answer = self.cloud.answer(kind: .write, frame: framed) {
        (engine) throws(LocalCloudStoreError) in
        let (result, subscribers) = try engine.modify(kept.operation, token)
        if kept.hasFiles, case .success = result { try engine.noteKeptAssets() }
        return result.map { ($0, subscribers) }
      }
      completion(answer.map(\.0))
      if case .success(let (_, subscribers?)) = answer {
        self.cloud.announceChange(frame: frame, to: subscribers)
      }
    }
  }

  /// Fetches one page of changes, or looks up single records.
  public func handle(
    fetchOperation operation: FetchOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<FetchOperation.Response, SyncError>) -> Void
  ) {
    serve(completion: completion) { cloud, frame in
      var frame = frame
      // The token of the feed is looked at anyway.
      frame.historyTokens = context.historyTokens.filter { $0 != operation.changeToken }
      return cloud.answer(kind: .read, frame: frame) { (engine) throws(LocalCloudStoreError) in
        try engine.fetch(operation)
      }
    }
  }

  // MARK: The database

  /// Finds out which zones of the account are new, changed or gone, one page at a time.
  ///
  /// - Parameter token: Where the last page ended; nil to begin at the beginning.
  /// - Returns: The page.
  /// - Throws: `changeTokenExpired`, or what is wrong with the account.
  public func fetchDatabaseChanges(
    since token: ChangeToken?
  ) throws(SyncError) -> DatabaseChanges {
    guard let frame else { throw SyncError(.notAuthenticated, "nobody is signed in") }
    return
      try cloud.answer(kind: .read, frame: frame) { (engine) throws(LocalCloudStoreError) in
        try engine.databaseChanges(since: token)
      }
      .get()
  }

  // MARK: Pushes

  /// Takes the pushes that have come for this device and zone since the last call.
  public func takePushes() -> [LocalCloudPush] {
    guard let account else { return [] }
    return cloud.takePushes(device: device, account: account, zoneID: zoneID)
  }

  /// Calls a function for every push to this device and zone, in place of keeping them.
  ///
  /// It is called outside of all locks, on the thread of the request that made the push, or by
  /// ``LocalCloud/deliverPushes()``. Pass nil to stop.
  public func onPush(_ listener: (@Sendable (LocalCloudPush) -> Void)?) {
    guard let account else { return }
    cloud.listen(device: device, account: account, zoneID: zoneID, listener: listener)
  }
}

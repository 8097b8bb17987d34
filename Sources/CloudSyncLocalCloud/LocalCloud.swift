public import CloudSyncCore

/// CloudKit's semantics on your own machine: many accounts, each with many devices.
///
/// What a private database does, a local cloud does: change tags and conflicts, merges by field,
/// atomic requests, limits, zones, a feed of changes with tokens, references, a schema, quota,
/// account status, throttling, subscriptions. It answers at once and makes no mistakes; faults are
/// the business of whoever stands between it and a session.
///
/// ```swift
/// let cloud = LocalCloud()
/// let phone = cloud.connect(device: "phone", account: alice, zoneID: notes)
/// let session = CloudSyncSession(operationHandler: phone, zoneID: notes)
/// ```
///
/// The same calls at the same times give the same answers, and with the same random numbers the same tags and
/// tokens, whatever the store.
public final class LocalCloud: Sendable {
  /// What changes in the course of a cloud's life, besides what is stored.
  private struct State: Sendable {
    var options: LocalCloudOptions
    /// By device; looked into, never iterated.
    var buckets: [ByteKey: TokenBucket] = [:]
    var pushes: PushQueues
    var onChange: (@Sendable (LocalCloudChange) -> Void)?
  }

  /// Above this number, the buckets of devices that have not sent for a while are forgotten.
  private static let bucketLimit = 4_096

  let store: any LocalCloudStore
  /// Where it keeps the files of assets; nil leaves them where devices have them.
  let assetFolder: String?
  private let now: @Sendable () -> Timestamp
  private let state: Locked<State>
  private let accountNumbers = AccountNumbers()
  private let histories = HistoryBook()
  private let nonce: @Sendable () -> UInt64

  /// Creates a cloud.
  ///
  /// - Parameters:
  ///   - store: What it keeps its records in; clouds of several processes may share a file.
  ///   - options: How it behaves.
  ///   - assetFolder: A folder of its own, into which the files of assets are copied and checked when
  ///     they are saved, so that devices need not keep theirs; without one records say where the
  ///     sender's lie.
  ///   - now: The server's clock.
  ///   - nonce: Gives random numbers, by which a store that was restored from a backup is told from the one that it
  ///     was; nil for the system's, or those of the options' seed where a ``MemoryStore`` is used.
  public init(
    store: any LocalCloudStore = MemoryStore(),
    options: LocalCloudOptions = LocalCloudOptions(),
    assetFolder: String? = nil,
    now: @escaping @Sendable () -> Timestamp = SyncEnvironment.live.now,
    nonce: (@Sendable () -> UInt64)? = nil
  ) {
    self.store = store
    self.assetFolder = assetFolder
    let isPassing = store is MemoryStore
    self.nonce =
      nonce ?? (isPassing ? Self.numbers(of: options.seed) : SyncEnvironment.live.nonce)
    self.now = now
    state = Locked(State(options: options, pushes: PushQueues(seed: options.seed)))
  }

  /// Numbers that look random, and are the same for each cloud of a seed.
  private static func numbers(of seed: UInt64) -> @Sendable () -> UInt64 {
    let generator = Locked(SplitMix64(seed: ~seed))
    return { generator.withLock { $0.next() } }
  }

  /// How the cloud behaves; a change holds from the next request on.
  public var options: LocalCloudOptions {
    get { state.withLock { $0.options } }
    set { state.withLock { $0.options = newValue } }
  }

  /// Connects a device to a zone.
  ///
  /// - Parameters:
  ///   - device: The device's name, unique within the account; two connections of one name are one
  ///     device.
  ///   - account: Who is signed in on the device.
  ///   - zoneID: The zone, which need not exist.
  ///   - executor: Where requests are carried out and answered: by default on the caller's thread
  ///     before the call returns.
  ///   - isAtomic: Whether requests are all or nothing; nil for what the options say.
  /// - Returns: A handler to give to a session.
  public func connect(
    device: String,
    account: AccountIdentity,
    zoneID: ZoneID,
    executor: SyncExecutor = .immediate,
    isAtomic: Bool? = nil
  ) -> LocalCloudConnection {
    LocalCloudConnection(
      cloud: self,
      device: device,
      account: account,
      zoneID: zoneID,
      executor: executor,
      isAtomic: isAtomic
    )
  }

  // MARK: Requests

  func frame(device: String, account: AccountIdentity, zoneID: ZoneID) -> RequestFrame {
    RequestFrame(
      device: device,
      account: account,
      zoneID: zoneID,
      now: now(),
      options: options,
      assetFolder: assetFolder
    )
  }

  /// Runs one request in one transaction; the store's troubles become errors of the request.
  func answer<Value: Sendable>(
    kind: LocalCloudTransactionKind,
    frame: RequestFrame,
    body: (CloudEngine) throws(LocalCloudStoreError) -> Result<Value, SyncError>
  ) -> Result<Value, SyncError> {
    do throws(LocalCloudStoreError) {
      return try transaction(kind, frame: frame, body)
    } catch { return .failure(error.syncError) }
  }

  /// Runs a body of the engine's in one transaction.
  func transaction<Value: Sendable>(
    _ kind: LocalCloudTransactionKind,
    frame: RequestFrame,
    _ body: (CloudEngine) throws(LocalCloudStoreError) -> Value
  ) throws(LocalCloudStoreError) -> Value {
    var last: HistoryPen?
    let numbers = HistoryNumbers(nonce)
    let value = try store.transaction(kind) { (transaction) throws(LocalCloudStoreError) in
      let pen = HistoryPen(book: histories, opening: store.opening, numbers: numbers)
      last = pen
      let engine = CloudEngine(store: transaction, frame: frame, pen: pen)
      if kind == .write { try engine.lockAccount() }
      var isGuessed = false
      var known: Int64?
      try transaction.prefetch {
        isGuessed = true
        known = accountNumbers.number(of: frame.account)
        return frame.likelyKeys(kind: kind, accountNumber: known)
      }
      let value = try body(engine)
      if isGuessed, let number = try engine.account()?.number, number != known {
        accountNumbers.note(number: number, of: frame.account)
      }
      return value
    }
    if let last { histories.note(last) }
    return value
  }

  /// Lets a device pay for the items of a request.
  func pay(count: Int, frame: RequestFrame) -> SyncError? {
    guard let throttle = frame.options.throttle else { return nil }
    let key = "\(frame.account.value.utf8.count)/\(frame.account.value)/\(frame.device)"
    let seed = UTF8Bytes.stableHash(text: key, seed: frame.options.seed)
    return state.withLock { state in
      let known = state.buckets[ByteKey(key)]
      if known == nil, state.buckets.count >= Self.bucketLimit {
        // One that is full again is as good as new; should all be busy, all begin anew.
        state.buckets = state.buckets.filter { !$0.value.isFull(throttle, at: frame.now) }
        if state.buckets.count >= Self.bucketLimit { state.buckets.removeAll() }
      }
      var bucket = known ?? TokenBucket(throttle, seed: seed, now: frame.now)
      defer { state.buckets[ByteKey(key)] = bucket }
      return bucket.pay(count: max(1, count), throttle: throttle, now: frame.now)
    }
  }

  // MARK: Pushes

  /// Calls a function after every change of a zone, in place of the one before.
  ///
  /// It is called outside of all locks, on the thread of the request that made the change: a server
  /// wakes the devices that wait. Changes by other processes are not told.
  public func onChange(_ listener: (@Sendable (LocalCloudChange) -> Void)?) {
    state.withLock { $0.onChange = listener }
  }

  /// Lets others know of a change: the devices that subscribed to the zone, except the one that made it.
  func announceChange(frame: RequestFrame, to subscribers: [String]) {
    let listener = state.withLock { $0.onChange }
    listener?(
      LocalCloudChange(account: frame.account, zoneID: frame.zoneID, device: frame.device)
    )
    if subscribers.isEmpty { return }
    state.withLock { state in
      for device in subscribers where !UTF8Bytes.equal(device, frame.device) {
        let push = LocalCloudPush(device: device, account: frame.account, zoneID: frame.zoneID)
        state.pushes.add(push, rules: frame.options.pushes, now: frame.now)
      }
    }
    deliverPushes()
  }

  /// Calls those who listen for pushes that are due; every request does so for the pushes it makes.
  ///
  /// To be called when time has passed, if pushes come late.
  public func deliverPushes() {
    let time = now()
    while let (push, listener) = state.withLock({ $0.pushes.nextToDeliver(now: time) }) {
      listener(push)
    }
  }

  func takePushes(device: String, account: AccountIdentity, zoneID: ZoneID) -> [LocalCloudPush] {
    let push = LocalCloudPush(device: device, account: account, zoneID: zoneID)
    let time = now()
    return state.withLock { $0.pushes.removeDue(address: push, now: time) }
  }

  func listen(
    device: String,
    account: AccountIdentity,
    zoneID: ZoneID,
    listener: (@Sendable (LocalCloudPush) -> Void)?
  ) {
    let push = LocalCloudPush(device: device, account: account, zoneID: zoneID)
    state.withLock { $0.pushes.listen(address: push, listener: listener) }
    deliverPushes()
  }
}

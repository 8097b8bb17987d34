import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncTestSupport

/// A local cloud with a clock of its own, and devices that wait for their responses.
final class CloudWorld: Sendable {
  static let alice = AccountIdentity("alice")
  static let bob = AccountIdentity("bob")
  static let zoneID = ZoneID(name: "Notes")

  let cloud: LocalCloud
  private let clock: Locked<Timestamp>
  private let tokens = Locked<UInt64>(0)

  convenience init(
    _ kind: StoreKind = .memory,
    _ change: (inout LocalCloudOptions) -> Void = { _ in }
  ) throws {
    self.init(store: try kind.makeStore(), change)
  }

  /// A cloud over a file.
  convenience init(
    at path: String,
    _ change: (inout LocalCloudOptions) -> Void = { _ in }
  ) throws {
    // Long, because the machine may have so much else to do that a writer waits for its turn.
    let store = try SQLiteStore(path: path, busyMilliseconds: 600_000, onStep: nil)
    self.init(store: store, change)
  }

  /// A cloud over any store, with random numbers of its own.
  init(
    store: any LocalCloudStore,
    _ change: (inout LocalCloudOptions) -> Void = { _ in },
    nonce: (@Sendable () -> UInt64)? = nil
  ) {
    let numbers = Locked(SplitMix64(seed: 3))
    let seeded = { @Sendable () -> UInt64 in numbers.withLock { $0.next() } }
    var options = LocalCloudOptions()
    change(&options)
    let clock = Locked(Timestamp(nanoseconds: 1_700_000_000_000_000_000))
    self.clock = clock
    cloud = LocalCloud(
      store: store,
      options: options,
      now: { clock.withLock { $0 } },
      nonce: nonce ?? seeded
    )
  }

  var now: Timestamp { clock.withLock { $0 } }

  func advance(by duration: Duration) { clock.withLock { $0 = $0.adding(duration) } }

  func change(_ body: (inout LocalCloudOptions) -> Void) {
    var options = cloud.options
    body(&options)
    cloud.options = options
  }

  /// A device without a zone.
  func connect(
    _ device: String = "phone",
    _ account: AccountIdentity = alice,
    _ zoneID: ZoneID = zoneID
  ) -> Device {
    Device(
      connection: cloud.connect(device: device, account: account, zoneID: zoneID),
      world: self
    )
  }

  /// A device whose zone exists.
  func device(
    _ name: String = "phone",
    _ account: AccountIdentity = alice,
    _ zoneID: ZoneID = zoneID
  ) throws -> Device {
    let device = connect(name, account, zoneID)
    _ = try device.createZone().get()
    return device
  }

  /// What the zone holds, by name.
  func names(_ account: AccountIdentity = alice, _ zoneID: ZoneID = zoneID) throws -> [String] {
    try cloud.records(account: account, zone: zoneID).map(\.recordID.name)
  }

  func record(_ name: String) throws -> Record? {
    try cloud.records(account: Self.alice, zone: Self.zoneID).first { $0.recordID.name == name }
  }

  func nextToken() -> UInt64 {
    tokens.withLock { number in
      number += 1
      return number
    }
  }
}

/// A connection whose answers are waited for: they come at once.
struct Device: Sendable {
  let connection: LocalCloudConnection
  let world: CloudWorld

  private func context(_ token: UInt64?) -> RequestContext {
    let number = token ?? world.nextToken()
    return RequestContext(
      attempt: Attempt(epoch: 1, number: number),
      writeToken: WriteToken(nonce: 7, number: number),
      deadline: .distantFuture
    )
  }

  private func wait<Value: Sendable>(
    _ body: (@escaping @Sendable (Result<Value, SyncError>) -> Void) -> Void
  ) -> Result<Value, SyncError> {
    let answers = Locked<[Result<Value, SyncError>]>([])
    body { answer in answers.withLock { $0.append(answer) } }
    let all = answers.withLock { $0 }
    return all.count == 1
      ? all[0] : .failure(SyncError(.invalidResponse, "there were \(all.count) answers"))
  }

  func createZone(_ zoneID: ZoneID? = nil) -> Result<Bool, SyncError> {
    let operation = CreateZoneOperation(zoneID: zoneID ?? connection.zoneID)
    return wait {
      connection.handle(createZoneOperation: operation, context: context(nil), completion: $0)
    }
  }

  func subscribe() -> Result<Bool, SyncError> {
    let operation = CreateSubscriptionOperation(zoneID: connection.zoneID)
    return wait {
      connection.handle(
        createSubscriptionOperation: operation,
        context: context(nil),
        completion: $0
      )
    }
  }

  func modify(
    _ records: [Record] = [],
    delete names: [String] = [],
    token: UInt64? = nil
  ) -> Result<ModifyOperation.Response, SyncError> {
    let operation = ModifyOperation(records: records, recordIDsToDelete: names.map(id))
    return modify(operation, token: token)
  }

  func modify(
    _ operation: ModifyOperation,
    token: UInt64? = nil
  ) -> Result<ModifyOperation.Response, SyncError> {
    wait {
      connection.handle(modifyOperation: operation, context: context(token), completion: $0)
    }
  }

  /// Saves records, whatever their names, and returns them with their tags.
  @discardableResult
  func save(_ records: Record...) throws -> [Record] {
    try modify(records).get().savedRecords
  }

  func fetch(_ token: ChangeToken? = nil) -> Result<FetchOperation.Response, SyncError> {
    fetch(FetchOperation(changeToken: token))
  }

  func fetch(_ operation: FetchOperation) -> Result<FetchOperation.Response, SyncError> {
    wait { connection.handle(fetchOperation: operation, context: context(nil), completion: $0) }
  }

  /// All pages from a token to the end.
  func pages(after token: ChangeToken? = nil) throws -> [FetchOperation.Response] {
    var pages: [FetchOperation.Response] = []
    var token = token
    repeat {
      pages.append(try fetch(token).get())
      token = pages[pages.count - 1].changeToken
    } while pages[pages.count - 1].hasMore
    return pages
  }

  func id(_ name: String) -> RecordID { RecordID(name: name, zoneID: connection.zoneID) }

  func note(_ name: String, _ fields: [String: FieldValue] = ["x": 1], tag: String? = nil) -> Record
  {
    Record(recordType: "Note", recordID: id(name), fields: fields, changeTag: tag)
  }

  /// A record that refers to another one.
  func link(_ name: String, to target: String, _ action: Reference.Action = .none) -> Record {
    note(name, ["to": .reference(Reference(recordID: id(target), action: action))])
  }
}

extension Result where Failure == SyncError {
  /// The error, if there is one.
  var error: SyncError? { if case .failure(let error) = self { error } else { nil } }
}

extension Result where Success == ModifyOperation.Response, Failure == SyncError {
  /// The codes of the items that failed, by name, wherever they are told.
  var itemCodes: [String: SyncError.Code] {
    let failures =
      switch self {
      case .success(let response): response.failures
      case .failure(let error): error.itemErrors
      }
    var codes: [String: SyncError.Code] = [:]
    for failure in failures { codes[failure.recordID.name] = failure.error.code }
    return codes
  }
}

@_spi(Stub) public import CloudKit
public import CloudSyncLocalCloud
public import CloudSyncSession
import Foundation

/// One device's CloudKit, over a local cloud.
///
/// Keep it for as long as its container is used.
/// Which rules are documented, and which are guesses that ``StubWays`` switches, is in the facts about CloudKit. It is
/// `@unchecked Sendable` because what changes is under the lock.
public final class StubCloud: @unchecked Sendable {
  private let lock = NSLock()
  private var state = State()

  struct State {
    var ways = StubWays()
    var requests: [StubRequest] = []
    var fault: (@Sendable (StubRequest) -> StubFault?)?
    var held: [@Sendable () -> Void] = []
    var status = CKAccountStatus.available
    var user: AccountIdentity?
    /// Whose private zones the user takes part in, by the name of their owner.
    var shared: [String: AccountIdentity] = [:]
    /// Records that a page cannot bring.
    var unreadable: Set<String> = []
    var salt = 0
  }

  let cloud: LocalCloud
  let account: AccountIdentity
  let device: String
  let executor: SyncExecutor
  private let staging: String
  /// The identifier of the container.
  public let identifier: String

  /// Connects a device.
  ///
  /// - Parameters:
  ///   - cloud: The server.
  ///   - account: Whose device it is.
  ///   - device: The device's name.
  ///   - staging: A folder for the files of fetched assets.
  ///   - ways: How the framework behaves.
  ///   - executor: Where operations run and call their blocks.
  public init(
    cloud: LocalCloud,
    account: AccountIdentity,
    device: String,
    staging: String,
    ways: StubWays = StubWays(),
    executor: SyncExecutor = .immediate
  ) {
    self.cloud = cloud
    self.account = account
    self.device = device
    self.staging = staging
    self.executor = executor
    identifier = "iCloud.stub.\(StubNames.name())"
    state.ways = ways
    state.user = account
    CloudStub.install(StubBackend(self), for: identifier)
  }

  deinit { CloudStub.remove(identifier) }

  /// The container.
  public var container: CKContainer { CKContainer(identifier: identifier) }

  // MARK: What a test sets and looks at

  func with<Value>(_ body: (inout State) -> Value) -> Value { lock.withLock { body(&state) } }

  /// How the framework behaves.
  public var ways: StubWays {
    get { with(\.ways) }
    set { with { $0.ways = newValue } }
  }
  /// Every operation that was added, in order.
  public var requests: [StubRequest] { with(\.requests) }
  /// Forgets the requests.
  public func forgetRequests() { with { $0.requests = [] } }
  /// Says what goes wrong with a request; nil for nothing.
  public func setFault(_ fault: (@Sendable (StubRequest) -> StubFault?)?) {
    with { $0.fault = fault }
  }
  /// Signs somebody in, or out with nil.
  public func signIn(_ user: AccountIdentity?, status: CKAccountStatus = .available) {
    with { state in
      state.user = user
      state.status = user == nil && status == .available ? .noAccount : status
    }
  }
  /// Has the user take part in the zones of another account.
  public func share(owner: String, account: AccountIdentity) { with { $0.shared[owner] = account } }
  /// Has pages bring an error for records of these names.
  public func setUnreadable(_ names: Set<String>) { with { $0.unreadable = names } }
  /// Carries out what was held back.
  public func release() {
    let held = with { state in
      defer { state.held = [] }
      return state.held
    }
    for body in held { body() }
  }

  // MARK: The backend

  func accountStatus(_ completion: @escaping (CKAccountStatus, (any Error)?) -> Void) {
    let status = with(\.status)
    completion(status, nil)
  }

  func userRecordID(_ completion: @escaping (CKRecord.ID?, (any Error)?) -> Void) {
    guard let user = with(\.user) else { return completion(nil, StubErrors.error(9)) }
    let zoneID = CKRecordZone.ID(zoneName: "_defaultZone")
    completion(CKRecord.ID(recordName: user.value, zoneID: zoneID), nil)
  }

  func run(_ operation: CKDatabaseOperation, in scope: CKDatabase.Scope) {
    let request = StubRequest(operation)
    let fault = with { state in
      state.requests.append(request)
      return state.fault
    }?(request)
    let added = AddedOperation(operation: operation)
    if case .hold? = fault {
      let end: @Sendable () -> Void = {
        self.executor.run { self.carryOut(added.operation, scope: scope, fault: nil) }
      }
      with { $0.held.append(end) }
      return operation._whenCancelled(end)
    }
    executor.run { self.carryOut(added.operation, scope: scope, fault: fault) }
  }

  private func carryOut(
    _ operation: CKDatabaseOperation,
    scope: CKDatabase.Scope,
    fault: StubFault?
  ) {
    if operation._isCancelled {
      return operation.end(.failure(StubErrors.error(20, "the operation was cancelled")))
    }
    if case .fail(let error)? = fault { return operation.end(.failure(error)) }
    let call = StubCall(stub: self, scope: scope, ways: ways, fault: fault)
    switch operation {
    case let operation as CKModifyRecordZonesOperation: call.createZones(operation)
    case let operation as CKFetchRecordZonesOperation: call.fetchZones(operation)
    case let operation as CKModifySubscriptionsOperation: call.subscribe(operation)
    case let operation as CKModifyRecordsOperation: call.modify(operation)
    case let operation as CKFetchRecordsOperation: call.lookUp(operation)
    case let operation as CKFetchRecordZoneChangesOperation: call.fetchChanges(operation)
    default: preconditionFailure("The stub does not know \(type(of: operation)).")
    }
  }

  // MARK: The server

  /// The way to a zone; nil if the user has no part in it.
  func connection(
    _ zoneID: CKRecordZone.ID,
    scope: CKDatabase.Scope,
    isAtomic: Bool
  ) -> LocalCloudConnection? {
    let owner =
      scope == .shared
      ? with { $0.shared[zoneID.ownerName] } : with { $0.user ?? AccountIdentity("nobody") }
    return owner.map {
      cloud.connect(
        device: device,
        account: $0,
        zoneID: ZoneID(name: zoneID.zoneName),
        isAtomic: isAtomic
      )
    }
  }

  /// A number for the archives of a record: always the same, or always another.
  func salt() -> Int {
    with { state in
      guard state.ways.variesSystemFields else { return 0 }
      state.salt += 1
      return state.salt
    }
  }

  /// The translation of values for a zone, in which it has the name that the framework writes.
  func values(
    _ zoneID: CKRecordZone.ID,
    scope: CKDatabase.Scope,
    account: AccountIdentity
  ) -> StubValues {
    let hasRealOwners = ways.hasRealOwners
    let owner = zoneID.ownerName
    let user = account.value
    let cloud = cloud
    return StubValues(
      zoneID: { zone in
        CKRecordZone.ID(
          zoneName: zone.name,
          ownerName: scope == .shared
            ? owner : hasRealOwners ? "_\(user)" : CKCurrentUserDefaultName
        )
      },
      upload: { data in
        do throws(SyncError) {
          return try cloud.keepAsset(bytes: [UInt8](data), account: account)
        } catch { throw StubErrors.error(error, server: nil, client: nil) }
      },
      staging: staging
    )
  }
}

/// What the container of a device hands everything to.
private final class StubBackend: CloudStubBackend {
  private struct Weak: Sendable {
    weak var stub: StubCloud?
  }

  private let device: Weak

  init(_ stub: StubCloud) { device = Weak(stub: stub) }

  private var stub: StubCloud {
    guard let stub = device.stub else {
      preconditionFailure("Keep a StubCloud for as long as its container is used.")
    }
    return stub
  }

  func run(_ operation: CKDatabaseOperation, in scope: CKDatabase.Scope) {
    stub.run(operation, in: scope)
  }

  func accountStatus(_ completion: @escaping (CKAccountStatus, (any Error)?) -> Void) {
    stub.accountStatus(completion)
  }

  func userRecordID(_ completion: @escaping (CKRecord.ID?, (any Error)?) -> Void) {
    stub.userRecordID(completion)
  }
}

/// It is `@unchecked Sendable` because an operation is the framework's alone once it was added.
private struct AddedOperation: @unchecked Sendable {
  let operation: CKDatabaseOperation
}

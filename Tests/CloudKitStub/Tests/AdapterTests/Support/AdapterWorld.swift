import CloudKit
import CloudSyncCloudKit
import CloudSyncLocalCloud
import CloudSyncSession
import CloudSyncSimulator
import Foundation
import StubCloud

/// A world in virtual time, whose devices have sessions over the adapter.
final class AdapterWorld {
  let world = SimulatedEnvironment()
  let stubs: StubWorld
  let zoneID = StubWorld.zoneID
  private var kept: [StubCloud] = []

  init(_ change: (inout LocalCloudOptions) -> Void = { _ in }) {
    let world = world
    stubs = StubWorld(now: { world.now }, options: change)
  }

  /// A device without a session.
  func stub(
    _ name: String = "phone",
    account: AccountIdentity = StubWorld.alice,
    ways: StubWays = StubWays()
  ) -> StubCloud {
    let stub = stubs.stub(name, account: account, ways: ways)
    kept.append(stub)
    return stub
  }

  /// A handler for a device's private zone.
  func handler(
    _ stub: StubCloud,
    systemFields: any SystemFieldsStore = SystemFieldsMemory(),
    _ change: (inout CloudKitOptions) -> Void = { _ in }
  ) -> CloudKitOperationHandler {
    var options = CloudKitOptions()
    let world = world
    options.now = { world.now }
    change(&options)
    return CloudKitOperationHandler(
      database: stub.container.privateCloudDatabase,
      zoneID: CKRecordZone.ID(zoneName: StubWorld.zoneName),
      systemFields: systemFields,
      assets: AssetCache(folder: "\(stubs.folder)/cache-\(stub.identifier)"),
      options: options
    )
  }

  /// A session over a handler; not started.
  func session(
    _ handler: CloudKitOperationHandler,
    resolver: ConflictResolver = .fieldwise(default: .client),
    _ change: (inout SyncConfiguration) -> Void = { _ in }
  ) -> CloudSyncSession {
    var configuration = SyncConfiguration()
    change(&configuration)
    return CloudSyncSession(
      operationHandler: handler,
      zoneID: handler.zoneID,
      configuration: configuration,
      resolver: resolver,
      environment: world.environment
    )
  }

  /// A device whose session is running and has its zone.
  func device(
    _ name: String = "phone",
    ways: StubWays = StubWays(),
    systemFields: any SystemFieldsStore = SystemFieldsMemory(),
    _ change: (inout CloudKitOptions) -> Void = { _ in }
  ) -> AdapterDevice {
    let stub = stub(name, ways: ways)
    let handler = handler(stub, systemFields: systemFields, change)
    let device = AdapterDevice(
      world: world,
      stub: stub,
      handler: handler,
      session: session(handler)
    )
    device.session.start()
    world.runToEnd(limit: .seconds(5))
    stub.forgetRequests()
    return device
  }

  func id(_ name: String) -> RecordID { RecordID(name: name, zoneID: zoneID) }

  func note(_ name: String, _ fields: [String: FieldValue] = ["x": 1], tag: String? = nil) -> Record
  {
    Record(recordType: "Note", recordID: id(name), fields: fields, changeTag: tag)
  }
}

/// A device, and what its session announced.
final class AdapterDevice {
  let world: SimulatedEnvironment
  let stub: StubCloud
  let handler: CloudKitOperationHandler
  let session: CloudSyncSession
  private let box = Shared(Announcements())

  struct Announcements: Sendable {
    var completions: [ModifyOperation.Response] = []
    var pages: [FetchOperation.Response] = []
    var failures: [SyncError] = []
  }

  init(
    world: SimulatedEnvironment,
    stub: StubCloud,
    handler: CloudKitOperationHandler,
    session: CloudSyncSession
  ) {
    (self.world, self.stub, self.handler, self.session) = (world, stub, handler, session)
    let box = box
    session.modifyWorkCompletedSubject.sink { _, response in
      box.with { $0.completions.append(response) }
    }
    session.fetchWorkCompletedSubject.sink { _, page in box.with { $0.pages.append(page) } }
    session.workFailedSubject.sink { _, error in box.with { $0.failures.append(error) } }
  }

  var announced: Announcements { box.with { $0 } }
  var state: SyncState { session.state }

  /// Submits edits, and lets the world go on.
  func save(_ records: [Record], delete: [RecordID] = [], for limit: Duration = .seconds(5)) throws
  {
    try session.modify(ModifyOperation(records: records, recordIDsToDelete: delete))
    world.runToEnd(limit: limit)
  }

  /// Fetches, and lets the world go on.
  func fetch(for limit: Duration = .seconds(5)) {
    session.fetch(FetchOperation())
    world.runToEnd(limit: limit)
  }
}

/// A value behind a lock.
///
/// `@unchecked Sendable` because every access is under the lock.
final class Shared<Value>: @unchecked Sendable {
  private let lock = NSLock()
  private var value: Value

  init(_ value: Value) { self.value = value }

  func with<Result>(_ body: (inout Value) -> Result) -> Result { lock.withLock { body(&value) } }
}

/// A handler whose calls are made one by one, for what it answers; the cloud answers before a call returns.
struct HandlerCalls {
  let handler: any OperationHandler
  private let count = Shared<UInt64>(0)

  init(_ handler: any OperationHandler) { self.handler = handler }

  func context(deadline: Timestamp = .distantFuture) -> RequestContext {
    let number = count.with { count in
      count += 1
      return count
    }
    return RequestContext(
      attempt: Attempt(epoch: 1, number: number),
      writeToken: WriteToken(nonce: 7, number: number),
      deadline: deadline
    )
  }

  private func answer<Value: Sendable>(
    _ call: (@escaping @Sendable (Result<Value, SyncError>) -> Void) -> Void
  ) -> Result<Value, SyncError>? {
    let box = Shared<[Result<Value, SyncError>]>([])
    call { result in box.with { $0.append(result) } }
    return box.with { $0.count == 1 ? $0[0] : nil }
  }

  func createZone() -> Result<Bool, SyncError>? {
    answer {
      handler.handle(
        createZoneOperation: CreateZoneOperation(zoneID: StubWorld.zoneID),
        context: context(),
        completion: $0
      )
    }
  }

  func createSubscription() -> Result<Bool, SyncError>? {
    answer {
      handler.handle(
        createSubscriptionOperation: CreateSubscriptionOperation(zoneID: StubWorld.zoneID),
        context: context(),
        completion: $0
      )
    }
  }

  func modify(
    _ records: [Record],
    delete: [RecordID] = [],
    deadline: Timestamp = .distantFuture,
    context given: RequestContext? = nil
  ) -> Result<ModifyOperation.Response, SyncError>? {
    answer {
      handler.handle(
        modifyOperation: ModifyOperation(records: records, recordIDsToDelete: delete),
        context: given ?? context(deadline: deadline),
        completion: $0
      )
    }
  }

  func fetch(_ token: ChangeToken? = nil) -> Result<FetchOperation.Response, SyncError>? {
    answer {
      handler.handle(
        fetchOperation: FetchOperation(changeToken: token),
        context: context(),
        completion: $0
      )
    }
  }

  func lookUp(_ recordIDs: [RecordID]) -> Result<FetchOperation.Response, SyncError>? {
    answer {
      handler.handle(
        fetchOperation: FetchOperation(lookingUp: recordIDs),
        context: context(),
        completion: $0
      )
    }
  }
}

extension Result where Success == ModifyOperation.Response, Failure == SyncError {
  /// The items that failed, whether or not others were done.
  var failures: [ItemFailure] {
    switch self {
    case .success(let response): response.failures
    case .failure(let error): error.itemErrors
    }
  }
  /// The codes of the items that failed.
  var codes: [Int] { failures.map(\.error.code.rawValue) }
  var saved: [String] { (try? get())?.savedRecords.map(\.recordID.name) ?? [] }
}

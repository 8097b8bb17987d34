import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncService
import CloudSyncWebServices

/// A cloud, the service over it, and clients whose transport is a call.
final class ServiceWorld: Sendable {
  static let zoneID = ZoneID(name: "Notes")
  static let alice = AccountIdentity("alice")
  static let bob = AccountIdentity("bob")

  let cloud: LocalCloud
  let tokens = MemoryTokens()
  let service: CloudService
  let transport: InProcessTransport
  private let clock: Locked<Timestamp>

  init(
    store: any LocalCloudStore = MemoryStore(),
    limits: ServiceLimits = ServiceLimits(),
    assetFolder: String? = nil,
    _ change: (inout LocalCloudOptions) -> Void = { _ in }
  ) {
    var options = LocalCloudOptions()
    change(&options)
    let clock = Locked(Timestamp(nanoseconds: 1_700_000_000_000_000_000))
    self.clock = clock
    cloud = LocalCloud(store: store, options: options, assetFolder: assetFolder) {
      clock.withLock { $0 }
    }
    let numbers = Locked<UInt64>(1_000_000)
    service = CloudService(
      cloud: cloud,
      tokens: tokens,
      limits: limits,
      secret: [1, 2, 3],
      now: { clock.withLock { $0 } },
      nonce: {
        numbers.withLock { number in
          number += 1
          return number
        }
      }
    )
    transport = InProcessTransport { [service] request, _ in await service.respond(to: request) }
  }

  var now: Timestamp { clock.withLock { $0 } }

  static func token(_ device: String, _ account: AccountIdentity = alice) -> String {
    "secret-of-\(account.value)-\(device)"
  }

  func advance(by duration: Duration) { clock.withLock { $0 = $0.adding(duration) } }

  /// The client of a device, which is let in.
  func client(_ device: String, _ account: AccountIdentity = alice) throws -> WebServicesClient {
    let token = Self.token(device, account)
    tokens.add(token: token, access: ServiceAccess(account: account, device: device))
    return WebServicesClient(
      address: try WebServicesAddress("https://sync.example.org"),
      authorization: .bearer(Secret(token)),
      transport: transport,
      now: { self.now }
    )
  }

  func handler(
    _ device: String,
    _ account: AccountIdentity = alice,
    zoneID: ZoneID = zoneID,
    assets: AssetCache? = nil,
    assetLimits: AssetCacheLimits = AssetCacheLimits()
  ) throws -> WebServicesOperationHandler {
    WebServicesOperationHandler(
      client: try client(device, account),
      zoneID: zoneID,
      assets: assets,
      assetLimits: assetLimits
    )
  }

  /// A device's call to the service, body as text.
  func post(
    _ operation: String,
    _ body: String,
    as device: String = "phone",
    _ account: AccountIdentity = alice,
    headers: HTTPHeaders = [:]
  ) async -> HTTPResponse {
    var headers = headers
    headers["Authorization"] = "Bearer \(Self.token(device, account))"
    let request = HTTPRequest(
      method: body.isEmpty ? "GET" : "POST",
      target: "/database/1/cloudsync/production/private/\(operation)",
      headers: headers,
      body: Array(body.utf8)
    )
    return await service.respond(to: request)
  }
}

/// Carries requests to a service by calling it, and lets a test come between.
final class InProcessTransport: HTTPTransport {
  /// What answers a request to an origin.
  typealias Service =
    @Sendable (_ request: HTTPRequest, _ origin: String) async -> HTTPResponse

  /// What a test does with one exchange: nil lets it pass.
  typealias Script =
    @Sendable (_ request: HTTPRequest, _ number: Int) throws(HTTPTransportError) -> Change?

  /// What becomes of one exchange.
  enum Change: Sendable {
    /// The service is not asked.
    case answer(HTTPResponse)
    /// The service is asked, and its response changed, or lost.
    case alter(@Sendable (HTTPResponse) throws(HTTPTransportError) -> HTTPResponse)
  }

  private let service: Service
  /// Holds the script: a closure that lies bare in a generic type is wrapped once more by each access, until calling
  /// it overflows the stack.
  private struct Scripted { var script: Script? }

  private let scripted = Locked(Scripted())
  private let sent = Locked<[(request: HTTPRequest, origin: String)]>([])

  init(_ service: @escaping Service) { self.service = service }

  /// The requests so far.
  var requests: [HTTPRequest] { sent.withLock { $0.map(\.request) } }
  /// Where they went.
  var origins: Set<String> { sent.withLock { Set($0.map(\.origin)) } }

  /// The ends of their paths.
  var operations: [String] {
    requests.map { $0.path.split(separator: "/").suffix(2).joined(separator: "/") }
  }

  func onRequest(_ script: @escaping Script) { scripted.withLock { $0.script = script } }

  func send(
    _ request: HTTPRequest,
    to origin: String,
    deadline: Timestamp
  ) async throws(HTTPTransportError) -> HTTPResponse {
    let number = sent.withLock { sent in
      sent.append((request, origin))
      return sent.count - 1
    }
    let change = try scripted.withLock({ $0.script })?(request, number)
    switch change {
    case .answer(let response): return response
    case .alter(let alter): return try alter(await service(request, origin))
    case nil: return await service(request, origin)
    }
  }
}

extension HTTPResponse {
  /// The body as text.
  var text: String { String(decoding: body, as: UTF8.self) }

  init(status: Int, _ text: String) { self.init(status: status, body: Array(text.utf8)) }
}

extension OperationHandler {
  private func context(_ number: UInt64) -> RequestContext {
    RequestContext(
      attempt: Attempt(epoch: 1, number: number),
      writeToken: WriteToken(nonce: 7, number: number),
      deadline: .distantFuture
    )
  }

  func createZone(_ zoneID: ZoneID = ServiceWorld.zoneID) async -> Result<Bool, SyncError> {
    await withCheckedContinuation { continuation in
      handle(
        createZoneOperation: CreateZoneOperation(zoneID: zoneID),
        context: context(1)
      ) { continuation.resume(returning: $0) }
    }
  }

  func modify(
    _ records: [Record],
    delete recordIDs: [RecordID] = [],
    token: UInt64
  ) async -> Result<ModifyOperation.Response, SyncError> {
    await withCheckedContinuation { continuation in
      handle(
        modifyOperation: ModifyOperation(records: records, recordIDsToDelete: recordIDs),
        context: context(token)
      ) { continuation.resume(returning: $0) }
    }
  }

  func fetch(
    _ operation: FetchOperation = FetchOperation()
  ) async -> Result<FetchOperation.Response, SyncError> {
    await withCheckedContinuation { continuation in
      handle(fetchOperation: operation, context: context(2)) { continuation.resume(returning: $0) }
    }
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

func note(
  _ name: String,
  _ fields: [String: FieldValue] = ["x": 1],
  tag: String? = nil
) -> Record {
  Record(
    recordType: "Note",
    recordID: RecordID(name: name, zoneID: ServiceWorld.zoneID),
    fields: fields,
    changeTag: tag
  )
}

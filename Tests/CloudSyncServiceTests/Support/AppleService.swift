import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncService
import CloudSyncWebServices
import Foundation

/// Apple's service as far as its documents tell, over a `CloudService`: web tokens that are good for one request, hosts
/// of its own for files, receipts, and none of what only the project's own server says.
final class AppleService: Sendable {
  static let origin = "https://api.apple-cloudkit.com"
  static let files = "https://cvws.icloud-content.com"
  static let apiToken = "api+/=token"
  static let signInAddress = "https://idmsa.apple.com/signin?a=b&c=d"
  static let path = "/database/1/iCloud.org.example/development"

  private struct State {
    /// The device of each web token that is good for one request more.
    var tokens: [String: String] = [:]
    var tokenCount = 0
    var inFlight = 0
    var mostInFlight = 0
    /// What a client sent that Apple's service does not know.
    var violations: [String] = []
    /// Files that were uploaded, by their receipts, and where files lie, by the last part of their addresses.
    var receipts: [String: (asset: Asset, place: String)] = [:]
    var bytes: [String: [UInt8]] = [:]
    var uploads: [String: String] = [:]
  }

  let world: ServiceWorld
  private let state = Locked(State())
  /// How a token that is spent is refused.
  let refusal = Locked((status: 401, code: "AUTHENTICATION_FAILED"))
  /// Whether fields in responses say that they are encrypted.
  let echoesEncryption = Locked(true)
  /// Keeps the next response back until a test lets it go.
  let latch = Locked<Latch?>(nil)

  init(_ world: ServiceWorld) { self.world = world }

  var violations: [String] { state.withLock { $0.violations } }
  var mostInFlight: Int { state.withLock { $0.mostInFlight } }

  /// A transport to the service.
  var transport: InProcessTransport {
    InProcessTransport { [self] request, origin in await respond(to: request, at: origin) }
  }

  /// Signs a device in: a token that is good for one request.
  func signIn(_ device: String, _ account: AccountIdentity = ServiceWorld.alice) -> Secret {
    world.tokens.add(
      token: ServiceWorld.token(device, account),
      access: ServiceAccess(account: account, device: device)
    )
    return Secret(nextToken(of: ServiceWorld.token(device, account)))
  }

  /// The address of the private database.
  static func address() throws -> WebServicesAddress {
    try WebServicesAddress("\(origin)\(path)/private")
  }

  private func nextToken(of device: String) -> String {
    state.withLock { state in
      state.tokenCount += 1
      let token = "w\(state.tokenCount)+/=%&?#;"
      state.tokens[token] = device
      return token
    }
  }

  private func violate(_ what: String) { state.withLock { $0.violations.append(what) } }

  // MARK: Requests

  private func respond(to request: HTTPRequest, at origin: String) async -> HTTPResponse {
    if request.headers["Authorization"] != nil { violate("an Authorization header") }
    if origin == Self.files { return file(request) }
    guard origin == Self.origin else {
      violate("a request to \(origin)")
      return HTTPResponse(status: 404)
    }
    state.withLock {
      $0.inFlight += 1
      $0.mostInFlight = max($0.mostInFlight, $0.inFlight)
    }
    defer { state.withLock { $0.inFlight -= 1 } }
    // Others have their turn meanwhile, if the client lets them.
    for _ in 0..<4 { await Task.yield() }
    let response = await api(request)
    let latch = latch.withLock { latch in
      defer { latch = nil }
      return latch
    }
    await latch?.arrive()
    return response
  }

  private func api(_ request: HTTPRequest) async -> HTTPResponse {
    let query = Self.query(of: request.target)
    guard query["ckAPIToken"] == Self.apiToken else {
      return Self.failure(401, "AUTHENTICATION_FAILED")
    }
    guard let token = query["ckWebAuthToken"] else {
      return Self.failure(421, "AUTHENTICATION_REQUIRED", redirect: Self.signInAddress)
    }
    guard let device = state.withLock({ $0.tokens.removeValue(forKey: token) }) else {
      let (status, code) = refusal.withLock { $0 }
      return Self.failure(status, code)
    }
    var response = await serve(request, device: device)
    response.headers["X-Apple-CloudKit-Web-Auth-Token"] = nextToken(of: device)
    return response
  }

  /// Lets the project's own service answer, in Apple's words.
  private func serve(_ request: HTTPRequest, device: String) async -> HTTPResponse {
    if request.headers["X-CloudSync-Write-Token"] != nil { violate("a write token") }
    if request.path.hasSuffix("/assets/upload") { return uploadAddresses(request, device: device) }
    var forwarded = request
    forwarded.target = String(request.path)
      .replacing(Self.path, with: "/database/1/cloudsync/production")
    forwarded.headers["Authorization"] = "Bearer \(device)"
    if let body = JSONTree(request.body) {
      forwarded.body = body.mapped(own).bytes
    }
    var response = await world.service.respond(to: forwarded)
    if let body = JSONTree(response.body) { response.body = body.mapped(apple).bytes }
    return response
  }

  private static func failure(
    _ status: Int,
    _ code: String,
    redirect: String? = nil
  ) -> HTTPResponse {
    let more = redirect.map { #","redirectURL":"\#($0)""# } ?? ""
    return HTTPResponse(
      status: status,
      #"{"uuid":"u","serverErrorCode":"\#(code)","reason":"why"\#(more)}"#
    )
  }

  /// A query as a server reads it: a plus is a space.
  private static func query(of target: String) -> [String: String] {
    var values: [String: String] = [:]
    guard let query = target.split(separator: "?", maxSplits: 1).dropFirst().first else {
      return values
    }
    for part in query.split(separator: "&") {
      let words = part.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
      guard words.count == 2 else { continue }
      values[words[0]] = words[1].replacing("+", with: " ").removingPercentEncoding
    }
    return values
  }

  // MARK: Words

  /// What a client of Apple's sends, in the words of the project's own server.
  private func own(_ object: [String: Any]) -> [String: Any] {
    var object = object
    for name in ["sha256", "created", "modified"] where object[name] != nil { violate(name) }
    guard let type = object["type"] as? String, type.hasPrefix("ASSETID") else { return object }
    func value(_ value: Any) -> Any {
      guard let receipt = (value as? [String: Any])?["receipt"] as? String,
        let asset = state.withLock({ $0.receipts[receipt]?.asset })
      else { return ["sha256": Data(count: 32).base64EncodedString(), "size": 0] }
      return ["sha256": asset.sha256.base64EncodedString(), "size": asset.byteCount]
    }
    object["value"] =
      (object["value"] as? [Any]).map { $0.map(value) } ?? object["value"].map(value)
    return object
  }

  /// What the project's own server says, in Apple's words.
  private func apple(_ object: [String: Any]) -> [String: Any] {
    var object = object
    for name in ["cloudErrorCode", "serverRecord", "reset", "startedOver"] { object[name] = nil }
    if !echoesEncryption.withLock({ $0 }) { object["isEncrypted"] = nil }
    if object["moreComing"] as? Bool == false { object["moreComing"] = NSNull() }
    if object["deleted"] as? Bool == true { object["recordType"] = NSNull() }
    if object["recordChangeTag"] != nil { object["pluginFields"] = ["a": [1, NSNull()]] }
    guard let digest = (object["sha256"] as? String).flatMap({ Data(base64Encoded: $0) }) else {
      return object
    }
    let name = digest.map { String($0 >> 4, radix: 16) }.joined()
    object["sha256"] = nil
    object["fileChecksum"] = "checksum of \(name)"
    object["downloadURL"] = "\(Self.files)/B/\(name)/${f}?k=1"
    return object
  }

  // MARK: Files

  private func uploadAddresses(_ request: HTTPRequest, device: String) -> HTTPResponse {
    guard let body = JSONTree(request.body)?.root as? [String: Any],
      let tokens = body["tokens"] as? [[String: Any]]
    else { return Self.failure(400, "BAD_REQUEST") }
    let answers = tokens.map { token -> [String: Any] in
      let number = state.withLock { state in
        state.uploads["\(state.uploads.count)"] =
          "\(token["recordName"] ?? "")/\(token["fieldName"] ?? "")"
        return state.uploads.count - 1
      }
      return [
        "recordName": token["recordName"] ?? "", "fieldName": token["fieldName"] ?? "",
        "url": "\(Self.files)/U/\(number)",
      ]
    }
    return HTTPResponse(status: 200, body: JSONTree(root: ["tokens": answers]).bytes)
  }

  private func file(_ request: HTTPRequest) -> HTTPResponse {
    if request.target.contains("ckWebAuthToken") { violate("a token at the host for files") }
    let parts = request.path.split(separator: "/").map(String.init)
    guard parts.count >= 2 else { return HTTPResponse(status: 404) }
    if request.method == "GET" {
      guard let bytes = state.withLock({ $0.bytes[parts[1]] }) else {
        return HTTPResponse(status: 404)
      }
      return HTTPResponse(status: 200, body: bytes)
    }
    guard let place = state.withLock({ $0.uploads[parts[1]] }) else {
      return HTTPResponse(status: 404)
    }
    do throws(SyncError) {
      let asset = try world.cloud.keepAsset(bytes: request.body, account: ServiceWorld.alice)
      let receipt = "receipt-\(parts[1])"
      let name = asset.sha256.map { String($0 >> 4, radix: 16) }.joined()
      state.withLock { state in
        state.receipts[receipt] = (asset, place)
        state.bytes[name] = request.body
      }
      let answer: [String: Any] = [
        "fileChecksum": "checksum of \(name)", "size": asset.byteCount, "receipt": receipt,
        "referenceChecksum": "r", "wrappingKey": "w",
      ]
      return HTTPResponse(status: 200, body: JSONTree(root: ["singleFile": answer]).bytes)
    } catch { return HTTPResponse(status: 500) }
  }
}

/// Holds a response back, and tells when it has come so far.
actor Latch {
  private var hasArrived = false
  private var isOpen = false
  private var waiting: [CheckedContinuation<Void, Never>] = []
  private var watching: [CheckedContinuation<Void, Never>] = []

  /// Waits until it is opened.
  func arrive() async {
    hasArrived = true
    for continuation in watching { continuation.resume() }
    watching = []
    if !isOpen { await withCheckedContinuation { waiting.append($0) } }
  }

  /// Returns when somebody waits.
  func arrival() async {
    if !hasArrived { await withCheckedContinuation { watching.append($0) } }
  }

  func open() {
    isOpen = true
    for continuation in waiting { continuation.resume() }
    waiting = []
  }
}

/// JSON that a test changes, object by object.
private struct JSONTree {
  let root: Any

  init(root: Any) { self.root = root }

  init?(_ bytes: [UInt8]) {
    guard let root = try? JSONSerialization.jsonObject(with: Data(bytes)) else { return nil }
    self.root = root
  }

  var bytes: [UInt8] {
    // What was read as JSON, or made of its kinds, can be written.
    let data = try? JSONSerialization.data(withJSONObject: root, options: .sortedKeys)
    return [UInt8](data ?? Data())
  }

  func mapped(_ change: ([String: Any]) -> [String: Any]) -> JSONTree {
    JSONTree(root: Self.mapped(root, change))
  }

  private static func mapped(_ value: Any, _ change: ([String: Any]) -> [String: Any]) -> Any {
    if let object = value as? [String: Any] {
      return change(object.mapValues { mapped($0, change) })
    }
    if let list = value as? [Any] { return list.map { mapped($0, change) } }
    return value
  }
}

/// A web token in memory, and what became of it.
final class MemoryTokenStore: WebTokenStore {
  private let state: Locked<(token: Secret?, isFull: Bool, saves: Int)>

  init(_ token: Secret?) { state = Locked((token, false, 0)) }

  var isFull: Bool {
    get { state.withLock { $0.isFull } }
    set { state.withLock { $0.isFull = newValue } }
  }
  var saves: Int { state.withLock { $0.saves } }

  func load() throws(WebTokenStoreError) -> Secret? { state.withLock { $0.token } }

  func save(_ token: Secret) throws(WebTokenStoreError) {
    let isFull = state.withLock { state in
      if !state.isFull {
        state.token = token
        state.saves += 1
      }
      return state.isFull
    }
    if isFull { throw WebTokenStoreError("the disk is full") }
  }
}

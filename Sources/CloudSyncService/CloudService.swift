public import CloudSyncCore
public import CloudSyncLocalCloud

/// The server's side of CloudKit's HTTP API, as a function from request to response over a
/// `LocalCloud`: no sockets, no threads.
///
/// ```swift
/// let tokens = MemoryTokens()
/// tokens.add(token: secret, access: ServiceAccess(account: AccountIdentity("ada"), device: "mac"))
/// let service = CloudService(cloud: LocalCloud(store: store), tokens: tokens)
/// let response = await service.respond(to: request)
/// ```
///
/// It serves the private database of one container: `records/modify`, `records/lookup`, `changes/zone`,
/// `changes/database`, `zones/list`, `zones/lookup`, `zones/modify`, `subscriptions/modify`,
/// `assets/upload`, `users/caller` and `tokens/create`, the bytes of assets and the courier by signed addresses.
/// Beside what Apple documents, a modification may carry the header `X-CloudSync-Write-Token`, and responses and requests
/// the header `X-CloudSync-History`; a conflict has a
/// `serverRecord`, an asset a `sha256`, an error a `cloudErrorCode`, and numbers that are not finite are text. What
/// belongs to another account is answered as what does not exist.
///
/// At the address that `tokens/create` gives, a device waits until another one of its account has changed something.
/// The service knows no timer: whoever runs it calls ``answerPolls(all:)`` about once a second. It takes the cloud's
/// `LocalCloud.onChange(_:)`; of changes by other processes it is told with ``announce(_:)``.
public final class CloudService: Sendable {
  private let cloud: LocalCloud
  private let tokens: any ServiceTokens
  private let container: String
  private let limits: ServiceLimits
  private let nonce: @Sendable () -> UInt64
  private let assets: ServedAssets
  private let pushes: ServedPushes
  private let now: @Sendable () -> Timestamp
  private let rates = RequestRates()

  /// Creates a service.
  ///
  /// - Parameters:
  ///   - cloud: What it serves.
  ///   - tokens: Who may come in.
  ///   - container: The container's name in paths.
  ///   - limits: How much one request may ask for, and how fast requests may come.
  ///   - secret: What addresses of assets are signed with: 32 random bytes, which services of several
  ///     processes share; nil for some that last as long as this one.
  ///   - now: The clock, by which such addresses end and rates are measured.
  ///   - nonce: Gives a number that no other call gets.
  public init(
    cloud: LocalCloud,
    tokens: any ServiceTokens,
    container: String = "cloudsync",
    limits: ServiceLimits = ServiceLimits(),
    secret: [UInt8]? = nil,
    now: @escaping @Sendable () -> Timestamp = SyncEnvironment.live.now,
    nonce: @escaping @Sendable () -> UInt64 = SyncEnvironment.live.nonce
  ) {
    self.cloud = cloud
    self.tokens = tokens
    self.container = container
    self.limits = limits
    self.nonce = nonce
    self.now = now
    let random = (0..<4)
      .flatMap { _ in
        let number = nonce()
        return (0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * $0)) }
      }
    let tickets = ServiceTickets(secret: secret ?? random)
    assets = ServedAssets(cloud: cloud, tickets: tickets, now: now)
    pushes = ServedPushes(
      tickets: tickets,
      tokens: tokens,
      container: container,
      pollDuration: limits.pollDuration,
      now: now
    )
    cloud.onChange { [hub = pushes.hub] in hub.announce(account: $0.account, except: $0.device) }
  }

  // MARK: Pushes

  /// Wakes the devices that wait for a change: one that another process has made, or nobody knows which.
  ///
  /// - Parameter change: What has changed; nil if that cannot be told.
  public func announce(_ change: LocalCloudChange?) {
    guard let change else { return pushes.hub.announceToAll() }
    pushes.hub.announce(account: change.account, except: change.device)
  }

  /// Answers the devices that have waited long enough.
  ///
  /// - Parameter all: Whether to answer all others too, and those that come from now on at once: before the
  ///   process ends.
  public func answerPolls(all: Bool = false) {
    if all { pushes.hub.close() } else { pushes.hub.end(now: now()) }
  }

  /// How many devices wait for a change.
  public var waitingPolls: Int { pushes.hub.waiting }

  // MARK: Requests

  /// The name of the account that a request comes from, by its token or its signed address.
  ///
  /// Nil if nobody knows it: then no body need be received, whatever it is it is refused.
  public func sender(of request: HTTPRequest) -> String? {
    if request.path.hasPrefix("/assets/") { return assets.ticket(of: request)?.account.value }
    do throws(ServiceRefusal) {
      return request.path.hasPrefix(ServedPushes.prefix)
        ? try pushes.access(of: request)?.account.value : try access(of: request).account.value
    } catch { return nil }
  }

  /// Answers a request.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - address: Where it comes from, as the network tells it; nil if that is not known.
  /// - Returns: The response.
  public func respond(to request: HTTPRequest, from address: String? = nil) async -> HTTPResponse {
    await withCheckedContinuation { continuation in
      respond(to: request, from: address) { continuation.resume(returning: $0) }
    }
  }

  /// Answers a request: on the calling thread before the call returns, as the cloud does.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - address: Where it comes from, as the network tells it; nil if that is not known.
  ///   - sendingFiles: Whether the response may have a file instead of its body, as that of an asset: then nobody has to have
  ///     it in memory.
  ///   - completion: Called once, with the response.
  public func respond(
    to request: HTTPRequest,
    from address: String? = nil,
    sendingFiles: Bool = false,
    completion: @escaping @Sendable (HTTPResponse) -> Void
  ) {
    do throws(ServiceRefusal) {
      let isFile = request.path.hasPrefix("/assets/")
      try checkBody(of: request, limit: isFile ? limits.assetByteCount : limits.bodyByteCount)
      if isFile {
        return completion(try file(request, from: address, sendingFiles: sendingFiles))
      }
      if request.path.hasPrefix(ServedPushes.prefix) {
        return try poll(request, completion: completion)
      }
      let access = try access(of: request, from: address)
      try checkRate(limits.requests, of: key(of: access))
      let (database, endpoint) = try place(of: request)
      if endpoint == .uploadAssets { return completion(addresses(for: request, access: access)) }
      if endpoint == .createToken {
        let digest = try tokenDigest(of: request)
        return completion(pushes.address(for: access, tokenDigest: digest))
      }
      let desk = EndpointDesk(
        scope: database.scope,
        limits: limits,
        nonce: nonce,
        zones: ServedZones(cloud: cloud, access: access, scope: database.scope),
        wireAsset: { [assets] in assets.wireAsset($0, account: access.account) }
      ) { [cloud] zoneID, isAtomic in
        cloud.connect(
          device: access.device,
          account: access.account,
          zoneID: zoneID,
          isAtomic: isAtomic
        )
      }
      desk.respond(to: request, at: endpoint, completion: completion)
    } catch { completion(error.response) }
  }

  private func addresses(for request: HTTPRequest, access: ServiceAccess) -> HTTPResponse {
    do throws(WireError) {
      return try assets.addresses(request, account: access.account)
    } catch { return ServiceRefusal(error).response }
  }

  private func file(
    _ request: HTTPRequest,
    from address: String?,
    sendingFiles: Bool
  ) throws(ServiceRefusal) -> HTTPResponse {
    // One that is forged, foreign or old is answered as one that never was.
    guard let ticket = assets.ticket(of: request) else { return HTTPResponse(status: 404) }
    // The address is a secret of its own; who shows a token besides has to be whom it was given to.
    if request.headers["Authorization"]?.hasPrefix(Self.scheme) == true,
      try access(of: request, from: address).account != ticket.account
    {
      return HTTPResponse(status: 404)
    }
    try checkRate(limits.requests, of: "files/\(ticket.account.value)")
    if ticket.purpose == .upload, request.method == "POST" {
      let key = "bytes/\(ticket.account.value)"
      try checkRate(limits.uploadedBytes, of: key, count: request.body.count)
    }
    return assets.response(to: request, for: ticket, sendingFiles: sendingFiles)
  }

  private func poll(
    _ request: HTTPRequest,
    completion: @escaping @Sendable (HTTPResponse) -> Void
  ) throws(ServiceRefusal) {
    // One that is forged, foreign, old or shut out is answered as one that never was.
    guard let access = try pushes.access(of: request) else { throw ServiceRefusal(status: 404) }
    try checkRate(limits.requests, of: key(of: access))
    guard request.method == "GET" else { throw ServiceRefusal(status: 405) }
    pushes.wait(for: access, completion: completion)
  }

  private func key(of access: ServiceAccess) -> String {
    "device/\(access.account.value.utf8.count)/\(access.account.value)/\(access.device)"
  }

  private func checkRate(
    _ rate: ServiceRate?,
    of key: String,
    pays: Bool = true,
    count: Int = 1
  ) throws(ServiceRefusal) {
    guard let rate,
      let wait = rates.wait(of: key, at: rate, now: now(), pays: pays, count: count)
    else { return }
    var error = SyncError(.requestRateLimited, "requests come too fast")
    // Whoever comes back at the very moment is too early as soon as clocks differ.
    error.retryAfterNanoseconds = max(wait, 1_000_000_000)
    throw ServiceRefusal(error)
  }

  private func access(
    of request: HTTPRequest,
    from address: String?
  ) throws(ServiceRefusal) -> ServiceAccess {
    guard let address else { return try access(of: request) }
    let key = "address/\(address)"
    // Looked at before the token is, so that nobody can keep the list of tokens busy.
    try checkRate(limits.wrongTokens, of: key, pays: false)
    do throws(ServiceRefusal) { return try access(of: request) } catch {
      try checkRate(limits.wrongTokens, of: key)
      throw error
    }
  }

  private func access(of request: HTTPRequest) throws(ServiceRefusal) -> ServiceAccess {
    let digest = try tokenDigest(of: request)
    let access: ServiceAccess?
    do throws(SyncError) { access = try tokens.access(digest: digest) } catch {
      throw ServiceRefusal(error)
    }
    if let access { return access }
    throw ServiceRefusal(status: 401, SyncError(.notAuthenticated, "the token is not known"))
  }

  private static let scheme = "Bearer "

  private func tokenDigest(of request: HTTPRequest) throws(ServiceRefusal) -> [UInt8] {
    guard let header = request.headers["Authorization"], header.hasPrefix(Self.scheme) else {
      throw ServiceRefusal(status: 401, SyncError(.notAuthenticated, "a token is missing"))
    }
    return SHA256.digest(of: Array(header.utf8.dropFirst(Self.scheme.utf8.count)))
  }

  private func place(
    of request: HTTPRequest
  ) throws(ServiceRefusal) -> (WireDatabase, WireEndpoint) {
    guard let (database, rest) = WireDatabase.parse(request.path), database.container == container,
      let endpoint = WireEndpoint(rawValue: rest)
    else { throw ServiceRefusal(status: 404) }
    guard request.method == endpoint.method else { throw ServiceRefusal(status: 405) }
    return (database, endpoint)
  }

  private func checkBody(of request: HTTPRequest, limit: Int) throws(ServiceRefusal) {
    if let encoding = request.headers["Content-Encoding"], encoding.lowercased() != "identity" {
      throw ServiceRefusal(status: 415)
    }
    guard request.body.count <= limit else {
      let message = "a body has at most \(limit) bytes"
      throw ServiceRefusal(status: 413, SyncError(.limitExceeded, message))
    }
  }
}

/// A response that says no.
struct ServiceRefusal: Error {
  let response: HTTPResponse

  /// A refusal that is none of the API's errors.
  init(status: Int) { response = HTTPResponse(status: status) }

  init(status: Int, _ error: SyncError) { response = Self.response(status: status, error) }

  /// The response that tells an error.
  init(_ error: SyncError) {
    response = Self.response(status: WireErrorTable.failure(of: error).status, error)
  }

  /// The refusal of a body that cannot be read.
  init(_ error: WireError) {
    // What is too much in one request may pass in two: clients split it.
    let code = error.isTooMuch ? SyncError.Code.limitExceeded : .invalidArguments
    self.init(status: 400, SyncError(code, "the body cannot be read: \(error)"))
  }

  private static func response(status: Int, _ error: SyncError) -> HTTPResponse {
    var writer = JSONWriter()
    let failure = WireErrorTable.failure(of: error).failure
    writer.object { failure.writeMembers(to: &$0) }
    return HTTPResponse(
      status: status,
      headers: [WireHeader.contentType: WireHeader.json],
      body: writer.bytes
    )
  }
}

import CloudSyncCore

/// The addresses at which devices wait for changes, below `/courier/1/`.
struct ServedPushes: Sendable {
  let hub = PushHub()
  let tickets: ServiceTickets
  let tokens: any ServiceTokens
  let container: String
  let pollDuration: Duration
  let now: @Sendable () -> Timestamp

  static let prefix = "/courier/1/"

  /// Answers `tokens/create` of a device.
  func address(for access: ServiceAccess, tokenDigest: [UInt8]) -> HTTPResponse {
    let digest = ServiceTickets.digits(tokenDigest)
    let ticket = tickets.ticket(for: .courier(digest), account: access.account, now: now())
    return EndpointDesk.success(WireCourier.body(address: Self.prefix + ticket, token: ticket))
  }

  /// Whose address the path of a request is; nil if it is none, or its token is good no more.
  ///
  /// - Throws: That nobody can say now.
  func access(of request: HTTPRequest) throws(ServiceRefusal) -> ServiceAccess? {
    guard request.path.hasPrefix(Self.prefix),
      let ticket = tickets.read(request.path.dropFirst(Self.prefix.count), now: now()),
      case .courier(let digits) = ticket.purpose,
      let digest = ServiceTickets.bytes(ofDigits: digits)
    else { return nil }
    let found: ServiceAccess?
    do throws(SyncError) { found = try tokens.access(digest: digest) } catch {
      throw ServiceRefusal(error)
    }
    guard let access = found, UTF8Bytes.equal(access.account.value, ticket.account.value) else {
      return nil
    }
    // Who says who they are has to be whose address it is.
    if let sender = request.headers["Authorization"] {
      let scheme = "Bearer "
      guard sender.hasPrefix(scheme),
        SHA256.digest(of: Array(sender.utf8.dropFirst(scheme.utf8.count))) == digest
      else { return nil }
    }
    return access
  }

  /// Answers a request when something has changed, or its time is over.
  func wait(
    for access: ServiceAccess,
    completion: @escaping @Sendable (HTTPResponse) -> Void
  ) {
    hub.wait(for: access, until: now().adding(pollDuration)) { [container] outcome in
      switch outcome {
      case .change:
        completion(EndpointDesk.success(WireCourier.notification(container: container)))
      case .nothing: completion(HTTPResponse(status: 200))
      }
    }
  }
}

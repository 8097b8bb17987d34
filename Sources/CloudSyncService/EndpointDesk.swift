import CloudSyncCore
import CloudSyncLocalCloud

/// Carries requests out: reads them, lets a handler do the work, and writes what it answers.
///
/// It knows no accounts: whoever makes it has decided who asks.
struct EndpointDesk: Sendable {
  let scope: DatabaseScope
  let limits: ServiceLimits
  let nonce: @Sendable () -> UInt64
  /// What is asked about zones as such; nil where there is only one to ask.
  let zones: ServedZones?
  /// What a client is told of an asset.
  let wireAsset: @Sendable (Asset) -> WireAsset
  /// Makes the handler of a zone; the flag says whether a modification is atomic.
  let handler: @Sendable (_ zoneID: ZoneID, _ isAtomic: Bool?) -> any OperationHandler

  typealias Completion = @Sendable (HTTPResponse) -> Void

  func respond(
    to request: HTTPRequest,
    at endpoint: WireEndpoint,
    completion: @escaping Completion
  ) {
    do throws(WireError) {
      switch endpoint {
      case .modifyRecords: try modify(request, completion: completion)
      case .lookUpRecords: try lookUp(request, completion: completion)
      case .zoneChanges: try changes(request, completion: completion)
      case .modifyZones: try modifyZones(request, completion: completion)
      case .modifySubscriptions: try subscribe(request, completion: completion)
      case .listZones, .lookUpZones, .databaseChanges, .caller:
        completion(try zones?.response(to: request, at: endpoint, limits: limits) ?? Self.missing)
      case .uploadAssets, .createToken: completion(Self.missing)
      }
    } catch { completion(ServiceRefusal(error).response) }
  }

  private static let missing = ServiceRefusal(status: 404).response

  static func success(_ body: [UInt8]) -> HTTPResponse {
    HTTPResponse(status: 200, headers: [WireHeader.contentType: WireHeader.json], body: body)
  }

  /// A response that tells how far the history has come.
  private static func success(_ body: [UInt8], telling token: ChangeToken?) -> HTTPResponse {
    var response = success(body)
    response.headers[WireHeader.history] = token.map(WireToken.text)
    return response
  }

  private func context(of request: HTTPRequest) -> RequestContext {
    let known = request.headers[WireHeader.writeToken].flatMap(WireHeader.writeToken)
    return RequestContext(
      attempt: Attempt(epoch: 0, number: 1),
      writeToken: known ?? WriteToken(nonce: nonce(), number: nonce()),
      deadline: .distantFuture,
      historyTokens: WireHeader.historyTokens(of: request)
    )
  }

  // MARK: Records

  private func modify(
    _ request: HTTPRequest,
    completion: @escaping Completion
  ) throws(WireError) {
    let modification = try WireModification(
      reading: request.body,
      scope: scope,
      with: WireAsset.inAccount,
      limit: limits.items
    )
    let handler = handler(modification.zoneID, modification.isAtomic)
    handler.handle(
      modifyOperation: modification.operation,
      context: context(of: request)
    ) { result in
      switch result {
      case .success(let response):
        let body = modification.body(of: response, with: wireAsset)
        completion(Self.success(body, telling: response.historyToken))
      case .failure(let error):
        guard error.code == .partialFailure, !error.itemErrors.isEmpty else {
          return completion(ServiceRefusal(error).response)
        }
        let response = ModifyOperation.Response(failures: error.itemErrors)
        let body = modification.body(of: response, with: wireAsset)
        completion(Self.success(body, telling: error.historyToken))
      }
    }
  }

  private func lookUp(
    _ request: HTTPRequest,
    completion: @escaping Completion
  ) throws(WireError) {
    let lookup = try WireLookup(reading: request.body, scope: scope, limit: limits.items)
    guard !lookup.names.isEmpty else {
      return completion(Self.success(lookup.body(of: .init(changeToken: nil))))
    }
    handler(lookup.zoneID, nil)
      .handle(
        fetchOperation: FetchOperation(lookingUp: lookup.recordIDs),
        context: context(of: request)
      ) { result in
        switch result {
        case .success(let response):
          let body = lookup.body(of: response, with: wireAsset)
          completion(Self.success(body, telling: response.historyToken))
        case .failure(let error): completion(ServiceRefusal(error).response)
        }
      }
  }

  /// Errors that are told in the zone's own element, with the status 200.
  private static let zoneErrors: [SyncError.Code] = [
    .zoneNotFound, .userDeletedZone, .changeTokenExpired, .invalidArguments,
  ]

  private func changes(
    _ request: HTTPRequest,
    completion: @escaping Completion
  ) throws(WireError) {
    let changes = try WireZoneChanges(reading: request.body, scope: scope)
    var operation = FetchOperation()
    if let text = changes.syncToken {
      guard let token = WireToken.token(text) else {
        return completion(Self.success(changes.body(of: .failure(.foreignToken))))
      }
      operation.changeToken = token
    }
    handler(changes.zoneID, nil)
      .handle(fetchOperation: operation, context: context(of: request)) { result in
        if case .failure(let error) = result, !Self.zoneErrors.contains(error.code) {
          return completion(ServiceRefusal(error).response)
        }
        let body = changes.body(of: result, with: wireAsset)
        let page = try? result.get()
        completion(Self.success(body, telling: page?.historyToken))
      }
  }

  // MARK: Zones

  private func modifyZones(
    _ request: HTTPRequest,
    completion: @escaping Completion
  ) throws(WireError) {
    let changes = try WireZones.changes(reading: request.body, scope: scope, limit: limits.zones)
    // One zone is what a session asks for; of several each is done before the next.
    modify(changes[...], done: [], in: request, completion: completion)
  }

  private func modify(
    _ rest: ArraySlice<(change: WireZones.Change, zoneID: ZoneID)>,
    done: [(zoneID: ZoneID, error: SyncError?)],
    in request: HTTPRequest,
    completion: @escaping Completion
  ) {
    guard let (change, zoneID) = rest.first else {
      return completion(Self.success(WireZones.body(of: done)))
    }
    let next: @Sendable (SyncError?) -> Void = { error in
      if let error, done.isEmpty, rest.count == 1, error.isOfWholeRequest {
        return completion(ServiceRefusal(error).response)
      }
      modify(
        rest.dropFirst(),
        done: done + [(zoneID, error)],
        in: request,
        completion: completion
      )
    }
    switch change {
    case .create:
      handler(zoneID, nil)
        .handle(
          createZoneOperation: CreateZoneOperation(zoneID: zoneID),
          context: context(of: request)
        ) { result in
          switch result {
          case .success(let isThere):
            next(isThere ? nil : SyncError(.zoneNotFound, "the zone was not created"))
          case .failure(let error): next(error)
          }
        }
    case .delete:
      guard let zones else { return next(SyncError(.permissionFailure, "zones stay here")) }
      next(zones.delete(zoneID))
    }
  }

  private func subscribe(
    _ request: HTTPRequest,
    completion: @escaping Completion
  ) throws(WireError) {
    let (id, zoneID) = try WireSubscriptions.subscription(reading: request.body, scope: scope)
    let operation = CreateSubscriptionOperation(zoneID: zoneID)
    handler(zoneID, nil)
      .handle(createSubscriptionOperation: operation, context: context(of: request)) { result in
        switch result {
        case .success(let isThere):
          let error = isThere ? nil : SyncError(.zoneNotFound, "nothing is subscribed to")
          completion(Self.success(WireSubscriptions.body(id: id, zoneID: zoneID, error: error)))
        case .failure(let error) where error.isOfWholeRequest:
          completion(ServiceRefusal(error).response)
        case .failure(let error):
          completion(Self.success(WireSubscriptions.body(id: id, zoneID: zoneID, error: error)))
        }
      }
  }
}

extension SyncError {
  /// Whether the error says nothing of an item, but of the whole request.
  fileprivate var isOfWholeRequest: Bool {
    switch code {
    case .zoneNotFound, .userDeletedZone, .invalidArguments, .badDatabase, .permissionFailure:
      false
    default: true
    }
  }
}

extension WireAsset {
  /// An asset of the account: its file is looked for by its digest, whatever else a client says.
  fileprivate static let inAccount: @Sendable (WireAsset) -> Asset? = { asset in
    guard let sha256 = asset.sha256, let byteCount = asset.byteCount else { return nil }
    return Asset(sha256: sha256, byteCount: byteCount, location: "")
  }
}

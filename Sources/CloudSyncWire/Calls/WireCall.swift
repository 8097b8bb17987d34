package import CloudSyncCore

/// One request of a client, and what its response means.
package struct WireCall<Answer: Sendable>: Sendable {
  package let endpoint: WireEndpoint
  package let headers: HTTPHeaders
  package let body: [UInt8]
  /// What the server had told of its history.
  package var historyTokens: [ChangeToken] = []
  private let zoneID: ZoneID
  private let isModification: Bool
  /// Reads the body of a response that is a success.
  private let read: @Sendable ([UInt8]) -> Result<Answer, SyncError>

  init(
    _ endpoint: WireEndpoint,
    zoneID: ZoneID,
    headers: HTTPHeaders = HTTPHeaders(),
    body: [UInt8],
    read: @escaping @Sendable ([UInt8]) -> Result<Answer, SyncError>
  ) {
    self.endpoint = endpoint
    self.zoneID = zoneID
    self.headers = headers
    self.body = body
    self.read = read
    isModification = endpoint == .modifyRecords
  }

  /// The request to send to a database.
  package func request(to database: WireDatabase) -> HTTPRequest {
    var headers = headers
    if !body.isEmpty { headers[WireHeader.contentType] = WireHeader.json }
    if let history = WireHeader.text(ofHistory: historyTokens) {
      headers[WireHeader.history] = history
    }
    return HTTPRequest(
      method: endpoint.method,
      target: database.path(of: endpoint),
      headers: headers,
      body: body
    )
  }

  /// What a response means.
  ///
  /// - Parameters:
  ///   - response: The response.
  ///   - now: The time, which a wait may be told as a date of.
  /// - Returns: The response, or the session's error.
  package func answer(_ response: HTTPResponse, now: Timestamp) -> Result<Answer, SyncError> {
    if (200..<300).contains(response.status) {
      let answer = read(response.body)
      let token = response.headers[WireHeader.history].flatMap(WireToken.token(syncToken:))
      return answer.map { Self.telling(token, in: $0) }
    }
    var error = WireErrorTable.error(
      of: response,
      zoneID: zoneID,
      isModification: isModification,
      now: now
    )
    // Of a whole request it says that some item failed; which, only where the body has a list of them.
    if error.code == .batchRequestFailed {
      error.code = .partialFailure
      let items = try? read(response.body).get() as? ModifyOperation.Response
      error.itemErrors = items?.failures ?? []
    }
    return .failure(error)
  }

  private static func telling(_ token: ChangeToken?, in answer: Answer) -> Answer {
    guard let token, var telling = answer as? any HistoryAnswer else { return answer }
    telling.historyToken = token
    return telling as? Answer ?? answer
  }

  /// What it means that there was no response.
  ///
  /// - Parameters:
  ///   - isSent: Whether anything of the request may have reached the server.
  ///   - reason: What happened.
  /// - Returns: The session's error.
  package func error(isSent: Bool, reason: String) -> SyncError {
    SyncError(isSent && isModification ? .serverResponseLost : .networkFailure, reason)
  }
}

extension WireCall where Answer == Bool {
  /// Creates a zone; one that exists is a success.
  package static func createZone(_ zoneID: ZoneID) -> Self {
    Self(.modifyZones, zoneID: zoneID, body: WireZones.body(creating: zoneID)) { bytes in
      WireZones.error(in: "zones", reading: bytes, zoneID: zoneID).map { .failure($0) }
        ?? .success(true)
    }
  }

  /// Subscribes to a zone.
  package static func createSubscription(_ zoneID: ZoneID) -> Self {
    let body = WireSubscriptions.body(subscribingTo: zoneID)
    return Self(.modifySubscriptions, zoneID: zoneID, body: body) { bytes in
      WireZones.error(in: "subscriptions", reading: bytes, zoneID: zoneID).map { .failure($0) }
        ?? .success(true)
    }
  }
}

extension WireCall where Answer == ModifyOperation.Response {
  /// Saves and deletes records.
  ///
  /// - Parameters:
  ///   - modification: What is to be done.
  ///   - writeToken: The key by which the project's own server recognizes a repeat.
  ///   - assets: What is said of an asset.
  ///   - located: Says where the file of an asset in a response lies.
  /// - Returns: The call.
  package static func modify(
    _ modification: WireModification,
    writeToken: WriteToken?,
    with assets: WireModification.Assets = { asset, _, _ in WireAsset(asset) },
    reading located: @escaping @Sendable (WireAsset) -> Asset? = WireAsset.unlocated
  ) -> Self {
    var headers = HTTPHeaders()
    headers[WireHeader.writeToken] = writeToken.map { "\($0)" }
    return Self(
      .modifyRecords,
      zoneID: modification.zoneID,
      headers: headers,
      body: modification.body(with: assets)
    ) { bytes in modification.response(reading: bytes, with: located) }
  }
}

extension WireCall where Answer == FetchOperation.Response {
  /// Fetches one page, or looks records up.
  ///
  /// - Parameters:
  ///   - operation: What is asked for.
  ///   - zoneID: The zone.
  ///   - assets: Says where the file of an asset lies.
  /// - Returns: The call, or why there can be none.
  package static func fetch(
    _ operation: FetchOperation,
    in zoneID: ZoneID,
    with assets: @escaping @Sendable (WireAsset) -> Asset? = WireAsset.unlocated
  ) -> Result<Self, SyncError> {
    if operation.isLookup {
      let lookup = WireLookup(operation.recordIDs, zoneID: zoneID)
      return .success(
        Self(.lookUpRecords, zoneID: zoneID, body: lookup.body) { bytes in
          lookup.response(reading: bytes, with: assets)
        }
      )
    }
    let syncToken = operation.changeToken.flatMap(WireToken.syncToken)
    if operation.changeToken != nil, syncToken == nil {
      let message = "the change token was given by another cloud"
      return .failure(SyncError(.invalidArguments, message))
    }
    let changes = WireZoneChanges(zoneID: zoneID, syncToken: syncToken)
    return .success(
      Self(.zoneChanges, zoneID: zoneID, body: changes.body) { bytes in
        changes.page(reading: bytes, with: assets)
      }
    )
  }
}

extension WireCall where Answer == AccountIdentity {
  /// Asks whose account it is.
  package static var caller: Self {
    let zoneID = ZoneID(name: ZoneID.defaultZoneName)
    return Self(.caller, zoneID: zoneID, body: []) { bytes in
      WireCaller.name(reading: bytes).map { .success(AccountIdentity($0)) }
        ?? .failure(SyncError(.networkFailure, "the response names no account"))
    }
  }
}

extension WireCall where Answer == String {
  /// Asks for the address at which a device waits for changes.
  package static func courier(environment: String) -> Self {
    let zoneID = ZoneID(name: ZoneID.defaultZoneName)
    let body = WireCourier.request(environment: environment)
    return Self(.createToken, zoneID: zoneID, body: body) { bytes in
      WireCourier.address(reading: bytes).map { .success($0) }
        ?? .failure(SyncError(.networkFailure, "the response has no address"))
    }
  }

  /// Asks where the bytes of an asset go.
  package static func uploadAddress(
    for recordID: RecordID,
    field: String,
    recordType: String
  ) -> Self {
    let body = WireAssetUpload.body(for: recordID, field: field, recordType: recordType)
    return Self(.uploadAssets, zoneID: recordID.zoneID, body: body) { bytes in
      var reader = JSONReader(bytes)
      var url: String?
      do throws(WireError) {
        try reader.object { (reader, name) throws(WireError) in
          guard name == "tokens" else { return try reader.skipValue() }
          try reader.array { (reader) throws(WireError) in
            try reader.object { (reader, name) throws(WireError) in
              if name == "url" { url = try reader.string() } else { try reader.skipValue() }
            }
          }
        }
        try reader.end()
      } catch { url = nil }
      return url.map { .success($0) }
        ?? .failure(SyncError(.networkFailure, "the response has no address"))
    }
  }
}

extension WireCall where Answer == [ZoneID] {
  /// Asks for the zones of a private database.
  package static var zones: Self {
    let zoneID = ZoneID(name: ZoneID.defaultZoneName)
    return Self(.listZones, zoneID: zoneID, body: []) { bytes in
      do throws(WireError) { return .success(try WireZones.list(reading: bytes)) } catch {
        return .failure(SyncError(.networkFailure, "\(error)"))
      }
    }
  }
}

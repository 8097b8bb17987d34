public import CloudSyncAssets
public import CloudSyncCore

/// Carries a session's operations out by CloudKit's HTTP API, at a server of the project's own or at Apple's service, in
/// one zone of the private or the shared database.
///
/// It never retries, splits or resolves. A conflict of which the service does not tell its record costs
/// one look-up more, for all of a request.
public final class WebServicesOperationHandler: OperationHandler {
  private let client: WebServicesClient
  private let zoneID: ZoneID
  private let isAtomic: Bool
  private let encryptedFields: [String: [String]]
  private let files: AssetTransfer
  private let running = Locked<(attempt: Attempt, task: Task<Void, Never>)?>(nil)

  /// 200 items and 1 MB: JSON is larger than what it says.
  public let limits = RequestLimits(items: 200, bytes: 1_000_000)
  /// A millisecond.
  public var timestampUnit: Duration { WireTime.unit }

  /// Creates a handler.
  ///
  /// - Parameters:
  ///   - client: The account's client.
  ///   - zoneID: The session's zone.
  ///   - isAtomic: Whether one bad record keeps the others of its request from being saved.
  ///   - assets: Where the files of fetched assets go; without it assets come with an address at the
  ///     service that is good for a quarter of an hour, and at Apple's service not at all.
  ///   - assetLimits: How much that folder may hold: files that were used longest ago go first, but for those of the page that
  ///     was just fetched.
  ///   - encryptedFields: The names of encrypted fields by record type: it is not documented whether Apple's service says
  ///     of a field in a response that it is encrypted.
  public init(
    client: WebServicesClient,
    zoneID: ZoneID,
    isAtomic: Bool = false,
    assets: AssetCache? = nil,
    assetLimits: AssetCacheLimits = AssetCacheLimits(),
    encryptedFields: [String: [String]] = [:]
  ) {
    self.encryptedFields = encryptedFields
    files = AssetTransfer(client: client, cache: assets, limits: assetLimits)
    self.client = client
    self.zoneID = zoneID
    self.isAtomic = isAtomic
  }

  /// Creates the zone.
  public func handle(
    createZoneOperation operation: CreateZoneOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
  ) {
    run(in: context, completion: completion) { [client] () async throws(SyncError) in
      try await client.perform(.createZone(operation.zoneID), deadline: context.deadline)
    }
  }

  /// Creates the subscription.
  public func handle(
    createSubscriptionOperation operation: CreateSubscriptionOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
  ) {
    run(in: context, completion: completion) { [client] () async throws(SyncError) in
      try await client.perform(.createSubscription(operation.zoneID), deadline: context.deadline)
    }
  }

  /// Saves and deletes records.
  public func handle(
    modifyOperation operation: ModifyOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<ModifyOperation.Response, SyncError>) -> Void
  ) {
    let whole = WireModification(operation, zoneID: zoneID, isAtomic: isAtomic)
    if let problem = whole.problem(in: client.format) { return completion(.failure(problem)) }
    run(in: context, completion: completion) { [self] () async throws(SyncError) in
      if !isAtomic { try files.checkSize(of: operation) }
      let reused = files.reused(by: operation)
      let failures = try await files.upload(operation, deadline: context.deadline)
      guard !failures.isEmpty else { return try await send(whole, context, reusing: reused) }
      // Those whose files are here are sent, unless one keeps all others from being saved.
      let bad = Set(failures.map(\.recordID))
      let good = ModifyOperation(
        records: operation.records.filter { !bad.contains($0.recordID) },
        recordIDsToDelete: operation.recordIDsToDelete
      )
      if isAtomic || good.itemCount == 0 {
        throw SyncError(.partialFailure, "files are missing", itemErrors: failures)
      }
      let part = WireModification(good, zoneID: zoneID, isAtomic: false)
      // Another part of the operation is another request: under one token the service would refuse it.
      let nonce = failures.reduce(context.writeToken.nonce) {
        UTF8Bytes.stableHash(text: $1.recordID.name, seed: $0)
      }
      let partContext = RequestContext(
        attempt: context.attempt,
        writeToken: WriteToken(nonce: nonce, number: context.writeToken.number),
        deadline: context.deadline,
        historyTokens: context.historyTokens
      )
      var response = try await send(part, partContext, reusing: reused)
      var places: [RecordID: Int] = [:]
      for (place, record) in operation.records.enumerated() { places[record.recordID] = place }
      response.failures = (failures + response.failures)
        .sorted { places[$0.recordID] ?? .max < places[$1.recordID] ?? .max }
      return response
    }
  }

  /// Sends a modification, and finds out what the service has where it only says that it is something else.
  ///
  /// - Parameters:
  ///   - modification: The modification.
  ///   - context: Of the request.
  ///   - reused: The records whose files were uploaded for an earlier request.
  /// - Returns: The response.
  /// - Throws: The error of the whole request.
  private func send(
    _ modification: WireModification,
    _ context: RequestContext,
    reusing reused: Set<RecordID>
  ) async throws(SyncError) -> ModifyOperation.Response {
    var call = WireCall.modify(
      modification,
      // No other service knows it.
      writeToken: client.isApple ? nil : context.writeToken,
      with: files.uploaded,
      reading: files.located
    )
    if !client.isApple { call.historyTokens = context.historyTokens }
    var response = try await client.perform(call, deadline: context.deadline)
    if let conflicts = WireConflicts(in: response) {
      let operation = FetchOperation(lookingUp: conflicts.recordIDs)
      let lookup: Result<FetchOperation.Response, SyncError>
      do throws(SyncError) {
        var call = try WireCall.fetch(operation, in: zoneID, with: files.located).get()
        // The cloud may be put back between the two.
        call.historyTokens = response.historyToken.map { [$0] } ?? []
        lookup = .success(try await client.perform(call, deadline: context.deadline))
      } catch { lookup = .failure(error) }
      response = conflicts.resolved(by: lookup)
    }
    if response.failures.contains(where: { Self.isLost($0, by: client) }) {
      // The service may have lost what was uploaded: the session's next attempt brings it again.
      client.uploads.forgetAll()
      for index in response.failures.indices
      where Self.isLost(response.failures[index], by: client)
        && reused.contains(response.failures[index].recordID)
      {
        let reason = response.failures[index].error.message
        response.failures[index].error = SyncError(
          .assetFileModified,
          "the service does not have a file any more that was uploaded before: \(reason)"
        )
      }
    }
    response = await files.localized(response, deadline: context.deadline)
    for index in response.failures.indices {
      response.failures[index].error.serverRecord =
        response.failures[index].error.serverRecord.map(marked)
    }
    return response
  }

  /// Whether an item may have failed because a file that was uploaded is no longer there.
  private static func isLost(_ failure: ItemFailure, by client: WebServicesClient) -> Bool {
    failure.error.code == .assetFileNotFound
      // Apple's service has no code of its own for a receipt that has ended.
      || client.isApple && failure.error.code == .invalidArguments
  }

  /// A record of which the fields are marked that are known to be encrypted.
  private func marked(_ record: Record) -> Record {
    guard let names = encryptedFields[record.recordType] else { return record }
    let known = record.encryptedKeys
    let hidden = names.filter { record[$0] != nil && !known.contains($0) }
    if hidden.isEmpty { return record }
    var record = record
    record.encryptedKeys = known + hidden
    return record
  }

  /// Fetches one page of changes, or looks records up.
  public func handle(
    fetchOperation operation: FetchOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<FetchOperation.Response, SyncError>) -> Void
  ) {
    run(in: context, completion: completion) { [self] () async throws(SyncError) in
      var call = try WireCall.fetch(operation, in: zoneID, with: files.located).get()
      if !client.isApple { call.historyTokens = context.historyTokens }
      var page = try await client.perform(call, deadline: context.deadline)
      page = try await files.localized(page, deadline: context.deadline)
      if !encryptedFields.isEmpty { page.changedRecords = page.changedRecords.map(marked) }
      return page
    }
  }

  /// Gives up a call.
  public func cancel(_ attempt: Attempt) {
    let task = running.withLock { $0?.attempt == attempt ? $0?.task : nil }
    task?.cancel()
  }

  private func run<Value: Sendable>(
    in context: RequestContext,
    completion: @escaping @Sendable (Result<Value, SyncError>) -> Void,
    body: @escaping @Sendable () async throws(SyncError) -> Value
  ) {
    let task = Task {
      let result: Result<Value, SyncError>
      do throws(SyncError) { result = .success(try await body()) } catch {
        result = .failure(error)
      }
      completion(result)
    }
    running.withLock { $0 = (context.attempt, task) }
  }
}

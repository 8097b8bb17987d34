package import CloudSyncCore

/// A session over a stub cloud in a virtual world, and what it announces.
package final class CloudHarness: Sendable {
  package let world = VirtualEnvironment()
  package let cloud: StubCloud
  package let session: CloudSyncSession
  package let completions = Collector<SessionHarness.Completion>()
  package let pages = Collector<FetchOperation.Response>()
  package let failures = Collector<SessionHarness.Failure>()
  package let parked = Collector<ParkedChange>()

  package init(
    options: StubCloud.Options = StubCloud.Options(),
    configuration: SyncConfiguration = SyncConfiguration(),
    resolver: ConflictResolver = .client,
    fault: @escaping StubCloud.Faults = { _, _ in nil }
  ) {
    cloud = StubCloud(in: world, options: options, fault: fault)
    session = CloudSyncSession(
      operationHandler: cloud,
      zoneID: SessionHarness.zoneID,
      configuration: configuration,
      resolver: resolver,
      environment: world.environment
    )
    session.modifyWorkCompletedSubject.sink { [completions] operation, response in
      completions.add(SessionHarness.Completion(operation: operation, response: response))
    }
    session.fetchWorkCompletedSubject.sink { [pages] _, page in pages.add(page) }
    session.workFailedSubject.sink { [failures] work, error in
      failures.add(SessionHarness.Failure(work: work, error: error))
    }
    session.parkedSubject.sink { [parked] change in parked.add(change) }
  }

  /// Starts the session and lets it create zone and subscription: calls 0 and 1.
  package func start() {
    session.start()
    world.run()
  }

  @discardableResult
  package func modify(_ records: [Record] = [], delete: [String] = []) throws -> OperationID {
    try session.modify(
      ModifyOperation(records: records, recordIDsToDelete: delete.map(SessionHarness.id))
    )
  }

  package var state: SyncState { session.state }

  /// What is wrong with the session by the cloud's account or by its own.
  package var wrongs: [String] {
    cloud.violations + [state.brokenInvariant(.all)].compactMap(\.self)
  }

  /// The values that were stored for a field of a record, in order; nil for its deletions.
  package func values(of name: String, field: String = "x") -> [FieldValue?] {
    cloud.changes.filter { $0.recordID.name == name }.map { $0.edit?[field] }
  }
}

extension Record {
  /// A record of the benches with one number.
  package static func note(_ name: String, _ x: Int, tag: String? = nil) -> Record {
    SessionHarness.record(name, ["x": .int64(Int64(x))], tag: tag)
  }
}

extension StubCloud.Operation {
  package var isModify: Bool { mode == .modify }
  package var isFetch: Bool { mode == .fetch }
  /// The items of a modification: what it saves, and what it deletes.
  package var items: [StubCloud.Change] {
    guard case .modify(let operation) = self else { return [] }
    return operation.records.map { StubCloud.Change(recordID: $0.recordID, edit: $0) }
      + operation.recordIDsToDelete.map { StubCloud.Change(recordID: $0, edit: nil) }
  }
}

extension StubCloud.Fault {
  package static func failure(_ code: SyncError.Code, retryAfter: Duration? = nil) -> Self {
    .failure(SyncError(code, retryAfter: retryAfter))
  }
}

extension ScriptedHandler.Reply where Value == ModifyOperation.Response {
  /// The answer to a request of which single items failed.
  package static func items(_ failures: [(String, SyncError.Code)]) -> Self {
    let items = failures.map { ItemFailure(SessionHarness.id($0.0), SyncError($0.1)) }
    return .failure(SyncError(.partialFailure, itemErrors: items))
  }
}

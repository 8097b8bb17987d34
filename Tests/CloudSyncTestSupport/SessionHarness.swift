package import CloudSyncCore

/// A session in a virtual world with a scripted handler, and everything that it announces.
package final class SessionHarness: Sendable {
  package let world = VirtualEnvironment()
  package let handler: ScriptedHandler
  package let session: CloudSyncSession
  package let completions = Collector<Completion>()
  package let pages = Collector<FetchOperation.Response>()
  package let failures = Collector<Failure>()
  package let halts = Collector<SyncError?>()
  package let events = Collector<EventRecord>()
  package let parked = Collector<ParkedChange>()

  package struct Completion: Sendable {
    package var operation: ModifyOperation
    package var response: ModifyOperation.Response
    package var id: OperationID { operation.id }
  }

  package struct Failure: Sendable {
    package var work: SyncWork
    package var error: SyncError
  }

  package static let zoneID = ZoneID(name: "Notes")

  package init(
    limits: RequestLimits = RequestLimits(),
    configuration: SyncConfiguration = SyncConfiguration(),
    resolver: ConflictResolver = .client,
    resolveExpiredChangeToken: (@Sendable () -> ChangeToken?)? = nil,
    restoring archive: SyncArchive? = nil,
    script: ScriptedHandler.Script = ScriptedHandler.Script()
  ) {
    handler = ScriptedHandler(in: world, limits: limits, script: script)
    if let archive {
      session = CloudSyncSession(
        restoring: archive,
        operationHandler: handler,
        resolver: resolver,
        resolveExpiredChangeToken: resolveExpiredChangeToken,
        environment: world.environment
      )
    } else {
      session = CloudSyncSession(
        operationHandler: handler,
        zoneID: Self.zoneID,
        configuration: configuration,
        resolver: resolver,
        resolveExpiredChangeToken: resolveExpiredChangeToken,
        environment: world.environment
      )
    }
    listen()
  }

  private func listen() {
    session.modifyWorkCompletedSubject.sink { [completions] operation, response in
      completions.add(Completion(operation: operation, response: response))
    }
    session.fetchWorkCompletedSubject.sink { [pages] _, response in pages.add(response) }
    session.workFailedSubject.sink { [failures] work, error in
      failures.add(Failure(work: work, error: error))
    }
    session.haltedSubject.sink { [halts] error in halts.add(error) }
    session.eventsPublisher.sink { [events] record in events.add(record) }
    session.parkedSubject.sink { [parked] change in parked.add(change) }
  }

  package static func id(_ name: String) -> RecordID { RecordID(name: name, zoneID: zoneID) }

  package static func record(
    _ name: String,
    _ fields: [String: FieldValue] = ["x": 1],
    tag: String? = nil
  ) -> Record {
    Record(recordType: "Note", recordID: id(name), fields: fields, changeTag: tag)
  }

  /// Submits one operation that saves and deletes.
  @discardableResult
  package func modify(
    _ records: [Record] = [],
    delete: [String] = []
  ) throws -> OperationID {
    try session.modify(
      ModifyOperation(records: records, recordIDsToDelete: delete.map(Self.id))
    )
  }

  /// Starts the session and lets it create zone and subscription.
  package func start() {
    session.start()
    world.run()
  }

  package var state: SyncState { session.state }

  /// What contradicts itself in the state, if anything.
  package var brokenInvariant: String? { state.brokenInvariant(.all) }
}

import CloudSyncCore

/// A session in a virtual world with a scripted handler, and everything that it announces.
final class Bench: Sendable {
  let world = VirtualEnvironment()
  let handler: ScriptedHandler
  let session: CloudSyncSession
  let completions = Journal<Completion>()
  let pages = Journal<FetchOperation.Response>()
  let failures = Journal<Failure>()
  let halts = Journal<SyncError?>()
  let events = Journal<EventRecord>()
  let parked = Journal<ParkedChange>()

  struct Completion: Sendable {
    var operation: ModifyOperation
    var response: ModifyOperation.Response
    var id: OperationID { operation.id }
  }

  struct Failure: Sendable {
    var work: SyncWork
    var error: SyncError
  }

  static let zoneID = ZoneID(name: "Notes")

  init(
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

  static func id(_ name: String) -> RecordID { RecordID(name: name, zoneID: zoneID) }

  static func record(
    _ name: String,
    _ fields: [String: FieldValue] = ["x": 1],
    tag: String? = nil
  ) -> Record {
    Record(recordType: "Note", recordID: id(name), fields: fields, changeTag: tag)
  }

  /// Submits one operation that saves and deletes.
  @discardableResult
  func modify(
    _ records: [Record] = [],
    delete: [String] = []
  ) throws -> OperationID {
    try session.modify(
      ModifyOperation(records: records, recordIDsToDelete: delete.map(Self.id))
    )
  }

  /// Starts the session and lets it create zone and subscription.
  func start() {
    session.start()
    world.run()
  }

  var state: SyncState { session.state }

  /// What contradicts itself in the state, if anything.
  var brokenInvariant: String? { state.brokenInvariant(.all) }
}

package import CloudSyncCore

/// Everything that a session announces, in order.
package final class Announcements: Sendable {
  package struct Completion: Sendable {
    package var operation: ModifyOperation
    package var response: ModifyOperation.Response
    package var id: OperationID { operation.id }
  }

  package struct Failure: Sendable {
    package var work: SyncWork
    package var error: SyncError
  }

  let completions = Collector<Completion>()
  let pages = Collector<FetchOperation.Response>()
  let failures = Collector<Failure>()
  let halts = Collector<SyncError?>()
  let events = Collector<EventRecord>()
  let parked = Collector<ParkedChange>()

  package init(of session: CloudSyncSession) {
    session.modifyWorkCompletedSubject.sink { [completions] operation, response in
      completions.add(Completion(operation: operation, response: response))
    }
    session.fetchWorkCompletedSubject.sink { [pages] _, page in pages.add(page) }
    session.workFailedSubject.sink { [failures] work, error in
      failures.add(Failure(work: work, error: error))
    }
    session.haltedSubject.sink { [halts] error in halts.add(error) }
    session.eventsPublisher.sink { [events] record in events.add(record) }
    session.parkedSubject.sink { [parked] change in parked.add(change) }
  }
}

/// A session in a virtual world, and everything that it announces.
package protocol SessionBench: Sendable {
  var world: VirtualEnvironment { get }
  var session: CloudSyncSession { get }
  var announcements: Announcements { get }
}

extension SessionBench {
  package var completions: Collector<Announcements.Completion> { announcements.completions }
  package var pages: Collector<FetchOperation.Response> { announcements.pages }
  package var failures: Collector<Announcements.Failure> { announcements.failures }
  package var halts: Collector<SyncError?> { announcements.halts }
  package var events: Collector<EventRecord> { announcements.events }
  package var parked: Collector<ParkedChange> { announcements.parked }

  package var state: SyncState { session.state }
  /// What contradicts itself in the state, if anything.
  package var brokenInvariant: String? { state.brokenInvariant(.all) }

  /// Starts the session and lets it create zone and subscription: calls 0 and 1.
  package func start() {
    session.start()
    world.run()
  }

  /// Submits one operation that saves and deletes.
  @discardableResult
  package func modify(_ records: [Record] = [], delete: [String] = []) throws -> OperationID {
    try session.modify(
      ModifyOperation(records: records, recordIDsToDelete: delete.map(SessionHarness.id))
    )
  }
}

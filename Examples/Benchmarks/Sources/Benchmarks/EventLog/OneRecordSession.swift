import CloudSyncEventLog
import CloudSyncSession

/// The session of the chain's benchmark: one more operation for each that is answered.
///
/// So many operations of one record are queued. An operation is three events: queued, sent, answered.
final class OneRecordSession {
  let session: CloudSyncSession
  private let handler = BenchmarkHandler(items: 1, answersAtOnce: false)
  private let keeper = Keeper()

  init(queued: Int, recorder: EventRecorder? = nil) throws {
    session = CloudSyncSession(
      operationHandler: handler,
      zoneID: World.zoneID,
      environment: World.immediate
    )
    session.statePublisher.sink { [keeper] in keeper.last = $0 }
    session.start()
    for operation in World.operations(queued) { try session.modify(operation) }
    recorder?.attach(to: session)
  }

  /// How many events there have been.
  var eventCount: Int { Int(session.state.eventCount) }

  /// Submits operations and answers one for each; returns the nanoseconds that an event takes.
  func run(_ operations: [ModifyOperation]) throws -> Double {
    let before = eventCount
    let clock = ContinuousClock()
    let start = clock.now
    for operation in operations {
      try session.modify(operation)
      handler.answerNow()
    }
    return (clock.now - start).nanoseconds / Double(eventCount - before)
  }

  /// A subscriber that keeps the last state.
  private final class Keeper: @unchecked Sendable {
    // It is unchecked because the benchmark's world has one thread.
    @exclusivity(unchecked) var last: SyncState?
  }
}

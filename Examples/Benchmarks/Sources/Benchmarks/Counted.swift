import CloudSyncEventLog
import CloudSyncSession

/// Work of which instructions are counted, by a tool that watches only the functions named `counted…`.
///
/// Unlike time, their number does not depend on what else the machine does.
enum Counted {
  private static let queued = 1_000
  /// How many operations of one record each of the works has.
  static let operations = 2_000

  /// One more operation for each that is answered; every request holds one.
  static func chain(recorder: EventRecorder? = nil) throws {
    let session = try OneRecordSession(queued: queued, recorder: recorder)
    let operations = World.operations(operations, from: queued)
    try countedChain(session, operations)
  }

  /// The same, recorded to a file.
  static func recording(_ redactor: Redactor) throws {
    let folder = try ScratchFolder()
    let file = LogFile(path: folder.path("session.jsonl"))
    try chain(recorder: EventRecorder(.file(file), redactor: redactor))
  }

  @inline(never)
  private static func countedChain(
    _ session: OneRecordSession,
    _ operations: [ModifyOperation]
  ) throws { _ = try session.run(operations) }

  /// All operations are queued already; every request holds 400.
  static func batches() throws {
    let handler = BenchmarkHandler(items: 400, answersAtOnce: false)
    let session = CloudSyncSession(
      operationHandler: handler,
      zoneID: World.zoneID,
      environment: World.immediate
    )
    let last = Box<SyncState?>(nil)
    session.statePublisher.sink { last.value = $0 }
    for operation in World.operations(operations) { try session.modify(operation) }
    session.start()
    countedAnswers(of: handler)
    precondition(session.state.progress.done == operations)
  }

  @inline(never)
  private static func countedAnswers(of handler: BenchmarkHandler) {
    for _ in 0..<(operations / 400) { handler.answerNow() }
  }

  /// The events of ``chain()`` on a bare state.
  static func reduce() throws {
    var (state, events) = try ReduceBenchmarks.ready(queued: queued, completions: operations)
    countedReduce(&state, events)
    precondition(state.progress.done == operations)
  }

  @inline(never)
  private static func countedReduce(_ state: inout SyncState, _ events: [SyncEvent]) {
    for event in events { state.reduce(event, at: ReduceBenchmarks.now) }
  }
}

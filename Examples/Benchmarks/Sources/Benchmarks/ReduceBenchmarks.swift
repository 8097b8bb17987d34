import CloudSyncSession

/// The pure reduction, without a session around it.
enum ReduceBenchmarks {
  static let now = Timestamp(nanoseconds: 1_700_000_000_000_000_000)

  /// A state that is ready to send, and the events that queue so many operations.
  static func queued(_ count: Int) throws -> (state: SyncState, enqueues: [SyncEvent]) {
    let handler = BenchmarkHandler(items: 1, answersAtOnce: false)
    let session = CloudSyncSession(
      operationHandler: handler,
      zoneID: World.zoneID,
      environment: World.immediate
    )
    session.start()
    let ready = session.state
    let events = Box<[SyncEvent]>([])
    let subscription = session.eventsPublisher.sink { record in
      if case .doWork = record.event { events.value.append(record.event) }
    }
    session.stop()
    for operation in World.operations(count) { try session.modify(operation) }
    subscription.cancel()
    return (ready, events.value)
  }

  private static func response(_ number: Int) -> SyncWork.Result {
    .modify(ModifyOperation.Response(savedRecords: [World.record(number).withChangeTag("1")]))
  }

  private static let request = SyncEvent.startWork(
    SyncRequest(mode: .modify, limits: RequestLimits(items: 1))
  )

  /// A state with so many operations queued, and the events of so many more.
  static func ready(queued depth: Int, completions: Int) throws -> (SyncState, [SyncEvent]) {
    var (state, enqueues) = try queued(depth + completions)
    let first = state.nextAttemptNumber
    for event in enqueues.prefix(depth) { state.reduce(event, at: now) }
    var events: [SyncEvent] = []
    for number in 0..<completions {
      let attempt = Attempt(epoch: state.epoch, number: first + UInt64(number))
      events += [enqueues[depth + number], request, .workSuccess(attempt, response(number))]
      if number % 64 == 0 { events.append(.delivered(upTo: .max)) }
    }
    return (state, events)
  }

  /// What enqueue, request and completion take at a depth, and the longest single event.
  static func run(depth: Int, completions: Int) throws -> (nanoseconds: Double, longest: Double) {
    let (ready, enqueues) = try queued(depth + completions)
    let first = ready.nextAttemptNumber
    let answers = (0..<completions)
      .map { number in
        SyncEvent.workSuccess(
          Attempt(epoch: ready.epoch, number: first + UInt64(number)),
          response(number)
        )
      }
    var times: [Double] = []
    var longest = 0.0
    let clock = ContinuousClock()
    for _ in 0..<5 {
      var state = ready
      for event in enqueues.prefix(depth) { state.reduce(event, at: now) }
      var start = clock.now
      for index in 0..<completions {
        state.reduce(enqueues[depth + index], at: now)
        state.reduce(request, at: now)
        state.reduce(answers[index], at: now)
        if index % 64 == 0 { state.reduce(.delivered(upTo: .max), at: now) }
      }
      times.append((clock.now - start).nanoseconds / Double(3 * completions))
      precondition(state.progress.done == completions)
      // Once more, every event by itself, from the full depth.
      for index in 0..<min(completions, 2_000) {
        for event in [enqueues[depth + index], request] {
          start = clock.now
          state.reduce(event, at: now)
          longest = max(longest, (clock.now - start).nanoseconds)
        }
      }
    }
    return (times.sorted()[times.count / 2], longest)
  }

  /// What one operation of many records takes: checking on the caller, then on the session.
  static func largeOperation(_ count: Int) throws -> (caller: Double, session: Double) {
    let operation = ModifyOperation(records: (0..<count).map { World.record($0) })
    let clock = ContinuousClock()
    var caller: [Double] = []
    var onSession: [Double] = []
    for _ in 0..<5 {
      let handler = BenchmarkHandler(items: 400, answersAtOnce: false)
      let executor = HeldExecutor()
      var environment = World.immediate
      environment.makeExecutor = { SyncExecutor { executor.jobs.append($0) } }
      let session = CloudSyncSession(
        operationHandler: handler,
        zoneID: World.zoneID,
        environment: environment
      )
      session.start()
      executor.run()
      var start = clock.now
      try session.modify(operation)
      caller.append((clock.now - start).nanoseconds)
      start = clock.now
      executor.run()
      onSession.append((clock.now - start).nanoseconds)
      precondition(handler.requests == 1)
    }
    return (caller.sorted()[2], onSession.sorted()[2])
  }

  private final class HeldExecutor: @unchecked Sendable {
    // It is unchecked because the benchmark's world has one thread.
    var jobs: [() -> Void] = []

    func run() {
      while !jobs.isEmpty {
        let now = jobs
        jobs = []
        for job in now { job() }
      }
    }
  }
}

extension SyncState {
  /// The number that the next attempt of a fresh session gets: one after those of zone and
  /// subscription.
  fileprivate var nextAttemptNumber: UInt64 { 3 }
}

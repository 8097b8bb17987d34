import CloudSyncSession

/// Events through the whole chain: enqueue and complete, one record at a time.
enum ChainBenchmarks {
  /// What one run at a depth of the queue took.
  struct Throughput {
    var allEventsPerSecond: Double
    var perOperation: Double
    /// Enqueue and complete events only, without the ones in between.
    var pairEventsPerSecond: Double { 2e9 / perOperation }
  }

  static func throughput(queued: Int, operations count: Int) throws -> Throughput {
    let fresh = World.operations(count, from: queued)
    var times: [Double] = []
    var events = 0.0
    for run in 0...5 {
      let handler = BenchmarkHandler(items: 1, answersAtOnce: false)
      let session = CloudSyncSession(
        operationHandler: handler,
        zoneID: World.zoneID,
        environment: World.immediate
      )
      let keeper = Keeper()
      session.statePublisher.sink { keeper.last = $0 }
      session.start()
      for operation in World.operations(queued) { try session.modify(operation) }
      let before = session.state.eventCount
      let clock = ContinuousClock()
      let start = clock.now
      for operation in fresh {
        try session.modify(operation)
        handler.answerNow()
      }
      let elapsed = (clock.now - start).nanoseconds
      events = Double(session.state.eventCount - before)
      if run > 0 { times.append(elapsed) }
    }
    let median = times.sorted()[times.count / 2]
    return Throughput(
      allEventsPerSecond: events / median * 1e9,
      perOperation: median / Double(count)
    )
  }

  /// A subscriber that keeps the last state.
  private final class Keeper: @unchecked Sendable {
    // It is unchecked because the benchmark's world has one thread.
    @exclusivity(unchecked) var last: SyncState?
  }
}

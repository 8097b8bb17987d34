import CloudSyncEventLog
import CloudSyncSession
import CloudSyncSimulator

/// Makes the logs that are read.
enum BenchmarkLogs {
  private static func recorder(_ path: String) -> EventRecorder {
    // One file, however large, with all that happened.
    EventRecorder(.file(LogFile(path: path, byteLimit: .max, fileLimit: 1)), redactor: .none)
  }

  /// Operations of one record are queued, sent and answered: at least so many events.
  static func plain(_ count: Int, at path: String) throws {
    let recorder = recorder(path)
    let session = try OneRecordSession(queued: 1_000, recorder: recorder)
    let end = session.eventCount + count
    var next = 1_000
    while session.eventCount < end {
      let operations = min(10_000, (end - session.eventCount + 2) / 3)
      _ = try session.run(World.operations(operations, from: next))
      next += operations
    }
    recorder.detach(from: session.session)
    try recorder.flush()
  }

  /// Edits, fetches and other devices' edits, with conflicts, refusals, lost responses, waits and lost
  /// zones: at least so many events.
  static func eventful(_ count: Int, at path: String) throws {
    let world = SimulatedEnvironment()
    let cloud = EventfulCloud(in: world)
    let session = CloudSyncSession(
      operationHandler: cloud,
      zoneID: World.zoneID,
      environment: world.environment
    )
    let recorder = recorder(path)
    recorder.attach(to: session)
    session.start()
    world.advance(by: .milliseconds(10_000))
    var random = SeededRandom(seed: 7)
    while Int(session.state.eventCount) < count {
      for _ in 0...random.below(4) {
        try session.modify(ModifyOperation(records: [World.record(random.below(400))]))
      }
      if random.below(5) == 0 { cloud.save(World.record(random.below(400), fields: 2)) }
      if random.below(3) == 0 { session.fetch() }
      if random.below(60) == 0 { session.fetch(FetchOperation(startingOver: true)) }
      if random.below(700) == 0 { cloud.loseZone() }
      if random.below(900) == 0 {
        session.stop()
        world.advance(by: .milliseconds(9_000))
        session.start()
      }
      world.advance(by: .milliseconds(random.below(1_400)))
    }
    recorder.detach(from: session)
    world.advance(by: .milliseconds(1_000))
    try recorder.flush()
  }
}

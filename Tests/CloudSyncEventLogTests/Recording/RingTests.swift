import CloudSyncCore
import CloudSyncEventLog
import Foundation
import CloudSyncTestSupport
import Testing

@Suite("Recording into a ring")
struct RingTests {
  @Test("A ring keeps the last events, and its log folds and re-runs also after it has wrapped")
  func wraps() throws {
    for capacity in [1, 7, 100] {
      let recorded = RecordedHarness(.ring(capacity: capacity))
      recorded.attach()
      recorded.bench.start()
      try recorded.save(0..<80)
      recorded.detach()
      let log = try recorded.log()
      let state = recorded.bench.state

      #expect(try log.faults() == [])
      // The oldest are forgotten a tenth at a time, at least one.
      #expect(log.count >= capacity && log.count <= capacity + capacity / 10 + 10)
      #expect(log.lastSequence == state.eventCount)
      #expect(try log.state(at: state.eventCount) == state)
      #expect(log.header.state.eventCount + 1 == log.firstSequence)
    }
  }

  @Test("What a ring has can be seen while it goes on, and again")
  func whileRunning() throws {
    let recorded = RecordedHarness(.ring())
    #expect(recorded.recorder.data() == nil)
    recorded.attach()
    recorded.bench.start()
    try recorded.save(0..<3)
    let first = try recorded.log()
    #expect(first.lastSequence == recorded.bench.state.eventCount)
    #expect(recorded.recorder.data(redactor: .none) == recorded.recorder.data(redactor: .none))
    try recorded.save(3..<6)
    #expect(try recorded.log().lastSequence == recorded.bench.state.eventCount)
    #expect(try recorded.log().count > first.count)
  }

  @Test("Recording begins and ends while the session runs, and begins another log each time")
  func attachAndDetach() throws {
    let recorded = RecordedHarness(.ring())
    recorded.bench.start()
    try recorded.save(0..<2)
    let before = recorded.bench.state
    recorded.attach()
    recorded.attach()
    try recorded.save(2..<4)
    recorded.detach()
    recorded.detach()
    let after = recorded.bench.state
    try recorded.save(4..<6)
    let log = try recorded.log()

    #expect(log.header.state == before)
    #expect(try log.faults() == [])
    #expect(try log.state(at: after.eventCount) == after)
    #expect(log.lastSequence == after.eventCount)

    recorded.attach()
    try recorded.save(6..<7)
    recorded.detach()
    let second = try recorded.log()
    #expect(try second.faults() == [])
    #expect(second.firstSequence ?? 0 > after.eventCount)
  }

  @Test("Two recorders at once have the same events")
  func two() throws {
    let first = RecordedHarness(.ring())
    let second = EventRecorder(.ring(), redactor: .none)
    first.attach()
    second.attach(to: first.bench.session)
    first.bench.start()
    try first.save(0..<5)
    first.detach()
    try first.save(5..<6)
    second.detach(from: first.bench.session)
    first.bench.world.run()
    let other = try EventLog(bytes: [UInt8](try #require(second.data(redactor: .none))))
    let log = try first.log()

    #expect(try log.faults() == [] && other.faults() == [])
    #expect(other.count > log.count)
    for sequence in 1...(log.lastSequence ?? 1) {
      #expect(try log.step(sequence).record == other.step(sequence).record)
    }
  }

  @Test("Recorder and session may be released in either order")
  func released() throws {
    var session: CloudSyncSession? = nil
    let world = VirtualEnvironment()
    func makeSession() -> CloudSyncSession {
      CloudSyncSession(
        operationHandler: StubCloud(in: world, options: StubCloud.Options()) { _, _ in nil },
        zoneID: SessionHarness.zoneID,
        environment: world.environment
      )
    }
    session = makeSession()
    var recorder: EventRecorder? = EventRecorder(.ring())
    if let session { recorder?.attach(to: session) }
    session?.start()
    world.run()
    recorder = nil
    session?.stop()
    world.run()
    #expect(session?.state.isHalted == true)

    recorder = EventRecorder(.ring())
    if let session { recorder?.attach(to: session) }
    session?.start()
    world.run()
    session = nil
    world.runToEnd()
    let log = try EventLog(bytes: [UInt8](try #require(recorder?.data())))
    #expect(log.count > 0 && log.mismatch == nil)
  }

  @Test("A ring is saved as a file that replaces an older one, hidden as is asked")
  func saving() throws {
    let folder = try Scratch()
    let recorded = RecordedHarness(.ring())
    let error = try #require(throws: LogError.self) {
      try recorded.recorder.save(to: folder.file("log.jsonl"))
    }
    #expect(error.code == .empty && error.reason.contains("attach"))
    recorded.attach()
    recorded.bench.start()
    recorded.detach()
    try folder.write([1, 2, 3], "log.jsonl")
    try recorded.recorder.save(to: folder.file("log.jsonl"))
    let hidden = try EventLog(path: folder.file("log.jsonl"))
    #expect(hidden.header.redaction == .digests)
    #expect(try hidden.faults() == [])
    try recorded.recorder.save(to: folder.file("log.jsonl"), redactor: .none)
    #expect(try EventLog(path: folder.file("log.jsonl")).header.isRestorable)
    #expect(try folder.names == ["log.jsonl"])
    #expect(throws: LogError.self) { try recorded.recorder.save(to: folder.file("no/log.jsonl")) }
  }
}

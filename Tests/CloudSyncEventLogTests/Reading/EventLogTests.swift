import CloudSyncCore
import Foundation
import CloudSyncTestSupport
import Testing

@testable import CloudSyncEventLog

@Suite("EventLog")
struct EventLogTests {
  /// The state after every event, by folding from the first.
  private func fold(_ log: EventLog) throws -> [SyncState] {
    var states = [log.header.state]
    try log.forEachStep { (step) throws(LogError) in
      var state = states[states.count - 1]
      state.reduce(step.record.event, at: step.record.time)
      states.append(state)
      return true
    }
    return states
  }

  @Test("The state at every event is that of a plain fold, forward and backward")
  func everyState() throws {
    let log = try EventLog(bytes: try SmallLog.make())
    let states = try fold(log)

    #expect(states.count == log.count + 1)
    for number in 0..<states.count { #expect(try log.state(at: UInt64(number)) == states[number]) }
    for number in (0..<states.count).reversed() {
      #expect(try log.state(at: UInt64(number)) == states[number])
    }
  }

  @Test("A jump is exact anywhere in a long log, also around the states that are kept")
  func jumps() throws {
    let folder = try Scratch()
    let bench = SessionHarness()
    let recorder = EventRecorder(.file(LogFile(path: folder.file("log.jsonl"))), redactor: .none)
    recorder.attach(to: bench.session)
    bench.start()
    for index in 0..<900 {
      try bench.modify([.note("r\(index % 40)", index)])
      bench.world.run()
    }
    recorder.detach(from: bench.session)
    bench.world.run()
    var told: [Int] = []
    let log = try EventLog(path: folder.file("log.jsonl")) { told.append($0) }
    let states = try fold(log)

    #expect(log.count > 2_100 && log.mismatch == nil && log.hasEnded && log.warnings == [])
    #expect(states.last == bench.state)
    var random = SplitMix64(seed: 3)
    var places = [0, 1, log.count - 1, log.count]
    for edge in [1_000, 2_000] { places += edge - 2...edge + 2 }
    for _ in 0..<SuiteSize.count(4, long: 25) { places.append(random.below(log.count + 1)) }
    for place in places { #expect(try log.state(at: UInt64(place)) == states[place], "\(place)") }
  }

  @Test("Events are found by number, and ranges are what they say")
  func ranges() throws {
    let whole = try EventLog(bytes: try SmallLog.make())
    let slice = try FuzzCorpus.slice(of: whole, from: 3)
    let log = try EventLog(bytes: LineForm.log(slice))
    let all = try SmallLog.sequences(log)
    let (first, last) = (try #require(log.firstSequence), try #require(log.lastSequence))

    #expect(first == 4 && all == Array(first...last))
    for (low, high) in [(0, 4), (4, 4), (5, 7), (last, last), (last, .max), (0, .max)] {
      var found: [UInt64] = []
      try log.forEachStep(in: low...high) { (step) throws(LogError) in
        found.append(step.sequence)
        return true
      }
      #expect(found == all.filter { (low...high).contains($0) })
    }
    for (low, high) in [(UInt64(0), UInt64(3)), (last + 1, .max)] {
      try log.forEachStep(in: low...high) { (_) throws(LogError) in
        Issue.record("there is nothing")
        return true
      }
    }
    var seen = 0
    try log.forEachStep { (_) throws(LogError) in
      seen += 1
      return seen < 2
    }
    #expect(seen == 2)
    for wrong in [0, 3, last + 1, .max] {
      let error = try #require(throws: LogError.self) { try log.step(wrong) }
      #expect(error.code == .noSuchEvent && error.reason.contains("it has 4 to \(last)"))
    }
    #expect(try log.state(at: 3) == whole.state(at: 3))
    #expect(throws: LogError.self) { try log.state(at: 2) }
  }

  @Test("A log without events has a state, an end and no more")
  func noEvents() throws {
    let bench = SessionHarness()
    let recorder = EventRecorder(.ring())
    recorder.attach(to: bench.session)
    bench.world.run()
    recorder.detach(from: bench.session)
    bench.world.run()
    let log = try EventLog(bytes: [UInt8](try #require(recorder.data())))

    #expect(log.count == 0 && log.hasEnded && log.warnings == [])
    #expect(log.firstSequence == nil && log.lastSequence == nil)
    #expect(try log.state(at: 0).eventCount == 0)
    let error = try #require(throws: LogError.self) { try log.step(1) }
    #expect(error.reason.contains("it has none"))
    #expect(try Replay.rerun(log).isFaithful)
  }

  @Test("A reader gives the events one by one from a file, with the lines where they begin")
  func reader() throws {
    let folder = try Scratch()
    let bytes = try SmallLog.make()
    try folder.write(bytes, "log.jsonl")
    let lines = LineForm.lines(bytes)
    var reader = try LogReader(path: folder.file("log.jsonl"))
    var count = 0
    while let step = try reader.next() {
      count += 1
      #expect(SmallLog.sequence(lines[step.line - 1]) == step.sequence)
      #expect(!reader.hasEnded || step.digest?.isEnd == true)
    }
    #expect(reader.hasEnded && reader.warnings == [])
    #expect(try EventLog(bytes: bytes).count == count)
    #expect(try reader.next() == nil)
  }
}

import CloudSyncCore
import CloudSyncTestSupport
import Foundation
import Testing

@testable import CloudSyncEventLog

@Suite("Salvaging")
struct SalvageTests {
  @Test("Whichever line is lost, everything else is read")
  func everyLine() throws {
    let lines = LineForm.lines(try SmallLog.make())
    let whole = try EventLog(bytes: LineForm.log(lines))
    let all = try SmallLog.sequences(whole)

    for place in lines.indices.dropFirst() where SuiteSize.isLong || place % 3 == 0 {
      for replacement in [nil, Array("garbage".utf8)] {
        var damaged = lines
        if let replacement { damaged[place] = replacement } else { damaged.remove(at: place) }
        let log = try EventLog(bytes: LineForm.log(damaged), salvaging: true)
        let isEvent = SmallLog.kind(lines[place]) == "event"
        let lost = isEvent ? SmallLog.sequence(lines[place]) : nil

        #expect(try SmallLog.sequences(log) == all.filter { $0 != lost }, "line \(place + 1)")
        if replacement != nil {
          let kinds = log.warnings.filter { $0.line == place + 1 }.map(\.kind)
          #expect(kinds.contains(.salvaged), "line \(place + 1)")
        }
        try checkNeighbours(of: lost, log, whole)
      }
    }
  }

  /// The events around a gap are as they were, and states end before it.
  private func checkNeighbours(of lost: UInt64?, _ log: EventLog, _ whole: EventLog) throws {
    for sequence in try SmallLog.sequences(log) {
      let (step, original) = (try log.step(sequence), try whole.step(sequence))
      #expect(step.record == original.record)
      let isFolded = lost.map { sequence < $0 } ?? true
      #expect((sequence <= log.lastFoldedSequence) == isFolded)
      if isFolded {
        #expect(try log.state(at: sequence) == whole.state(at: sequence))
      } else {
        let error = try #require(throws: LogError.self) { try log.state(at: sequence) }
        #expect(error.code == .noState && error.line > 0)
      }
    }
  }

  @Test("An input whose event is lost does not spoil the next one")
  func inputOfLostEvent() throws {
    let lines = LineForm.lines(try SmallLog.make())
    let inputs = lines.indices.filter { SmallLog.kind(lines[$0]) == "input" }
    let place = try #require(inputs.dropFirst().first)
    var damaged = lines
    damaged[place + 1] = Array("{".utf8)
    let log = try EventLog(bytes: LineForm.log(damaged), salvaging: true)
    let lost = try #require(SmallLog.sequence(lines[place]))

    #expect(throws: LogError.self) { try log.step(lost) }
    for next in inputs.dropFirst(2) {
      let sequence = try #require(SmallLog.sequence(lines[next]))
      #expect(try log.step(sequence).input != nil)
    }
  }

  @Test("A number that leaps ahead costs that event, not those after it")
  func misnumbered() throws {
    let lines = LineForm.lines(try SmallLog.make())
    let events = lines.indices.filter { SmallLog.kind(lines[$0]) == "event" }
    let all = try SmallLog.sequences(EventLog(bytes: LineForm.log(lines)))
    for place in events.dropLast() {
      let sequence = try #require(SmallLog.sequence(lines[place]))
      let text = String(decoding: lines[place], as: UTF8.self)
      let leap = text.replacingOccurrences(
        of: "\"payload\":{\"sequence\":\(sequence)",
        with: "\"payload\":{\"sequence\":\(sequence + 1_000)"
      )
      var damaged = lines
      damaged[place] = Array(leap.utf8)
      let log = try EventLog(bytes: LineForm.log(damaged), salvaging: true)

      #expect(try SmallLog.sequences(log) == all.filter { $0 != sequence })
      for other in all where other != sequence { #expect(try log.step(other).sequence == other) }
    }
  }

  @Test("Without its header a log has events and no states")
  func noHeader() throws {
    var lines = LineForm.lines(try SmallLog.make())
    let all = try SmallLog.sequences(EventLog(bytes: LineForm.log(lines)))
    lines[0] = Array("damaged".utf8)
    let log = try EventLog(bytes: LineForm.log(lines), salvaging: true)

    #expect(try SmallLog.sequences(log) == all)
    #expect(log.lastFoldedSequence == 0)
    #expect(try #require(throws: LogError.self) { try log.state(at: 0) }.code == .noState)
    #expect(try #require(throws: LogError.self) { try log.state(at: 1) }.code == .noState)
    #expect(try #require(throws: LogError.self) { try Replay.rerun(log) }.code == .noState)
  }

  @Test("Two logs in one file are read up to the second's header and beyond it, with warnings")
  func joined() throws {
    let bytes = try SmallLog.make()
    let count = try EventLog(bytes: bytes).count
    let log = try EventLog(bytes: bytes + bytes, salvaging: true)

    #expect(log.count == count)
    #expect(log.warnings.contains { $0.reason.contains("second header") })
  }

  @Test("A sound log is salvaged without a warning, and one of garbage with a bounded number")
  func warnings() throws {
    let bytes = try SmallLog.make()
    #expect(try EventLog(bytes: bytes, salvaging: true).warnings == [])

    let garbage = Array(String(repeating: "garbage\n", count: 5_000).utf8)
    let log = try EventLog(bytes: garbage, salvaging: true)
    #expect(log.count == 0)
    #expect(log.warnings.count < 1_010)
    #expect(log.warnings.contains { $0.reason.contains("not listed") })
  }
}

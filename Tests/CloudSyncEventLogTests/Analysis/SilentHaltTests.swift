import CloudSyncCore
import CloudSyncTestSupport
import Foundation
import Testing

@testable import CloudSyncEventLog

/// Sessions that stop because of a response that reports success.
@Suite("Halts by successful answers")
struct SilentHaltTests {
  /// A fetch whose token never advances although more is to come.
  private static func stuckLog() throws -> EventLog {
    var script = ScriptedHandler.Script()
    script.fetch = { _, _ in
      .success(.init(changeToken: ChangeToken(Data("stuck".utf8)), hasMore: true))
    }
    return try ScriptHarness.log(SessionHarness(script: script)) { bench in
      bench.start()
      bench.session.fetch()
      bench.world.advance(by: .seconds(60))
    }
  }

  /// The step that stopped the session.
  private static func stop(in log: EventLog) throws -> LogStep {
    var found: LogStep?
    try log.forEachStep { step in
      if step.halt != nil { found = step }
      return found == nil
    }
    return try #require(found)
  }

  @Test("The event that stops the session is known, in words too")
  func words() throws {
    let log = try Self.stuckLog()
    let stop = try Self.stop(in: log)

    guard case .workSuccess = stop.record.event else {
      Issue.record("\(stop.record.event.name) is no successful answer")
      return
    }
    #expect(stop.halt?.code == .tokenStuck)
    let text = StepText(stop, start: log.header.time)
    #expect(text.halt == "tokenStuck")
    #expect(text.line.contains("stops the session: tokenStuck"))
    #expect(try log.step(stop.sequence).halt?.code == .tokenStuck)
  }

  @Test("A filter by code finds it, also while the log is read")
  func filter() throws {
    let log = try Self.stuckLog()
    let stop = try Self.stop(in: log)
    var filter = LogFilter()
    filter.codes = [.tokenStuck]
    var found: [UInt64] = []
    try log.forEachStep(matching: filter) { step in
      found.append(step.sequence)
      return true
    }
    #expect(found.first == stop.sequence)

    let folder = try Scratch()
    let bytes = try ScriptHarness.bytes(of: log)
    try folder.write(bytes, "log.jsonl")
    var reader = try LogReader(path: folder.file("log.jsonl"))
    var matcher = LogMatcher(filter, reading: reader)
    var streamed: [UInt64] = []
    while let step = try reader.next() {
      if let match = matcher.match(step) { streamed.append(match.sequence) }
    }
    #expect(streamed == found)
  }

  @Test("The report marks it as a halt, which the key for errors goes to")
  func report() throws {
    let log = try Self.stuckLog()
    let page = PageBytes(try LogReport.html(of: log))
    let about = try #require(JSON(page.blocks(of: "about").first))
    let halts = try #require(about["marks"].list.firstIndex(of: .text("halt")))

    #expect(about["markCounts"].list[halts].int == 1)
    #expect(try LogStatistics(of: log).halts.map(\.name) == ["tokenStuck"])
    #expect(page.contains("stops the session: tokenStuck"))
  }
}

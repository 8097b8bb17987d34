import CloudSyncCore
@testable import CloudSyncEventLog
import CloudSyncTestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("LogStatistics")
struct LogStatisticsTests {
  private func counts(_ counts: [LogStatistics.Count]) -> [String] {
    counts.map { "\($0.name) \($0.count)" }
  }

  @Test("The scripted session has the numbers that its script says")
  func numbers() throws {
    let statistics = try LogStatistics(of: try AnalysisHarness.log())

    #expect(
      counts(statistics.requests) == [
        "createZone 1", "createSubscription 1", "modify 11", "fetch 2",
      ]
    )
    #expect(counts(statistics.retries) == ["networkFailure 1", "timedOut 1"])
    #expect(counts(statistics.errors) == ["networkFailure 1", "limitExceeded 1", "timedOut 1"])
    #expect(counts(statistics.itemErrors) == ["invalidArguments 1", "serverRecordChanged 1"])
    #expect(counts(statistics.verdicts) == ["saved 1", "resolved 1", "park 1"])
    #expect(counts(statistics.halts) == ["stopped 1"])
    #expect(counts(statistics.failedOperations) == ["cancelled 1"])
    #expect(statistics.splits == 1 && statistics.conflicts == 1)
    #expect(statistics.lostResponses == 1 && statistics.ignoredAnswers == 0)
    #expect(statistics.savedRecords == 11 && statistics.deletedRecords == 0)
    #expect(statistics.parkedRecords == 1)
    #expect(statistics.fetchedRecords == 4 && statistics.fetchedPages == 2)
    #expect(statistics.openOperations == 0)
    #expect(statistics.kinds.reduce(0) { $0 + $1.count } == statistics.eventCount)
    #expect(statistics.origins.reduce(0) { $0 + $1.count } == statistics.eventCount)
  }

  @Test("Times add up to the length of the log, and go where the script says")
  func times() throws {
    let log = try AnalysisHarness.log()
    let statistics = try LogStatistics(of: log)
    let first = try #require(statistics.firstTime)
    let last = try #require(statistics.lastTime)

    let spent = statistics.times.reduce(0) { $0 + $1.nanoseconds }
    #expect(spent == first.distance(to: last))
    let halted = statistics.times.first { $0.activity == .halted }
    #expect(halted?.nanoseconds == 50_000_000_000)
    // Six answers after 100 ms, and one that never came.
    let modify = statistics.times.first { $0.activity == .modify }
    #expect(modify?.nanoseconds == 300_600_000_000)
    let waits = try AnalysisHarness.all(log)
      .compactMap { step -> Int64? in
        if case .retry(_, let retry) = step.record.event { retry.wait.nanoseconds } else { nil }
      }
    let waiting = statistics.times.first { $0.activity == .waiting }
    #expect(waiting?.nanoseconds == waits.reduce(0, +))
  }

  @Test("Waiting times of operations are exact: median, 95th percentile, maximum")
  func durations() throws {
    let statistics = try LogStatistics(of: try AnalysisHarness.log())

    // 1: a retry and 100 ms; 2: 100 ms; 3: 0; 4: 200 ms; 5: the timeout, a retry and 100 ms;
    // 7 and 8: 50.1 s; 9: 0.
    #expect(statistics.modifications.count == 8)
    #expect(statistics.modifications.median == 200_000_000)
    let longest = try #require(statistics.modifications.maximum)
    #expect(longest > 300_500_000_000 && longest < 302_000_000_000)
    #expect(statistics.modifications.percentile95 == longest)
    #expect(statistics.fetches == LogStatistics.Durations([0]))
  }

  @Test("Percentiles are by rank")
  func ranks() {
    let hundred = LogStatistics.Durations((1...100).reversed().map(Int64.init))
    #expect(hundred.median == 50 && hundred.percentile95 == 95 && hundred.maximum == 100)
    let none = LogStatistics.Durations([])
    #expect(none.count == 0 && none.median == nil && none.maximum == nil)
  }

  @Test("A redacted log has the same numbers, and so has a log that is read as a stream")
  func redacted() throws {
    var expected = try LogStatistics(of: try AnalysisHarness.log())
    let redacted = try LogStatistics(of: try AnalysisHarness.log(.drops(salt: 9)))
    var reader = try LogReader(bytes: try AnalysisHarness.bytes())
    let streamed = try LogStatistics(of: &reader)

    #expect(streamed == expected)
    #expect(redacted.byteCount != expected.byteCount)
    expected.byteCount = redacted.byteCount
    #expect(redacted == expected)
  }

  @Test("The eventful run's numbers are those of its state and of its events")
  func eventful() throws {
    let run = try LogHarness.eventfulRun()
    let log = try EventLog(bytes: run.bytes)
    let statistics = try LogStatistics(of: log)

    #expect(statistics.fetchedRecords == run.state.progress.fetchedRecords)
    #expect(statistics.fetchedPages == run.state.progress.fetchedPages)
    let retries = try AnalysisHarness.all(log).count { $0.record.event.name == "retry" }
    #expect(statistics.retries.reduce(0) { $0 + $1.count } <= retries)
    #expect(statistics.retries.contains { $0.name == "networkFailure" })
    #expect(statistics.lostResponses > 0)
    #expect(statistics.splits > 0 && statistics.parkedRecords > 0)
    #expect(statistics.modifications.count == 21 && statistics.openOperations == 0)
    #expect(statistics.render().contains("95th percentile"))
  }

  @Test("The same response is the same JSON, which reads back")
  func json() throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let log = try AnalysisHarness.log()
    let statistics = try LogStatistics(of: log)
    let data = try encoder.encode(statistics)
    let history = try RecordHistory(of: "d", in: log)
    let tree = try CausalTree(of: 20, in: log)

    #expect(data == (try encoder.encode(try LogStatistics(of: try AnalysisHarness.log()))))
    #expect(try JSONDecoder().decode(LogStatistics.self, from: data) == statistics)
    #expect(try JSONDecoder().decode(RecordHistory.self, from: encoder.encode(history)) == history)
    #expect(try JSONDecoder().decode(CausalTree.self, from: encoder.encode(tree)) == tree)
  }

  @Test("A log whose header is damaged is counted without states, and nothing is made up")
  func salvaged() throws {
    let lines = String(decoding: try AnalysisHarness.bytes(), as: UTF8.self).split(separator: "\n")
    let text = (["torn"] + lines.dropFirst().map(String.init)).joined(separator: "\n") + "\n"
    let log = try EventLog(bytes: Array(text.utf8), salvaging: true)
    let statistics = try LogStatistics(of: log)
    var reader = try LogReader(bytes: Array(text.utf8), salvaging: true)

    #expect(statistics.eventCount == (try AnalysisHarness.log().count))
    #expect(statistics.savedRecords == 0 && statistics.times.isEmpty)
    #expect(try LogStatistics(of: &reader) == statistics)
    let kinds = try RecordHistory(of: "d", zoneID: SessionHarness.zoneID, in: log).entries
      .map(\.kind)
    #expect(kinds == [.queued, .fetched])
  }
}

import CloudSyncCore
import CloudSyncEventLog
import Testing

@Suite("StateDifference")
struct StateDifferenceTests {
  @Test("An operation that is queued shows as one added element")
  func enqueue() throws {
    let log = try AnalysisHarness.log()
    let steps = try AnalysisHarness.all(log)
    let second = try #require(
      steps.first { step in
        guard case .doWork(.modify(let operation)) = step.record.event else { return false }
        return operation.id.number == 8
      }
    )

    let changes = StateDifference(
      try log.state(at: second.sequence - 1),
      try log.state(at: second.sequence)
    )
    .changes

    #expect(
      changes.map(\.path) == [
        "eventCount", "nextOperation", "modify.queue[1.8]", "modify.queuedItems",
        "modify.queuedBytes", "progress.submitted",
      ]
    )
    #expect(changes[2].before == nil)
    #expect(changes[2].after?.contains("recordID: a") == true)
    #expect(changes.allSatisfy { ($0.after?.count ?? 0) < 320 })
  }

  @Test("What is announced and what is saved are told by number and by name")
  func saved() throws {
    let log = try AnalysisHarness.log()
    let answer = try #require(
      try AnalysisHarness.all(log)
        .first { step in
          if case .workSuccess(_, .modify) = step.record.event { true } else { false }
        }
    )

    let difference = StateDifference(
      try log.state(at: answer.sequence - 1),
      try log.state(at: answer.sequence)
    )

    let paths = difference.changes.map(\.path)
    #expect(paths.filter { $0.hasPrefix("modify.batch") }.count == 3)
    #expect(paths.contains("modify.batch[a]") && paths.contains("notifications.queue[1]"))
    #expect(difference.changes.first { $0.path == "progress.done" }?.after == "3")
    #expect(difference.render().contains("progress.done: 0 → 3"))
  }

  @Test("Two states differ exactly if there is a first path, and in a redacted log likewise")
  func firstPath() throws {
    for redactor in [Redactor.none, .digests(salt: 3)] {
      let log = try AnalysisHarness.log(redactor)
      let isRedacted = log.header.redaction != .none
      let state = try log.state(at: 20)
      #expect(StateDifference.firstPath(state, state, isRedacted: isRedacted) == nil)
      #expect(StateDifference(state, state).changes.isEmpty)
      let next = try log.state(at: 21)
      #expect(StateDifference.firstPath(state, next, isRedacted: isRedacted) == "eventCount")
    }
    #expect(
      StateDifference.firstPath(
        try AnalysisHarness.log().state(at: 50),
        try AnalysisHarness.log(.digests(salt: 3)).state(at: 50),
        isRedacted: true
      ) == nil
    )
  }

  @Test("The states of the eventful run that lie far apart are compared without a lost path")
  func eventful() throws {
    let run = try LogHarness.eventfulRun()
    let log = try EventLog(bytes: run.bytes)
    let last = try #require(log.lastSequence)
    let whole = StateDifference(log.header.state, try log.state(at: last))

    #expect(Set(whole.changes.map(\.path)).count == whole.changes.count)
    #expect(whole.changes.contains { $0.path == "cold.parked.entries[r13]" && $0.before == nil })
    let limited = StateDifference(log.header.state, try log.state(at: last), limit: 2)
    #expect(limited.changes == Array(whole.changes.prefix(2)))
  }
}

@Suite("LogDifference")
struct LogDifferenceTests {
  @Test("The same run gives the same log; a redacted one differs in what its header says only")
  func same() throws {
    let log = try AnalysisHarness.log()
    let same = LogDifferenceResult(try LogDifference(log, try AnalysisHarness.log()))
    let redacted = LogDifferenceResult(
      try LogDifference(log, try AnalysisHarness.log(.drops(salt: 5)))
    )

    #expect(same == LogDifferenceResult(isSame: true, count: log.count, headers: []))
    #expect(
      redacted == LogDifferenceResult(isSame: false, count: log.count, headers: ["redaction"])
    )
  }

  private struct LogDifferenceResult: Equatable {
    var isSame: Bool
    var count: Int
    var headers: [String]

    init(isSame: Bool, count: Int, headers: [String]) {
      (self.isSame, self.count, self.headers) = (isSame, count, headers)
    }

    init(_ difference: LogDifference) {
      isSame = difference.isSame && difference.divergence == nil
      count = difference.sameCount
      headers = difference.headers.map(\.path)
    }
  }

  @Test("Where two logs part is told with both texts, what differs, and the counts")
  func parts() throws {
    let first = try AnalysisHarness.log()
    let text = String(decoding: try AnalysisHarness.bytes(), as: UTF8.self)
    let changed = text.replacing("\"code\":27", with: "\"code\":12")
    let second = try EventLog(bytes: Array(changed.utf8), name: "changed")

    let difference = try LogDifference(first, second)

    let divergence = try #require(difference.divergence)
    #expect(divergence.sequence == (try AnalysisHarness.first("split", first)))
    #expect(divergence.first?.contains("limitExceeded") == true)
    #expect(divergence.second?.contains("invalidArguments") == true)
    #expect(divergence.aspects == ["event", "input"])
    #expect(divergence.change?.path == "split.error.code")
    #expect(difference.sameCount == Int(divergence.sequence) - 1)
    #expect(difference.counts.allSatisfy { $0.first == $0.second })
    #expect(difference.render().contains("the logs part at event \(divergence.sequence)"))
  }

  @Test("A log that goes on after the other's end parts there")
  func longer() throws {
    let lines = String(decoding: try AnalysisHarness.bytes(), as: UTF8.self).split(separator: "\n")
    let next = try AnalysisHarness.log().step(15)
    let cut = lines.prefix(next.line - 1).joined(separator: "\n") + "\n"
    let short = try EventLog(bytes: Array(cut.utf8))

    let difference = try LogDifference(short, try AnalysisHarness.log())

    #expect(difference.divergence?.sequence == (short.lastSequence ?? 0) + 1)
    #expect(difference.divergence?.first == nil)
    #expect(difference.divergence?.second != nil)
    #expect(difference.sameCount == short.count && short.count == 14)
  }
}

import CloudSyncCore
import CloudSyncEventLog
import CloudSyncTestSupport
import Testing

@Suite("TimeText")
struct TimeTextTests {
  @Test(
    "Dates are written by the calendar, also before 1970 and at the ends of the range",
    arguments: [
      (0, "1970-01-01T00:00:00.000Z"),
      (1_700_000_000_000_000_000, "2023-11-14T22:13:20.000Z"),
      (951_782_400_250_000_000, "2000-02-29T00:00:00.250Z"),
      (-1, "1969-12-31T23:59:59.999999999Z"),
      (-2_203_891_200_000_000_000, "1900-03-01T00:00:00.000Z"),
      (Int64.max, "2262-04-11T23:47:16.854775807Z"),
      (Int64.min, "1677-09-21T00:12:43.145224192Z"),
    ]
  )
  func dates(_ nanoseconds: Int64, _ text: String) {
    let time = Timestamp(nanoseconds: nanoseconds)
    #expect(TimeText.date(time) == text)
    #expect(nanoseconds == .min || TimeText.time(text, start: .distantPast) == time)
  }

  @Test("Every day reads back as it was written")
  func roundTrip() {
    for day in stride(from: Int64(-100_000), to: 100_000, by: 37) {
      let time = Timestamp(nanoseconds: day * 86_400_000_000_000 + 1_001_000)
      #expect(TimeText.time(TimeText.date(time), start: time) == time)
    }
  }

  @Test("A time of day is the first one that is not before the start")
  func timeOfDay() {
    let start = Timestamp(nanoseconds: 1_700_000_000_000_000_000)
    #expect(TimeText.time("22:13:21", start: start) == start + 1_000_000_000)
    #expect(TimeText.time("22:13:19", start: start) == start + 86_399_000_000_000)
  }

  @Test(
    "Lengths count from the start",
    arguments: [
      ("+5s", 5_000_000_000), ("+1m30s", 90_000_000_000), ("+250ms", 250_000_000),
      ("+0.123456789s", 123_456_789), ("-2", -2_000_000_000), ("+1.5h", 5_400_000_000_000),
    ]
  )
  func lengths(_ text: String, _ nanoseconds: Int64) {
    let start = Timestamp(nanoseconds: 7)
    #expect(TimeText.time(text, start: start) == start + nanoseconds)
  }

  @Test(
    "Other texts are no times",
    arguments: [
      "", "+", "5s", "+s", "+1x", "+1.2.3s", "24:00", "12", "12:60", "2023-13-01", "2023-1-1T",
      "+99999999999999999999s", "9999-01-01", "2023-01-01T12:00:60",
    ]
  )
  func refused(_ text: String) {
    #expect(TimeText.time(text, start: Timestamp(nanoseconds: 0)) == nil)
  }

  @Test("Lengths are written in the unit that suits them")
  func written() {
    let lengths: [Int64] = [0, 900, 850_000_000, 5_250_000_000, 200_000_000_000, 7_500_000_000_000]
    #expect(
      lengths.map(TimeText.length) == [
        "0 s", "900 ns", "850 ms", "5.25 s", "3 min 20 s", "2 h 5 min",
      ]
    )
  }
}

@Suite("StepText")
struct StepTextTests {
  @Test("A line has the offset, the number, the origin, the cause, names, counts and effects")
  func line() throws {
    let log = try AnalysisHarness.log()
    let lines = try AnalysisHarness.all(log).map { $0.line(start: log.header.time) }

    #expect(lines[0] == "+1.000s #1 call: start")
    #expect(
      lines.contains {
        $0.hasPrefix("+1.000s #10 handler after #9: retry 1.3: networkFailure")
          && $0.contains("(came in as workFailure) → wake in 502 ms")
      }
    )
    #expect(lines.contains { $0.contains("3 saved (a b c) → deliver notification 1") })
    #expect(lines.contains { $0.contains("d serverRecordChanged); d decided: save") })
    #expect(lines.contains { $0.contains("1 changed (d), 1 deleted (z), the last page") })
  }

  @Test("What a terminal takes for a command is written as an escape, and long names are cut")
  func hostile() {
    let name = "a\u{1b}[31m\u{202e}\n" + String(repeating: "b", count: 500)
    let operation = ModifyOperation(records: [SessionHarness.record(name)])
    let record = EventRecord(
      sequence: 1,
      time: Timestamp(nanoseconds: 0),
      cause: nil,
      origin: .call,
      event: .doWork(.modify(operation))
    )

    let line = LogStep(record: record).line(start: record.time)

    #expect(line.contains("a\\u{1b}[31m\\u{202e}\\u{a}b"))
    #expect(line.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x202e })
    #expect(line.count < 300)
  }

  @Test("A redacted log has the same lines")
  func redacted() throws {
    let (log, redacted) = (try AnalysisHarness.log(), try AnalysisHarness.log(.drops(salt: 4)))
    let start = log.header.time
    #expect(
      try AnalysisHarness.all(log).map { $0.line(start: start) }
        == AnalysisHarness.all(redacted).map { $0.line(start: start) }
    )
  }
}

@Suite("CausalTree")
struct CausalTreeTests {
  @Test("Why a request was made again: from the call over the failure to the timer")
  func why() throws {
    let log = try AnalysisHarness.log()
    let repeated = try #require(try AnalysisHarness.first("retryWork", log))

    let tree = try CausalTree(of: repeated, in: log)

    #expect(tree.hasRoot && !tree.isCut)
    let words = tree.chain.map { $0.text.split(separator: ": ")[1].prefix { $0 != " " } }
    #expect(words.first == "doWork" && words.suffix(3) == ["retry", "woke", "retryWork"])
    #expect(zip(tree.chain, tree.chain.dropFirst()).allSatisfy { $0.sequence == $1.cause })
    #expect(tree.nodes.map(\.sequence) == [repeated, repeated + 1])
    #expect(tree.nodes[0].children == [repeated + 1])
    #expect(tree.nodes[1].text.contains("workSuccess"))
    let lines = tree.render().split(separator: "\n")
    #expect(lines.count == tree.chain.count + 1)
    #expect(lines.count { $0.hasPrefix("▶ ") } == 1)
  }

  @Test("What follows from a call branches, and everything in it names its cause")
  func branches() throws {
    let log = try AnalysisHarness.log()
    let tree = try CausalTree(of: 1, in: log)

    #expect(tree.chain.count == 1)
    #expect(tree.nodes[0].children == [2, 3])
    for node in tree.nodes.dropFirst() {
      let parent = tree.nodes.first { $0.sequence == node.cause }
      #expect(parent?.children.contains(node.sequence) == true)
    }
    #expect(tree.render().contains("  ├ +1.000s #2 middleware after #1"))
  }

  @Test("A tree is cut where it is too large, and says so")
  func cut() throws {
    let run = try LogHarness.eventfulRun()
    let log = try EventLog(bytes: run.bytes)
    let first = try #require(log.firstSequence)

    let whole = try CausalTree(of: first, in: log)
    let small = try CausalTree(of: first, in: log, limit: 5)

    #expect(whole.nodes.count > 5 && !whole.isCut)
    #expect(small.nodes.map(\.sequence) == whole.nodes.prefix(5).map(\.sequence))
    #expect(small.isCut && small.render().contains("more followed"))
    #expect(throws: LogError.self) { try CausalTree(of: 1_000_000, in: log) }
  }
}

import CloudSyncCore
import CloudSyncEventLog
import Testing

@Suite("LogFilter")
struct LogFilterTests {
  private func names(_ arguments: [String], _ log: EventLog) throws -> [String] {
    let filter = try LogFilter(arguments: arguments, start: log.header.time)
    return try AnalysisHarness.matching(filter, log).map(\.record.event.name)
  }

  @Test("Without conditions every event is wanted; with several all of them must be met")
  func conditions() throws {
    let log = try AnalysisHarness.log()
    #expect(try names([], log).count == log.count)
    #expect(try names(["--kind", "retry,SPLIT"], log) == ["retry", "split", "retry"])
    #expect(
      try names(["--kind", "retry", "--kind", "split", "--origin", "timer"], log) == ["retry"]
    )
    #expect(try names(["--kind", "workFailure"], log) == ["retry", "split"])
    #expect(try names(["--events", "1-3"], log) == ["start", "doWork", "doWork"])
    #expect(try names(["--events", "-2"], log).count == 2)
    #expect(try names(["--events", "5", "--origin", "call"], log).isEmpty)
  }

  @Test("Codes are found in answers and in single records of them, as they came in")
  func codes() throws {
    let log = try AnalysisHarness.log()
    #expect(try names(["--code", "networkFailure"], log) == ["retry"])
    #expect(try names(["--code", "14"], log) == ["settleItems"])
    #expect(try names(["--code", "invalidArguments,27"], log) == ["settleItems", "split"])
    #expect(try names(["--code", "timedOut"], log) == ["retry"])
    #expect(try names(["--code", "9999"], log).isEmpty)
  }

  @Test("A record's events are also the requests that carry it and their responses")
  func record() throws {
    let log = try AnalysisHarness.log()
    #expect(
      try names(["--record", "k"], log)
        == ["doWork", "startWork", "retry", "retryWork", "workSuccess"]
    )
    #expect(
      try names(["--record", "e"], log) == ["doWork", "startWork", "settleItems", "dropParked"]
    )
    var filter = LogFilter()
    filter.record = "k"
    let alone = try AnalysisHarness.all(log).filter(filter.matches).map(\.record.event.name)
    #expect(alone == ["doWork", "workSuccess"])
    filter.zoneID = ZoneID(name: "Other")
    #expect(try AnalysisHarness.matching(filter, log).isEmpty)
  }

  @Test("An operation's events are found by its name and by its number")
  func operation() throws {
    let log = try AnalysisHarness.log()
    let expected = ["doWork", "startWork", "settleItems", "startWork", "workSuccess"]
    #expect(try names(["--operation", "1.2"], log) == expected)
    #expect(try names(["--operation", "2"], log) == expected)
    #expect(try names(["--operation", "2.2"], log).contains("doWork") == false)
    #expect(
      try names(["--operation", "6"], log)
        == ["doWork", "startWork", "workSuccess", "startWork", "workSuccess"]
    )
    #expect(try names(["--operation", "9"], log) == ["doWork", "cancel"])
  }

  @Test("Times are dates, times of day in UTC, or lengths from the start")
  func times() throws {
    let log = try AnalysisHarness.log()
    let window = ["retry", "woke"]
    // The log begins at 22:13:20 UTC.
    let kinds = ["--kind", "retry,woke"]
    #expect(try names(kinds + ["--from", "+341s", "--to", "+6m"], log) == window)
    #expect(try names(kinds + ["--from", "22:19:01", "--to", "22:20"], log) == window)
    #expect(
      try names(kinds + ["--from", "2023-11-14T22:19:01Z", "--to", "2023-11-15"], log) == window
    )
    #expect(try names(kinds + ["--to", "+1.4s"], log) == ["retry"])
  }

  @Test(
    "What cannot be understood is an error that names the option and says what is known",
    arguments: [
      (["--kind", "retri"], "--kind", "workSuccess"),
      (["--origin", "sky"], "--origin", "middleware"),
      (["--code", "nothing"], "--code", "networkFailure"),
      (["--from", "soon"], "--from", "+5s"),
      (["--from", "25:00"], "--from", "+5s"),
      (["--to", "2023-02-30"], "--to", "+5s"),
      (["--events", "9-3"], "--events", "ends before"),
      (["--events", "-"], "--events", "10-20"),
      (["--operation", "one"], "--operation", "1.7"),
      (["--record"], "--record", "missing"),
      (["--sort", "x"], "the filter", "--kind, --origin"),
      (["--from", "+9s", "--to", "+1s"], "--to", "after the last"),
    ]
  )
  func errors(_ arguments: [String], _ option: String, _ hint: String) {
    let error = #expect(throws: LogError.self) {
      try LogFilter(arguments: arguments, start: Timestamp(nanoseconds: 0))
    }
    #expect(error?.code == .filter)
    #expect(error?.description.hasPrefix(option + ": ") == true)
    #expect(error?.reason.contains(hint) == true)
  }

  @Test("A redacted log is filtered alike")
  func redacted() throws {
    let (log, redacted) = (try AnalysisHarness.log(), try AnalysisHarness.log(.drops(salt: 2)))
    for arguments in [["--record", "d"], ["--operation", "4"], ["--code", "27"]] {
      #expect(try names(arguments, log) == names(arguments, redacted))
    }
  }
}

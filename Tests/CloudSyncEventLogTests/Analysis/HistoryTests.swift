import CloudSyncCore
import CloudSyncEventLog
import CloudSyncTestSupport
import Testing

@Suite("RecordHistory")
struct RecordHistoryTests {
  private func kinds(_ name: String, _ log: EventLog) throws -> [HistoryEntry.Kind] {
    try RecordHistory(of: name, in: log).entries.map(\.kind)
  }

  @Test("Every way of a record through the scripted session is told, in order")
  func ways() throws {
    let log = try AnalysisHarness.log()
    #expect(
      try kinds("b", log) == [
        .queued, .sent, .retried, .sent, .saved, .completed, .queued, .givenUp,
      ]
    )
    #expect(
      try kinds("a", log) == [
        .queued, .sent, .retried, .sent, .saved, .completed,
        .queued, .queued, .merged, .sent, .saved, .completed, .completed,
      ]
    )
    #expect(
      try kinds("d", log) == [
        .queued, .sent, .conflict, .resolved, .sent, .saved, .completed, .fetched,
      ]
    )
    #expect(try kinds("e", log) == [.queued, .sent, .refused, .parked, .completed, .dropped])
    #expect(try kinds("j", log) == [.queued, .sent, .split, .sent, .saved, .completed])
    #expect(
      try kinds("k", log) == [
        .queued, .sent, .responseLost, .repeated, .saved, .completed,
      ]
    )
    #expect(try kinds("z", log) == [.fetchedDeletion])
  }

  @Test("A moment has the request, the error's code, the new change tag and the decision")
  func details() throws {
    let log = try AnalysisHarness.log()
    let conflict = try RecordHistory(of: "d", in: log)
    let parked = try RecordHistory(of: "e", in: log)

    #expect(conflict.entries[2].error == "serverRecordChanged")
    #expect(conflict.entries[2].attempt == conflict.entries[1].attempt)
    #expect(conflict.entries[3].text.contains("the resolver said “save”"))
    #expect(conflict.entries[4].text.contains("change tag server"))
    #expect(conflict.entries[5].text.contains("its change tag is server+"))
    #expect(conflict.entries[7].text.contains("page 2"))
    #expect(parked.entries[3].error == "invalidArguments")
    #expect(parked.entries[3].sequence == parked.entries[2].sequence)
    let rendered = conflict.render().split(separator: "\n")
    #expect(rendered.count == 9)
    #expect(rendered[0] == "Record Notes/d")
    #expect(rendered[1].contains("+11.000s #15 queued"))
  }

  @Test("A redacted log tells the same lives")
  func redacted() throws {
    let (log, redacted) = (try AnalysisHarness.log(), try AnalysisHarness.log(.digests(salt: 7)))
    for name in ["a", "b", "d", "e", "j", "k", "z"] {
      #expect(try RecordHistory(of: name, in: log) == RecordHistory(of: name, in: redacted))
    }
  }

  @Test("A name that the log does not have is an error that names it")
  func unknown() throws {
    let log = try AnalysisHarness.log()
    let error = #expect(throws: LogError.self) { try RecordHistory(of: "nobody", in: log) }
    #expect(error?.code == .notFound)
    #expect(error?.reason.contains("nobody") == true)
  }

  @Test("In the eventful run every record that was edited has a history that ends well")
  func eventful() throws {
    let run = try LogHarness.eventfulRun()
    let log = try EventLog(bytes: run.bytes)
    for name in (0..<50).map({ "r\($0)" }) where name != "r13" {
      let history = try RecordHistory(of: name, in: log)
      let last = history.entries.last { [.saved, .parked, .givenUp, .deleted].contains($0.kind) }
      #expect(last?.kind == .saved, "\(history.render())")
      #expect(history.entries.map(\.sequence) == history.entries.map(\.sequence).sorted())
    }
    let refused = try RecordHistory(of: "r13", in: log)
    #expect(refused.entries.contains { $0.kind == .parked && $0.error == "invalidArguments" })
    #expect(run.state.parkedRecords.map(\.recordID.name) == ["r13"])
  }
}

@Suite("OperationHistory")
struct OperationHistoryTests {
  private func kinds(_ number: UInt64, _ log: EventLog) throws -> [HistoryEntry.Kind] {
    try OperationHistory(of: OperationID(epoch: 1, number: number), in: log).entries.map(\.kind)
  }

  @Test("Every way of an operation through the scripted session is told, in order")
  func ways() throws {
    let log = try AnalysisHarness.log()
    #expect(try kinds(1, log) == [.queued, .sent, .retried, .sent, .saved, .completed, .announced])
    #expect(
      try kinds(2, log) == [
        .queued, .sent, .conflict, .resolved, .sent, .saved, .completed, .announced,
      ]
    )
    #expect(try kinds(3, log) == [.queued, .sent, .parked, .saved, .completed, .announced])
    #expect(
      try kinds(4, log) == [
        .queued, .sent, .split, .sent, .saved, .sent, .saved, .completed, .announced,
      ]
    )
    #expect(
      try kinds(5, log) == [
        .queued, .sent, .responseLost, .repeated, .saved, .completed, .announced,
      ]
    )
    #expect(
      try kinds(6, log) == [
        .queued, .sent, .fetched, .announced, .sent, .fetched, .completed, .announced,
      ]
    )
    #expect(try kinds(8, log) == [.queued, .merged, .sent, .saved, .completed, .announced])
    #expect(try kinds(9, log) == [.queued, .cancelled, .givenUp, .announced])
  }

  @Test("The words say which records, how many, and why")
  func words() throws {
    let log = try AnalysisHarness.log()
    let history = try OperationHistory(of: OperationID(epoch: 1, number: 3), in: log)

    #expect(history.mode == .modify)
    #expect(history.entries[2].error == "invalidArguments")
    #expect(history.entries[2].text.hasSuffix(": e"))
    #expect(history.entries[4].text == "1 saved, 0 deleted, 1 not: e")
  }

  @Test("A log that begins while an operation waits says that it was there already")
  func found() throws {
    let bench = SessionHarness()
    let id = try bench.modify([SessionHarness.record("a")])
    bench.world.run()
    let recorder = EventRecorder(.ring(), redactor: .none)
    recorder.attach(to: bench.session)
    bench.start()
    recorder.detach(from: bench.session)
    bench.world.run()
    let log = try EventLog(bytes: Array(try #require(recorder.data(redactor: .none))))

    let expected: [HistoryEntry.Kind] = [.found, .sent, .saved, .completed, .announced]
    #expect(try OperationHistory(of: id, in: log).entries.map(\.kind) == expected)
    #expect(try RecordHistory(of: "a", in: log).entries.first?.kind == .found)
    #expect(throws: LogError.self) {
      try OperationHistory(of: OperationID(epoch: 1, number: 99), in: log)
    }
  }

  @Test("In the eventful run every operation that ended was announced once")
  func eventful() throws {
    let run = try LogHarness.eventfulRun()
    let log = try EventLog(bytes: run.bytes)
    for step in try AnalysisHarness.all(log) {
      guard case .doWork(.modify(let operation)) = step.record.event else { continue }
      let kinds = try OperationHistory(of: operation.id, in: log).entries.map(\.kind)
      #expect(kinds.first == .queued && kinds.last == .announced)
      #expect(kinds.count { $0 == .completed } == 1)
    }
  }
}

import CloudSyncCore
import CloudSyncEventLog
import CloudSyncTestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Recorded sessions for scripts.
enum ScriptHarness {
  /// A log's lines as they would be recorded.
  static func bytes(of log: EventLog) throws -> [UInt8] {
    var lines: [LogLine] = [.header(log.header)]
    try log.forEachStep { step in
      if let input = step.input { lines.append(.input(input)) }
      lines.append(.event(step.record))
      return true
    }
    return LineForm.log(lines.map { LineForm.write($0) })
  }

  /// Records what a test does with a bench.
  static func log(
    _ bench: SessionHarness,
    redactor: Redactor = .none,
    attachingLate: Bool = false,
    before: (SessionHarness) throws -> Void = { _ in },
    _ body: (SessionHarness) throws -> Void
  ) throws -> EventLog {
    let recorder = EventRecorder(.ring(), redactor: redactor)
    try before(bench)
    recorder.attach(to: bench.session)
    try body(bench)
    bench.world.run()
    recorder.detach(from: bench.session)
    bench.world.run()
    return try EventLog(bytes: [UInt8](#require(recorder.data(redactor: redactor))))
  }

  static func eventfulLog(redactor: Redactor = .none) throws -> EventLog {
    try EventLog(bytes: LogHarness.eventfulRun(sink: .ring(), redactor: redactor).bytes)
  }

  /// A session that halts at one refused container after many edits that have nothing to do with it.
  static func haltingLog() throws -> EventLog {
    var script = ScriptedHandler.Script()
    script.modify = { operation, number in
      switch number {
      case 3: .failure(.networkFailure)
      case 9: .failure(.requestRateLimited, retryAfter: .seconds(5))
      case 20: .after(.milliseconds(200), .failure(SyncError(.badContainer, "no such container")))
      default: .after(.milliseconds(100), .success(ScriptedHandler.allSaved(operation)))
      }
    }
    return try log(SessionHarness(script: script)) { bench in
      bench.start()
      for index in 0..<30 {
        let name = "n\(index % 7)"
        try bench.modify([SessionHarness.record(name, ["x": .int64(Int64(index)), "text": "Tea"])])
        if index % 4 == 0 { bench.session.fetch() }
        bench.world.advance(by: .seconds(1))
      }
    }
  }

  /// Values of every kind, and text that has to be escaped, in calls, answers and decisions.
  static func hostileLog(redactor: Redactor) throws -> EventLog {
    let hostile = "\")\n\\(fatalError()) \u{0}\u{202e}*/ \u{65}\u{301} \u{2028}#\"\"\""
    var record = SessionHarness.record("every", everyValue(hostile), tag: hostile)
    record.encryptedKeys = ["text"]
    record.parent = SessionHarness.id("parent\"\\(x)")
    record.creationDate = Timestamp(nanoseconds: -1)
    record.modificationDate = Timestamp(nanoseconds: .max)
    let (sent, server) = (
      record, SessionHarness.record("every", ["text": .string(hostile)], tag: "s1")
    )
    var script = ScriptedHandler.Script()
    script.modify = { operation, number in
      switch number {
      case 0:
        .failure(
          SyncError(
            .partialFailure,
            hostile,
            retryAfter: .nanoseconds(1_234_567),
            itemErrors: [
              ItemFailure(
                sent.recordID,
                SyncError(.serverRecordChanged, hostile, serverRecord: server)
              )
            ]
          )
        )
      case 1: .success(ScriptedHandler.allSaved(operation))
      default: .failure(SyncError(.unknown(77), hostile))
      }
    }
    script.fetch = { _, number in
      number == 0
        ? .failure(.changeTokenExpired)
        : .success(.init(changedRecords: [sent], changeToken: ChangeToken(Data([0, 1, 255]))))
    }
    let bench = SessionHarness(script: script)
    return try log(bench, redactor: redactor) { bench in
      bench.start()
      try bench.session.modify(
        ModifyOperation(
          records: [record],
          checkpointID: UUID(uuidString: "00000000-0000-0000-0000-00000000002A"),
          userInfo: [hostile: hostile],
          ancestors: [server]
        )
      )
      bench.session.fetch(FetchOperation(changeToken: ChangeToken(Data(hostile.utf8))))
      bench.world.advance(by: .seconds(60))
      var other = SessionHarness.record("other", ["x": 1, "gone": .null])
      other.encryptedKeys = ["x"]
      try bench.modify([other])
      bench.world.advance(by: .seconds(60))
    }
  }

  private static func everyValue(_ hostile: String) -> [String: FieldValue] {
    [
      "text": .string(hostile), "min": .int64(.min), "nan": .double(.nan),
      "inf": .double(-.infinity), "zero": .double(-0.0), "tiny": .double(.leastNonzeroMagnitude),
      "odd": .double(Double(bitPattern: 0x7ff8_0000_0000_beef)),
      "date": .timestamp(Timestamp(nanoseconds: .min)), "null": .null,
      "short": .data(Data([0, 200])), "long": .data(Data((0..<200).map { UInt8($0) })),
      "plain": .data(Data("\"\\(a)".utf8)), "empty": .data(Data()),
      "link": .reference(
        Reference(
          recordID: RecordID(name: "a\"", zoneID: ZoneID(name: "Z", scope: .shared)),
          action: .deleteSelf
        )
      ),
      "file": .asset(
        Asset(sha256: Data(repeating: 7, count: 32), byteCount: 12_345, location: hostile)
      ),
      "place": .location(
        Location(
          latitude: -0.0,
          longitude: .nan,
          speed: 3,
          timestamp: Timestamp(nanoseconds: 5)
        )
      ),
      "list": .list([.string(hostile), .int64(1), .double(1), .list([])]),
    ]
  }
}

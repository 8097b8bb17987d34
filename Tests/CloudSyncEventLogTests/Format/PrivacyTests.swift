import CloudSyncCore
import CloudSyncEventLog
import CloudSyncTestSupport
import Foundation
import Testing

/// What a redacted log hides besides values, and what it need not hide.
@Suite("Privacy of logs")
struct PrivacyTests {
  private static let zoneID = ZoneID(name: "Notes", owner: "Secret owner", scope: .shared)

  /// A session in somebody else's zone, in which records are saved, parked, deleted and fetched.
  private static func log(_ redactor: Redactor) throws -> String {
    let world = VirtualEnvironment()
    var script = ScriptedHandler.Script()
    script.modify = { operation, _ in
      let failed = operation.records.prefix(3)
        .map {
          ItemFailure($0.recordID, SyncError(.invalidArguments, "Secret reason"))
        }
      return .success(
        .init(
          savedRecords: Array(operation.records.dropFirst(3)),
          deletedRecordIDs: operation.recordIDsToDelete,
          failures: failed
        )
      )
    }
    script.fetch = { _, _ in
      .success(
        .init(
          changedRecords: [record("fetched")],
          changeToken: ChangeToken(Data("stuck".utf8)),
          hasMore: true
        )
      )
    }
    let handler = ScriptedHandler(in: world, limits: RequestLimits(), script: script)
    let session = CloudSyncSession(
      operationHandler: handler,
      zoneID: zoneID,
      environment: world.environment
    )
    let recorder = EventRecorder(.ring())
    recorder.attach(to: session)
    session.start()
    world.run()
    try session.modify(
      ModifyOperation(
        records: (0..<9).map { record("r\($0)") },
        recordIDsToDelete: [RecordID(name: "old", zoneID: zoneID)],
        userInfo: ["Secret key": "Secret value", "Secret other": ""]
      )
    )
    world.advance(by: .seconds(9))
    session.fetch()
    world.advance(by: .seconds(9))
    session.stop()
    world.run()
    recorder.detach(from: session)
    world.run()
    return String(decoding: try #require(recorder.data(redactor: redactor)), as: UTF8.self)
  }

  private static func record(_ name: String) -> Record {
    var record = Record(recordType: "Note", recordID: RecordID(name: name, zoneID: zoneID))
    record["title"] = .string("Secret \(name)")
    record["empty"] = .null
    record["parent"] = .reference(
      Reference(recordID: RecordID(name: "r0", zoneID: zoneID), action: .none)
    )
    record.parent = RecordID(name: "r0", zoneID: zoneID)
    return record
  }

  @Test(
    "Owners of zones and keys of user info are hidden, and the log is as good as before",
    arguments: [Redactor.digests(salt: 1), .drops(salt: 1)]
  )
  func hidden(redactor: Redactor) throws {
    let plain = try Self.log(.none)
    for secret in ["owner", "key", "value", "other", "reason", "r1"] {
      #expect(plain.contains("Secret \(secret)"), "\(secret) is not in the plain log")
    }
    let text = try Self.log(redactor)
    #expect(!text.contains("Secret"))
    let log = try EventLog(bytes: Array(text.utf8))
    #expect(log.mismatch == nil && log.alteration == nil)
    #expect(try Replay.rerun(log).divergences.map(\.description) == [])
    #expect(log.header.state.zoneID.owner != "")
    #expect(try log.state(at: try #require(log.lastSequence)).parkedRecords.count == 3)
  }

  @Test("The owner that stands for whoever is signed in stays")
  func ownZone() throws {
    let run = try LogHarness.eventfulRun(sink: .ring(), redactor: .digests(salt: 1))
    let log = try EventLog(bytes: run.bytes)
    #expect(log.header.state.zoneID == SessionHarness.zoneID)
  }

  @Test("The library's own messages stay, those of handlers and clouds do not")
  func messages() throws {
    let text = try Self.log(.digests(salt: 1))
    #expect(text.contains("the session was stopped"))
    for message in [
      "the handler did not answer in time", "a modify was answered as a fetch",
      "the change token did not advance over 3 pages although more is to come",
      "100 records in a row were refused; the last error is invalidArguments",
    ] {
      #expect(LibraryMessages.contain(message))
    }
    for message in [
      "", "no network", "the handler did not answer", "a Jane Doe was answered as a fetch",
      "a modify was answered as a (…)", "the session was stopped ", "The session was stopped",
    ] {
      #expect(!LibraryMessages.contain(message))
    }
  }

  /// New messages have to be added to `LibraryMessages`, or logs hide them.
  @Test("Every message that the core gives an error is known")
  func allMessages() throws {
    let core = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("Sources/CloudSyncCore")
    let files = try #require(FileManager.default.enumerator(atPath: core.path))
    let pattern =
      /SyncError\(\s*\.\w+,\s*"((?:[^"\\]|\\\((?:[^()"]|\([^()]*\)|"[^"]*")*\))*)"(?:\s*\+\s*"((?:[^"\\]|\\\((?:[^()"]|\([^()]*\)|"[^"]*")*\))*)")?/
    let interpolation = /\\\((?:[^()"]|\([^()]*\)|"[^"]*")*\)/
    var (count, assignments) = (0, 0)
    for case let name as String in files where name.hasSuffix(".swift") {
      let source = try String(contentsOf: core.appendingPathComponent(name), encoding: .utf8)
      let assigned = /(?:message|reason) = "((?:[^"\\]|\\\((?:[^()"]|\([^()]*\)|"[^"]*")*\))*)"/
      for match in source.matches(of: assigned) {
        let message = match.1.replacing(interpolation, with: "7")
        if message.isEmpty || message == "7" { continue }
        assignments += 1
        #expect(
          LibraryMessages.contain("\(message)"),
          "\(name): add “\(match.1)” to Errors/LibraryMessages.swift"
        )
      }
      for match in source.matches(of: pattern) {
        let text = "\(match.1)\(match.2 ?? "")"
        let message = text.replacing(interpolation, with: "7")
        count += 1
        #expect(
          LibraryMessages.contain("\(message)"),
          "\(name): add “\(text)” to Errors/LibraryMessages.swift"
        )
      }
    }
    #expect(count > 15)
    #expect(assignments > 2)
  }
}

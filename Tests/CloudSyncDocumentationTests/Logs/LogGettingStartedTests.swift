// SAMPLE: CloudSyncEventLog/GettingStarted.md
import CloudSyncEventLog
import CloudSyncLocalCloud
import CloudSyncSession
import Foundation
import Testing

@Suite("Getting started with event logs")
struct LogGettingStartedTests {
  @Test("A log tells why a note was not saved, and runs the session again")
  func tells() async throws {
    let (owner, zone) = (AccountIdentity("owner"), ZoneID(name: "Notes"))
    let cloud = LocalCloud()
    try cloud.setQuota(1, account: owner)  // what goes wrong: the user's storage is full
    let connection = cloud.connect(device: "mac", account: owner, zoneID: zone)
    let session = CloudSyncSession(operationHandler: connection, zoneID: zone)
    let recorder = EventRecorder(.ring())  // the last events, in memory
    recorder.attach(to: session)

    session.start()
    var note = Record(recordType: "Note", recordID: RecordID(name: "1", zoneID: zone))
    note["text"] = "Buy milk"
    _ = try await session.perform(ModifyOperation(records: [note]))

    let process = ProcessInfo.processInfo.processIdentifier
    let path = FileManager.default.temporaryDirectory.path + "/session-\(process).jsonl"
    defer { try? FileManager.default.removeItem(atPath: path) }
    try recorder.save(to: path)  // without the note's text

    let log = try EventLog(path: path)
    let last = try log.state(at: try #require(log.lastSequence))
    #expect(last.parkedRecords.map(\.error.code) == [.quotaExceeded])
    #expect(try Replay.rerun(log).isFaithful)
  }
}
// SAMPLE: end

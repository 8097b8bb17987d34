import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSimulator
import Testing

@Suite("Records that the cloud says to lack")
struct DeniedRecordTests {
  private static let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT)"
  private static let notes = "SELECT id, title FROM notes ORDER BY id"

  /// Two devices, and what comes between the Mac and the cloud.
  private static func devices() throws -> (
    SyncHarness, mac: SyncHarness.Device, phone: SyncHarness.Device, Way
  ) {
    let bench = SyncHarness()
    let way = Way()
    let phone = try bench.device("phone", schema, tables: ["notes"])
    bench.handler = { ForgetfulHandler(way: way, handler: $0) }
    let mac = try bench.device("mac", schema, tables: ["notes"])
    return (bench, mac, phone, way)
  }

  @Test("An edit is not lost with its row because the cloud has said once that it lacks the record")
  func deniedOnce() throws {
    let (bench, mac, phone, way) = try Self.devices()
    try mac.execute("INSERT INTO notes VALUES('a', 'A'), ('b', 'B')")
    try bench.sync(mac, phone)
    way.denials.withLock { $0 = 1 }
    try mac.execute("UPDATE notes SET title = 'A2' WHERE id = 'a'")
    try bench.sync(mac, phone)

    #expect(way.denials.withLock { $0 } == 0)
    #expect(try mac.lines(Self.notes) == ["'a'|'A2'", "'b'|'B'"])
    #expect(try phone.lines(Self.notes) == mac.lines(Self.notes))
    #expect(try bench.unclean(mac) == [])
  }

  @Test("Nor because a look-up meets another zone, into which nobody has uploaded it yet")
  func lookedUpInAnotherZone() throws {
    let (bench, mac, phone, way) = try Self.devices()
    try mac.execute("INSERT INTO notes VALUES('a', 'A')")
    try bench.sync(mac)
    try bench.sync(phone)
    phone.engine.stop()
    try mac.execute("INSERT INTO notes VALUES('b', 'B')")
    try bench.sync(mac)
    way.denials.withLock { $0 = 1 }
    try mac.execute("UPDATE notes SET title = 'B2' WHERE id = 'b'")
    mac.engine.sendChanges()
    bench.world.advance(by: .milliseconds(900))
    #expect(try mac.lines("SELECT record_name FROM cloudsync_unfetched") == ["'b:notes'"])
    way.isAway.withLock { $0 = true }
    try bench.deleteZone()
    try bench.sync(phone)
    way.isAway.withLock { $0 = false }
    try bench.sync(mac, phone)

    #expect(try mac.lines(Self.notes) == ["'a'|'A'", "'b'|'B2'"])
    #expect(try phone.lines(Self.notes) == mac.lines(Self.notes))
  }

  @Test("A row whose record is gone goes, also where the feed does not tell of that")
  func silentFeed() throws {
    let (bench, mac, phone, way) = try Self.devices()
    try mac.execute("INSERT INTO notes VALUES('a', 'A'), ('b', 'B')")
    try bench.sync(mac, phone)
    way.hidesDeletions.withLock { $0 = true }
    try bench.remove("a:notes")
    try bench.sync(mac, phone)
    #expect(try mac.lines(Self.notes) == ["'a'|'A'", "'b'|'B'"])
    try mac.execute("UPDATE notes SET title = 'A2' WHERE id = 'a'")
    try bench.sync(mac, phone)

    #expect(try mac.lines(Self.notes) == ["'b'|'B'"])
    #expect(try phone.lines(Self.notes) == ["'b'|'B'"])
    #expect(try bench.unclean(mac) == [])
  }
}

/// What a handler keeps from its device, and what it makes up.
private final class Way: Sendable {
  /// How many requests more are told that the cloud lacks the records which they change.
  let denials = Locked(0)
  let hidesDeletions = Locked(false)
  let isAway = Locked(false)
}

private struct ForgetfulHandler: WorkHandler {
  let way: Way
  let handler: any OperationHandler

  func handle(_ work: SyncWork, context: RequestContext, completion: @escaping Completion) {
    if way.isAway.withLock({ $0 }) {
      return completion(.failure(SyncError(.networkUnavailable)))
    }
    switch work {
    case .modify(let operation) where isDenied(operation):
      let failures = operation.records.map { record in
        ItemFailure(record.recordID, SyncError(.unknownItem))
      }
      completion(.failure(SyncError(.partialFailure, itemErrors: failures)))
    case .fetch where way.hidesDeletions.withLock({ $0 }):
      handler.perform(work, context: context) { result in
        completion(result.map(withoutDeletions))
      }
    default: handler.perform(work, context: context, completion: completion)
    }
  }

  private func isDenied(_ operation: ModifyOperation) -> Bool {
    guard operation.records.contains(where: { $0.changeTag != nil }) else { return false }
    return way.denials.withLock { denials in
      defer { denials = max(0, denials - 1) }
      return denials > 0
    }
  }

  private func withoutDeletions(_ result: SyncWork.Result) -> SyncWork.Result {
    guard case .fetch(var page) = result else { return result }
    page.deletedRecords = []
    return .fetch(page)
  }
}

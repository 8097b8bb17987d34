import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import CloudSyncSimulator
import Testing

/// A zone has a record of the engine's that tells it from the zone after it.
///
/// Should the cloud refuse that record, nobody knows which zone the rows are of.
@Suite("A zone that nothing is told of")
struct UntoldZoneTests {
  @Test(
    "Rows of a zone that nobody told of are made again when another zone does not have them",
    arguments: [true, false]
  )
  func keepsRows(isToldLater: Bool) throws {
    let bench = SyncHarness()
    let refuses = Locked(true)
    bench.handler = { RefusingHandler($0, refuses: refuses) }
    let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT)"
    let mac = try bench.device("mac", schema, tables: ["notes"])
    let phone = try bench.device("phone", schema, tables: ["notes"])
    try mac.execute("INSERT INTO notes VALUES('m', 'M')")
    try bench.sync(mac)
    mac.engine.stop()
    try phone.execute("INSERT INTO notes VALUES('p', 'P')")
    try bench.sync(phone)
    phone.engine.stop()
    try bench.deleteZone()
    refuses.withLock { $0 = !isToldLater }
    try bench.sync(mac)
    #expect(try bench.cloudNames() == ["m:notes"])
    try bench.sync(phone, mac)

    #expect(try bench.cloudNames() == ["m:notes", "p:notes"])
    #expect(try mac.lines("SELECT id FROM notes ORDER BY id") == ["'m'", "'p'"])
    #expect(try phone.lines("SELECT id FROM notes ORDER BY id") == ["'m'", "'p'"])
  }
}

/// Refuses the record that tells of the zone.
private final class RefusingHandler: WorkHandler {
  private let handler: any OperationHandler
  private let refuses: Locked<Bool>

  init(_ handler: any OperationHandler, refuses: Locked<Bool>) {
    self.handler = handler
    self.refuses = refuses
  }

  func handle(_ work: SyncWork, context: RequestContext, completion: @escaping Completion) {
    if case .modify(let operation) = work, refuses.withLock({ $0 }),
      operation.records.contains(where: { $0.recordID.name == "cloudsync_zone" })
    {
      return completion(.failure(SyncError(.invalidArguments, "no such type")))
    }
    handler.perform(work, context: context, completion: completion)
  }
}

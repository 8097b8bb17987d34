import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSimulator
import Testing

@Suite("Rows that stop matching while they are on their way")
struct RowFilterAnswerTests {
  private static let schema = """
    CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL, private INTEGER NOT NULL DEFAULT 0);
    CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, list TEXT REFERENCES lists(id), title TEXT)
    """

  @Test(
    "A response that does not count leaves no row pending that stays here; the next fetch tells what the cloud has"
  )
  func droppedAnswer() throws {
    let bench = SyncHarness()
    let refuses = Locked(true)
    bench.handler = { RefusingHandler(handler: $0, refuses: refuses) }
    let mac = try bench.device(
      "mac",
      Self.schema,
      tables: ["lists", "notes"],
      options: RowFilterTests.options(of: "lists")
    )
    try mac.execute(
      "INSERT INTO lists VALUES('l', 0); INSERT INTO notes VALUES('n', 'l', '')",
      at: 1
    )
    try mac.engine.start()
    bench.world.advance(by: .seconds(20))
    try mac.execute("UPDATE lists SET private = 1", at: 2)
    mac.engine.sendChanges()
    bench.world.advance(by: .seconds(5))
    // They are on their way when everything is fetched anew, without them: whatever the response says may be older.
    try bench.cloud.expireTokens(bench.zoneID, account: AccountIdentity("owner"))
    mac.engine.fetchChanges()
    bench.world.advance(by: .seconds(20))
    refuses.withLock { $0 = false }
    bench.world.advance(by: .seconds(7_200))
    // Both matched when they were sent.
    #expect(try bench.cloudNames() == ["l:lists", "n:notes"])
    #expect(try bench.unclean(mac) == ["'l:lists'|'local'|NULL", "'n:notes'|'local'|NULL"])
    #expect(mac.activity?.pendingRows == 0)
    #expect(mac.activity?.explanation == "Everything is synced.")

    mac.engine.fetchChanges()
    bench.world.advance(by: .seconds(20))
    #expect(try bench.unclean(mac) == ["'l:lists'|'local'|NULL"])
    try mac.execute("UPDATE notes SET title = 'N'", at: 3)
    try bench.sync(mac)
    #expect(try bench.unclean(mac) == ["'l:lists'|'local'|NULL"])
  }
}

/// Refuses rows for the time being, one by one.
private struct RefusingHandler: WorkHandler {
  let handler: any OperationHandler
  let refuses: Locked<Bool>

  func handle(_ work: SyncWork, context: RequestContext, completion: @escaping Completion) {
    guard case .modify(let operation) = work, refuses.withLock({ $0 }) else {
      return handler.perform(work, context: context, completion: completion)
    }
    let failures = operation.records.map { record in
      ItemFailure(record.recordID, SyncError(.serviceUnavailable))
    }
    completion(.failure(SyncError(.partialFailure, itemErrors: failures)))
  }
}

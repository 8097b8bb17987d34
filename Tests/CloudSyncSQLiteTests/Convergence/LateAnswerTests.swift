import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import CloudSyncSimulator
import Testing

@Suite("Answers that come after something else has become of a row")
struct LateAnswerTests {
  /// Loses the first answer to a save.
  private final class ForgetfulHandler: WorkHandler {
    private let handler: any OperationHandler
    private let isForgetting = Locked(true)

    init(_ handler: any OperationHandler) { self.handler = handler }

    func handle(_ work: SyncWork, context: RequestContext, completion: @escaping Completion) {
      guard case .modify = work, isForgetting.withLock({ $0 }) else {
        return handler.perform(work, context: context, completion: completion)
      }
      isForgetting.withLock { $0 = false }
      handler.perform(work, context: context) { _ in
        completion(.failure(SyncError(.networkFailure)))
      }
    }
  }

  @Test("A row that was compared before its save is acknowledged is no difference")
  func compared() async throws {
    let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT)"
    let bench = SyncHarness()
    let mac = try bench.device("mac", schema, tables: ["notes"])
    bench.handler = { ForgetfulHandler($0) }
    let phone = try bench.device(
      "phone",
      schema + "; INSERT INTO notes VALUES('p', 'P')",
      tables: ["notes"]
    )
    try mac.execute("INSERT INTO notes VALUES('m', 'M')")
    try phone.execute("INSERT INTO notes VALUES('c', 'C')")
    try bench.sync(mac)
    try SyncEngine.withoutCapture(of: ["notes"], in: phone.database) {
      try phone.database.execute(
        """
        CREATE TABLE fresh(id TEXT PRIMARY KEY NOT NULL, title TEXT);
        INSERT INTO fresh SELECT * FROM notes;
        DROP TABLE notes;
        ALTER TABLE fresh RENAME TO notes;
        """
      )
    }
    try bench.restart(phone, ["notes"])
    try bench.sync(mac, phone)
    try bench.sync(mac, phone)

    #expect(try phone.lines("SELECT id FROM notes ORDER BY id") == ["'c'", "'m'", "'p'"])
    #expect(
      try mac.lines("SELECT * FROM notes ORDER BY id")
        == phone.lines("SELECT * FROM notes ORDER BY id")
    )
    for device in [mac, phone] {
      #expect(try await device.engine.verify().differences.isEmpty, "\(device.name)")
    }
  }

  /// Tells one answer for two rows only when a fetch has come between: the cloud is too busy for one of them.
  private final class BusyHandler: WorkHandler {
    private let handler: any OperationHandler
    private let isBusy = Locked(true)

    init(_ handler: any OperationHandler) { self.handler = handler }

    func handle(_ work: SyncWork, context: RequestContext, completion: @escaping Completion) {
      guard case .modify(let operation) = work, operation.records.count == 2,
        isBusy.withLock({ $0 })
      else { return handler.perform(work, context: context, completion: completion) }
      isBusy.withLock { $0 = false }
      let single = ModifyOperation(
        records: operation.records.filter { $0.recordID.name.hasPrefix("a") }
      )
      let others = operation.records.filter { !$0.recordID.name.hasPrefix("a") }
      handler.perform(.modify(single), context: context) { result in
        var failures = others.map { ItemFailure($0.recordID, SyncError(.zoneBusy)) }
        if case .failure(let error) = result { failures += error.itemErrors }
        completion(.failure(SyncError(.partialFailure, itemErrors: failures)))
      }
    }
  }

  @Test("A conflict that is told when its record is gone brings no row back")
  func overtakenConflict() throws {
    let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT)"
    let bench = SyncHarness()
    let mac = try bench.device("mac", schema, tables: ["notes"])
    bench.handler = { BusyHandler($0) }
    let phone = try bench.device("phone", schema, tables: ["notes"])
    try mac.execute("INSERT INTO notes VALUES('a', 'A'), ('b', 'B')")
    try bench.sync(mac, phone)
    try mac.execute("UPDATE notes SET title = 'A2' WHERE id = 'a'")
    mac.engine.sendChanges()
    bench.world.advance(by: .seconds(5))
    try phone.execute("UPDATE notes SET title = title || '3'")
    phone.engine.sendChanges()
    bench.world.advance(by: .milliseconds(100))
    let owner = AccountIdentity("owner")
    let console = bench.cloud.connect(device: "console", account: owner, zoneID: bench.zoneID)
    let context = RequestContext(
      attempt: Attempt(epoch: 1, number: 1),
      writeToken: WriteToken(nonce: 99, number: 1),
      deadline: .distantFuture
    )
    let gone = RecordID(name: "a:notes", zoneID: bench.zoneID)
    console.handle(modifyOperation: ModifyOperation(recordIDsToDelete: [gone]), context: context) {
      _ in
    }
    bench.world.advance(by: .seconds(1))
    phone.engine.fetchChanges()
    bench.world.advance(by: .seconds(90))
    try bench.sync(mac, phone)

    #expect(try phone.lines("SELECT * FROM notes") == mac.lines("SELECT * FROM notes"))
    #expect(try bench.cloudNames() == ["b:notes"])
    #expect(try phone.lines("SELECT id FROM notes") == ["'b'"])
  }
}

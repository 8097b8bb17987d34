import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import CloudSyncSimulator
import Testing

@Suite("Answers that come after something else has become of a row")
struct LateAnswerTests {
  /// Loses the first response to a save.
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

  /// Sends one of two rows only, and answers when it is told to: the other is to be sent again, and the session tells
  /// of both together.
  private final class PartingHandler: WorkHandler {
    private let handler: any OperationHandler
    private let isWhole = Locked(true)
    private let isBusy = Locked(false)
    private let answer = Locked<(@Sendable () -> Void)?>(nil)

    init(_ handler: any OperationHandler) { self.handler = handler }

    func partNext() { isWhole.withLock { $0 = false } }

    /// Tells what became of the one row; false if none was sent.
    func tell() -> Bool {
      guard let answer = answer.withLock({ $0 }) else { return false }
      // A fetch has its turn before the rest is saved.
      isBusy.withLock { $0 = true }
      answer()
      return true
    }

    func handle(_ work: SyncWork, context: RequestContext, completion: @escaping Completion) {
      if case .modify = work, isBusy.withLock({ $0 }) {
        isBusy.withLock { $0 = false }
        return completion(.failure(SyncError(.zoneBusy)))
      }
      guard case .modify(let operation) = work, operation.records.count == 2,
        !isWhole.withLock({ $0 })
      else { return handler.perform(work, context: context, completion: completion) }
      isWhole.withLock { $0 = true }
      let first = ModifyOperation(records: [operation.records[0]])
      let other = ItemFailure(operation.records[1].recordID, SyncError(.batchRequestFailed))
      handler.perform(.modify(first), context: context) { [answer] result in
        var response = ModifyOperation.Response(failures: [other])
        switch result {
        case .success(.modify(let saved)): response.savedRecords = saved.savedRecords
        case .success: break
        case .failure(let error): response.failures += error.itemErrors
        }
        answer.withLock { [response] in $0 = { completion(.success(.modify(response))) } }
      }
    }
  }

  private static let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT)"

  private func partingDevice(
    of bench: SyncHarness
  ) throws -> (phone: SyncHarness.Device, handler: PartingHandler) {
    let handlers = Locked<[PartingHandler]>([])
    bench.handler = { handler in
      let parting = PartingHandler(handler)
      handlers.withLock { $0.append(parting) }
      return parting
    }
    let phone = try bench.device("phone", Self.schema, tables: ["notes"])
    return (phone, try #require(handlers.withLock { $0.first }))
  }

  @Test("A row that was saved in a zone that is gone is saved again, also if that is told late")
  func saveOfFormerZone() throws {
    let bench = SyncHarness()
    let mac = try bench.device("mac", Self.schema, tables: ["notes"])
    let (phone, handler) = try partingDevice(of: bench)
    let sent = Locked(0)
    phone.engine.activity.sink { activity in sent.withLock { $0 = activity.counts.sent } }
    try mac.execute("INSERT INTO notes VALUES('m', 'M')")
    try bench.sync(mac, phone)
    #expect(sent.withLock { $0 } == 0)
    handler.partNext()
    try phone.execute("INSERT INTO notes VALUES('a', 'A'), ('b', 'B')")
    phone.engine.sendChanges()
    bench.world.advance(by: .seconds(1))
    try bench.deleteZone()
    try bench.sync(mac)
    phone.engine.fetchChanges()
    bench.world.advance(by: .seconds(1))
    #expect(handler.tell())
    bench.world.advance(by: .seconds(90))
    try bench.sync(mac, phone)

    #expect(try bench.cloudNames() == ["a:notes", "b:notes", "m:notes"])
    // One was saved in the new zone before it was known to be a new one.
    #expect(sent.withLock { $0 } >= 2)
    #expect(try phone.lines("SELECT id FROM notes ORDER BY id") == ["'a'", "'b'", "'m'"])
    #expect(try mac.lines("SELECT id FROM notes ORDER BY id") == ["'a'", "'b'", "'m'"])
  }

  /// Has an edit meet the record `a`, which is removed then, and tells the conflict when fetches have told of that.
  private func meetAndRemove(
    _ edit: String,
    by phone: SyncHarness.Device,
    _ handler: PartingHandler,
    of bench: SyncHarness,
    fetching devices: [SyncHarness.Device]
  ) throws {
    handler.partNext()
    try phone.execute(edit)
    phone.engine.sendChanges()
    bench.world.advance(by: .seconds(1))
    try bench.remove("a:notes")
    for device in devices { device.engine.fetchChanges() }
    bench.world.advance(by: .seconds(1))
    #expect(handler.tell())
    bench.world.advance(by: .seconds(90))
  }

  @Test("A conflict that is told when its record is gone brings no row back")
  func overtakenConflict() throws {
    let bench = SyncHarness()
    let mac = try bench.device("mac", Self.schema, tables: ["notes"])
    let (phone, handler) = try partingDevice(of: bench)
    try mac.execute("INSERT INTO notes VALUES('a', 'A'), ('b', 'B')")
    try bench.sync(mac, phone)
    try mac.execute("UPDATE notes SET title = 'A2' WHERE id = 'a'")
    mac.engine.sendChanges()
    bench.world.advance(by: .seconds(5))
    let edit = "UPDATE notes SET title = title || '3'"
    try meetAndRemove(edit, by: phone, handler, of: bench, fetching: [phone])
    try bench.sync(mac, phone)

    #expect(try phone.lines("SELECT * FROM notes") == mac.lines("SELECT * FROM notes"))
    #expect(try bench.cloudNames() == ["b:notes"])
    #expect(try phone.lines("SELECT id FROM notes") == ["'b'"])
  }

  @Test(
    "A row that was inserted beside a record which is gone when that is told stays as it was inserted"
  )
  func overtakenConflictOfInsertion() throws {
    let bench = SyncHarness()
    let mac = try bench.device("mac", Self.schema, tables: ["notes"])
    let (phone, handler) = try partingDevice(of: bench)
    try bench.sync(mac, phone)
    // By another clock it is newer than what the phone inserts.
    try mac.execute("INSERT INTO notes VALUES('a', 'A')", at: 1_900_000_000_000)
    mac.engine.sendChanges()
    bench.world.advance(by: .seconds(5))
    let insertion = "INSERT INTO notes VALUES('a', 'B'), ('c', 'C')"
    try meetAndRemove(insertion, by: phone, handler, of: bench, fetching: [phone, mac])
    try bench.sync(mac, phone)

    #expect(try mac.lines("SELECT * FROM notes ORDER BY id") == ["'a'|'B'", "'c'|'C'"])
    #expect(try phone.lines("SELECT * FROM notes ORDER BY id") == ["'a'|'B'", "'c'|'C'"])
  }

  @Test(
    "An operation that is answered as a whole, later, does not count for a record that is gone since",
    arguments: [false, true]
  )
  func answeredAsWhole(startsOver: Bool) throws {
    let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT)"
    let (bench, mac, phone) = try SyncHarness.pair(schema, tables: ["notes"])
    try bench.sync(mac, phone)
    bench.cloud.options.refusal = { recordID in
      recordID.name == "b:notes" ? SyncError(.zoneBusy) : nil
    }
    bench.cloud.options.isAtomic = false
    try mac.execute("INSERT INTO notes VALUES('a', 'A'), ('b', 'B')")
    mac.engine.sendChanges()
    bench.world.advance(by: .seconds(1))
    #expect(try bench.cloudNames() == ["a:notes"])
    try bench.remove("a:notes")
    if startsOver { try bench.cloud.expireTokens(bench.zoneID, account: AccountIdentity("owner")) }
    mac.engine.fetchChanges()
    bench.world.advance(by: .seconds(2))
    bench.cloud.options.refusal = nil
    try bench.sync(mac, phone)

    #expect(try mac.lines("SELECT id FROM notes ORDER BY id") == ["'a'", "'b'"])
    #expect(try phone.lines("SELECT id FROM notes ORDER BY id") == ["'a'", "'b'"])
    #expect(try bench.cloudNames() == ["a:notes", "b:notes"])
    #expect(try bench.unclean(mac) == [])
  }
}

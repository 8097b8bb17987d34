import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import CloudSyncSimulator
import Testing

@Suite("A zone that is lost")
struct LostZoneTests {
  private static let schema = """
    CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL, title TEXT);
    CREATE TABLE notes(
      id TEXT PRIMARY KEY NOT NULL, list TEXT REFERENCES lists(id), title TEXT, stars INTEGER
    );
    """
  private static let tables = ["lists", "notes"]
  private static let notes = "SELECT id, list, title, stars FROM notes ORDER BY id"
  private let owner = AccountIdentity("owner")

  private func options(
    _ decide: (@Sendable (ZoneLoss) -> ZoneLossDecision)? = nil
  ) -> SyncEngineOptions {
    var options = SyncEngineOptions()
    options.zoneLost = decide
    return options
  }

  @Test(
    "Rows stay and are uploaded again when the zone was deleted or its encrypted data reset",
    arguments: [ZoneDeletionReason.deleted, .encryptedDataReset]
  )
  func uploadsAgain(reason: ZoneDeletionReason) throws {
    let bench = SyncHarness()
    let mac = try bench.device("mac", Self.schema, tables: Self.tables)
    let phone = try bench.device("phone", Self.schema, tables: Self.tables)
    try mac.execute(
      """
      INSERT INTO lists VALUES('l', 'L');
      INSERT INTO notes VALUES('a', 'l', 'A', 1), ('b', 'l', 'B', 2), ('c', NULL, 'C', 3);
      """
    )
    try bench.sync(mac, phone)
    try bench.cloud.deleteZone(bench.zoneID, account: owner, reason: reason)
    try mac.execute(
      "UPDATE notes SET title = 'A2' WHERE id = 'a'; DELETE FROM notes WHERE id = 'b'"
    )
    try phone.execute("INSERT INTO notes VALUES('d', 'l', 'D', 4)")
    try bench.sync(mac, phone, mac)

    let expected = ["'a'|'l'|'A2'|1", "'c'|NULL|'C'|3", "'d'|'l'|'D'|4"]
    #expect(try mac.lines(Self.notes).filter { !$0.hasPrefix("'b'") } == expected)
    #expect(try phone.lines(Self.notes) == mac.lines(Self.notes))
    #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [])
    #expect(
      try Set(bench.cloudNames()).isSuperset(of: ["a:notes", "c:notes", "d:notes", "l:lists"])
    )
  }

  @Test("A deletion that was not sent is sent when somebody else has uploaded the row again")
  func deletion() throws {
    let bench = SyncHarness()
    let mac = try bench.device("mac", Self.schema, tables: Self.tables)
    let phone = try bench.device("phone", Self.schema, tables: Self.tables)
    try mac.execute("INSERT INTO notes(id, title) VALUES('a', 'A'), ('b', 'B')")
    try bench.sync(mac, phone)
    phone.engine.stop()
    try phone.execute("DELETE FROM notes WHERE id = 'a'")
    try bench.cloud.deleteZone(bench.zoneID, account: owner)
    try bench.sync(mac)
    try bench.sync(phone, mac)

    #expect(try phone.lines("SELECT id FROM notes") == ["'b'"])
    #expect(try mac.lines("SELECT id FROM notes") == ["'b'"])
    #expect(try bench.cloudNames() == ["b:notes"])
  }

  @Test("A zone that the user has purged: the app is asked, nothing goes, edits are captured")
  func purged() throws {
    let bench = SyncHarness()
    let mac = try bench.device("mac", Self.schema, tables: Self.tables)
    try mac.execute("INSERT INTO notes(id, title) VALUES('a', 'A')")
    try bench.sync(mac)
    let questions = Locked<[SyncQuestion]>([])
    mac.engine.questions.sink { [questions] question in questions.withLock { $0.append(question) } }
    try bench.cloud.deleteZone(bench.zoneID, account: owner, reason: .purged)
    try mac.execute("INSERT INTO notes(id, title) VALUES('b', 'B')")
    try bench.sync(mac)

    #expect(questions.withLock { $0 } == [.zoneLost(.purged)])
    #expect(mac.engine.question == .zoneLost(.purged))
    #expect(try mac.lines("SELECT id FROM notes ORDER BY id") == ["'a'", "'b'"])
    #expect(try bench.cloud.hasZone(bench.zoneID, account: owner) == false)

    // Also after a restart.
    mac.engine.stop()
    mac.engine = try bench.engine("mac", mac.database, Self.tables)
    try bench.sync(mac)
    #expect(mac.engine.question == .zoneLost(.purged))

    try mac.engine.decideZone(.uploadAgain)
    try bench.sync(mac)
    #expect(mac.engine.question == nil)
    #expect(try bench.cloudNames() == ["a:notes", "b:notes"])
    #expect(try bench.unclean(mac) == [])
  }

  @Test(
    "A zone that was purged and is put back from a backup is no purged one: what the backup lacks is made again"
  )
  func purgedAndPutBack() throws {
    let store = MemoryStore()
    let bench = SyncHarness(store: store)
    let decision = options { $0 == .purged ? .wait : .uploadAgain }
    let mac = try bench.device("mac", Self.schema, tables: Self.tables, options: decision)
    try mac.execute("INSERT INTO notes(id, title) VALUES('a', 'A')")
    try bench.sync(mac)
    let backup = store.backup()
    try mac.execute("INSERT INTO notes(id, title) VALUES('b', 'B')")
    try bench.sync(mac)
    try bench.cloud.deleteZone(bench.zoneID, account: owner, reason: .purged)
    try mac.execute("INSERT INTO notes(id, title) VALUES('c', 'C')")
    try bench.sync(mac)
    #expect(mac.engine.question == .zoneLost(.purged))
    store.restore(backup, isClosed: true)
    try bench.sync(mac)

    #expect(mac.engine.question == nil)
    #expect(try bench.cloudNames().sorted() == ["a:notes", "b:notes", "c:notes"])
    #expect(try bench.unclean(mac) == [])
  }

  @Test("Rows go with a purged zone if the app says so")
  func deletesLocalData() throws {
    let bench = SyncHarness()
    let decision = options { $0 == .purged ? .deleteLocalData : .wait }
    let mac = try bench.device("mac", Self.schema, tables: Self.tables, options: decision)
    try mac.execute(
      "INSERT INTO lists VALUES('l', 'L'); INSERT INTO notes(id, list) VALUES('a', 'l')"
    )
    try bench.sync(mac)
    try bench.cloud.deleteZone(bench.zoneID, account: owner, reason: .purged)
    try bench.sync(mac)

    #expect(try mac.lines("SELECT id FROM notes UNION ALL SELECT id FROM lists") == [])
    #expect(try bench.cloudNames() == [])
    try mac.execute("INSERT INTO notes(id, title) VALUES('n', 'N')")
    try bench.sync(mac)
    #expect(try bench.cloudNames() == ["n:notes"])
  }

  @Test(
    "What one device erases with its zone on purpose goes on the others too, and edits made since stay"
  )
  func erasesEverywhere() throws {
    let bench = SyncHarness()
    let decision = options { $0 == .purged ? .deleteLocalData : .wait }
    let mac = try bench.device("mac", Self.schema, tables: Self.tables, options: decision)
    let phone = try bench.device("phone", Self.schema, tables: Self.tables, options: decision)
    try mac.execute("INSERT INTO notes(id, title) VALUES('a', 'A'), ('b', 'B')")
    try bench.sync(mac, phone)
    phone.engine.stop()
    try bench.cloud.deleteZone(bench.zoneID, account: owner, reason: .purged)
    try bench.sync(mac)
    try phone.execute("INSERT INTO notes(id, title) VALUES('n', 'N')")
    try bench.sync(phone, mac)

    #expect(try phone.lines("SELECT id FROM notes") == ["'n'"])
    #expect(try mac.lines("SELECT id FROM notes") == ["'n'"])
    #expect(try bench.cloudNames() == ["n:notes"])
  }

  @Test("An erasure is over when the zone tells of it, although the response to it was lost")
  func erasureWithoutAnswer() throws {
    let bench = SyncHarness()
    let decision = options { $0 == .purged ? .deleteLocalData : .wait }
    let mac = try bench.device("mac", Self.schema, tables: Self.tables, options: decision)
    try mac.execute("INSERT INTO notes(id, title) VALUES('a', 'A')")
    try bench.sync(mac)
    try bench.cloud.deleteZone(bench.zoneID, account: owner, reason: .purged)
    bench.handler = { SilentHandler($0, to: "cloudsync_zone", losesAnswers: true) }
    try bench.restart(mac, Self.tables, decision)
    try bench.sync(mac)
    bench.handler = { $0 }
    try bench.restart(mac, Self.tables, decision)
    try mac.execute("INSERT INTO notes(id, title) VALUES('n', 'N')")
    try bench.sync(mac)

    #expect(try mac.lines("SELECT id FROM notes") == ["'n'"])
    #expect(try bench.cloudNames() == ["n:notes"])
    #expect(try bench.unclean(mac) == [])
  }

  @Test("A zone that another device has made anew takes no row that only this one has")
  func replaced() throws {
    let bench = SyncHarness()
    let mac = try bench.device("mac", Self.schema, tables: Self.tables)
    let phone = try bench.device("phone", Self.schema, tables: Self.tables)
    try mac.execute("INSERT INTO notes(id, title) VALUES('a', 'A')", at: 1_000)
    try bench.sync(mac, phone)
    mac.engine.stop()
    // The cloud has this, and the other device has not seen it.
    try phone.execute("INSERT INTO notes(id, title) VALUES('b', 'B')", at: 2_000)
    try phone.execute("UPDATE notes SET title = 'A2' WHERE id = 'a'", at: 3_000)
    try bench.sync(phone)
    phone.engine.stop()
    try bench.cloud.deleteZone(bench.zoneID, account: owner)
    try bench.sync(mac)
    // It is sent before anything is fetched.
    try phone.execute("UPDATE notes SET stars = 7 WHERE id = 'b'", at: 4_000)
    try bench.sync(phone, mac)

    #expect(try phone.lines(Self.notes) == ["'a'|NULL|'A2'|NULL", "'b'|NULL|'B'|7"])
    #expect(try mac.lines(Self.notes) == phone.lines(Self.notes))
  }

  /// A device with an old version of the app, which lacks a table and a column, after the zone was deleted
  /// and the device went that had filled it.
  private func oldVersionAlone() throws -> (SyncHarness, old: SyncHarness.Device) {
    let bench = SyncHarness()
    let mac = try bench.device("mac", Self.schema, tables: Self.tables)
    let old = try bench.device(
      "old",
      "CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL)",
      tables: ["lists"]
    )
    try mac.execute(
      "INSERT INTO lists VALUES('l', 'Title'); INSERT INTO notes VALUES('a', 'l', 'A', 1)"
    )
    try bench.sync(mac, old)
    mac.engine.stop()
    try bench.cloud.deleteZone(bench.zoneID, account: owner)
    return (bench, old)
  }

  @Test("Records of tables and columns that this database does not have are uploaded again too")
  func strangers() throws {
    let (bench, old) = try oldVersionAlone()
    try bench.sync(old)
    let fresh = try bench.device("fresh", Self.schema, tables: Self.tables)
    try bench.sync(fresh)

    #expect(try fresh.lines("SELECT * FROM lists") == ["'l'|'Title'"])
    #expect(try fresh.lines(Self.notes) == ["'a'|'l'|'A'|1"])
    #expect(try old.lines("SELECT is_unsent FROM cloudsync_foreign_records") == ["NULL"])
  }

  @Test(
    "What a full account refuses of them is uploaded when there is room, by a newer version too",
    arguments: [false, true]
  )
  func refusedStrangers(migrates: Bool) throws {
    let (bench, old) = try oldVersionAlone()
    try bench.cloud.setQuota(0, account: owner)
    try bench.sync(old)
    for _ in 0..<3 {
      try old.engine.retryParked()
      try bench.sync(old)
    }
    if migrates {
      let migration = """
        ALTER TABLE lists ADD COLUMN title TEXT;
        CREATE TABLE notes(
          id TEXT PRIMARY KEY NOT NULL, list TEXT REFERENCES lists(id), title TEXT, stars INTEGER
        );
        """
      try bench.restart(old, Self.tables, after: migration)
      try bench.sync(old)
    }
    #expect(try bench.cloudNames() == [])

    try bench.cloud.setQuota(nil, account: owner)
    try old.engine.retryParked()
    try bench.sync(old)
    let fresh = try bench.device("fresh", Self.schema, tables: Self.tables)
    try bench.sync(fresh)

    #expect(try fresh.lines("SELECT * FROM lists") == ["'l'|'Title'"])
    #expect(try fresh.lines(Self.notes) == ["'a'|'l'|'A'|1"])
    #expect(try bench.unclean(old) == [])
  }

  @Test("They are sent again when somebody cancels the operation that carries them")
  func cancelledStrangers() throws {
    let (bench, old) = try oldVersionAlone()
    let handler = SilentHandler(
      bench.cloud.connect(device: "old", account: owner, zoneID: bench.zoneID),
      to: "l:lists"
    )
    old.engine = try SyncEngine(
      database: old.database,
      tables: ["lists"],
      zoneID: bench.zoneID,
      operationHandler: handler,
      environment: bench.world.environment
    )
    try bench.sync(old)
    let session = try #require(old.engine.session)
    let waiting = try #require(
      session.state.modifyQueue.first { $0.records.map(\.recordID.name) == ["a:notes"] }
    )
    session.cancel(waiting.id)
    handler.isSilent.withLock { $0 = false }
    // The request before it, which nobody answers, is given up first.
    bench.world.advance(by: .seconds(600))
    try bench.sync(old)

    #expect(try bench.cloudNames() == ["a:notes", "l:lists"])
  }

  @Test(
    "What was refused of a row that others have deleted comes back neither alone nor with a new row",
    arguments: [false, true]
  )
  func refusedAndDeleted(isMadeAnew: Bool) throws {
    let bench = SyncHarness()
    let mac = try bench.device("mac", Self.schema, tables: Self.tables)
    let phone = try bench.device("phone", Self.schema, tables: Self.tables)
    try mac.execute("INSERT INTO notes VALUES('a', NULL, 'Old', 1)")
    try bench.sync(mac, phone)
    try bench.cloud.deleteZone(bench.zoneID, account: owner)
    try bench.cloud.setQuota(0, account: owner)
    try bench.sync(phone)
    phone.engine.stop()
    try bench.cloud.setQuota(nil, account: owner)
    try bench.sync(mac)
    try mac.execute("DELETE FROM notes")
    try bench.sync(mac)
    // Too short a time to try again what was refused.
    try phone.engine.start()
    bench.world.advance(by: .milliseconds(100))
    #expect(try phone.lines(Self.notes) == [])

    if isMadeAnew { try phone.execute("INSERT INTO notes(id, stars) VALUES('a', 2)") }
    try phone.engine.retryParked()
    try bench.sync(phone, mac)

    #expect(try mac.lines(Self.notes) == (isMadeAnew ? ["'a'|NULL|NULL|2"] : []))
    #expect(try phone.lines(Self.notes) == mac.lines(Self.notes))
    #expect(try bench.cloudNames().count == (isMadeAnew ? 1 : 0))
  }

  @Test("A row that waits for its parent is uploaded again, and still waits")
  func waiting() throws {
    let bench = SyncHarness()
    let mac = try bench.device(
      "mac",
      Self.schema,
      tables: Self.tables,
      enforcesForeignKeys: false
    )
    let phone = try bench.device("phone", Self.schema, tables: Self.tables)
    try mac.execute("INSERT INTO notes VALUES('a', 'gone', 'A', 1)")
    try bench.sync(mac, phone)
    #expect(try phone.lines(Self.notes) == [])
    mac.engine.stop()
    try bench.cloud.deleteZone(bench.zoneID, account: owner)
    try bench.sync(phone)

    #expect(try bench.cloudNames() == ["a:notes"])
    #expect(try bench.unclean(phone) == ["'a:notes'|'waiting'|NULL"])
    try phone.execute("INSERT INTO lists VALUES('gone', 'Back')")
    let other = try bench.device("other", Self.schema, tables: Self.tables)
    try bench.sync(other)
    try bench.sync(phone, other)
    #expect(try other.lines(Self.notes) == ["'a'|'gone'|'A'|1"])
  }

  @Test("Counters are not counted twice when several devices upload them again")
  func counters() throws {
    let bench = SyncHarness()
    var adding = SyncEngineOptions()
    adding.defaultTable.merging.columns["stars"] = .counter
    let mac = try bench.device("mac", Self.schema, tables: Self.tables, options: adding)
    let phone = try bench.device("phone", Self.schema, tables: Self.tables, options: adding)
    try mac.execute("INSERT INTO notes(id, stars) VALUES('a', 5)")
    try bench.sync(mac, phone)
    phone.engine.stop()
    try phone.execute("UPDATE notes SET stars = stars + 1")
    try bench.cloud.deleteZone(bench.zoneID, account: owner)
    try mac.execute("UPDATE notes SET stars = stars + 10")
    try bench.sync(mac)
    try bench.sync(phone, mac)

    #expect(try phone.lines("SELECT stars FROM notes") == ["16"])
    #expect(try mac.lines("SELECT stars FROM notes") == ["16"])
  }
}

/// Does not answer while a record is to be saved, until it is told to.
private final class SilentHandler: WorkHandler {
  let isSilent = Locked(true)
  private let handler: any OperationHandler
  private let name: String
  /// Whether what it does not answer is done all the same.
  private let losesAnswers: Bool

  init(_ handler: any OperationHandler, to name: String, losesAnswers: Bool = false) {
    self.handler = handler
    self.name = name
    self.losesAnswers = losesAnswers
  }

  func handle(_ work: SyncWork, context: RequestContext, completion: @escaping Completion) {
    if case .modify(let operation) = work, isSilent.withLock({ $0 }),
      operation.records.contains(where: { $0.recordID.name == name })
    {
      if losesAnswers { handler.perform(work, context: context) { _ in } }
      return
    }
    handler.perform(work, context: context, completion: completion)
  }
}

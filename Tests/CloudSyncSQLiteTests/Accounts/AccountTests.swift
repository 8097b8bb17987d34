import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSimulator
import Testing

@Suite("The user's account")
struct AccountTests {
  private static let rows = """
    INSERT INTO lists VALUES('l', 'L', NULL), ('m', 'M', 'l');
    INSERT INTO notes VALUES('a', 'm', 'A'), ('b', NULL, 'B');
    """

  private func switching(_ decision: AccountSwitchDecision) -> SyncEngineOptions {
    var options = SyncEngineOptions()
    options.accountSwitched = { _, _ in decision }
    return options
  }

  /// A database of Anna's, and one of Bert's with a row of its own.
  private func twoAccounts(
    _ decision: AccountSwitchDecision
  ) throws -> (AccountHarness, other: SyncHarness.Device) {
    let mac = try AccountHarness(setUp: Self.rows, options: switching(decision))
    let other = try AccountHarness.otherDevice(of: mac, account: "bert")
    try other.execute("INSERT INTO notes(id, title) VALUES('z', 'Z')")
    try mac.bench.sync(other)
    try mac.sync()
    return (mac, other)
  }

  @Test("Rows made before anybody signs in are uploaded at the sign-in")
  func signIn() throws {
    let mac = try AccountHarness(account: nil, setUp: Self.rows)
    try mac.sync()
    try mac.database.execute("INSERT INTO notes(id, title) VALUES('c', 'C')")
    #expect(try mac.records("anna") == [])

    try mac.signIn("anna")
    try mac.sync()
    #expect(try mac.records("anna") == ["a:notes", "b:notes", "c:notes", "l:lists", "m:lists"])
    #expect(mac.errors.withLock { $0 } == [])
  }

  @Test("Signed out, rows stay; edits of rows that the cloud has are sent at the next sign-in")
  func signOut() throws {
    let mac = try AccountHarness(setUp: Self.rows)
    try mac.sync()
    try mac.signIn(nil)
    try mac.database.execute(
      "UPDATE notes SET title = 'A2' WHERE id = 'a'; DELETE FROM notes WHERE id = 'b'"
    )
    try mac.sync()
    #expect(try mac.records("anna").contains("b:notes"))
    try mac.restart()
    #expect(try mac.lines(AccountHarness.titles) == ["'a'|'A2'"])

    try mac.signIn("anna")
    #expect(try mac.records("anna") == ["a:notes", "l:lists", "m:lists"])
    let record = try #require(
      mac.bench.cloud.records(account: AccountIdentity("anna"), zone: mac.bench.zoneID).first
    )
    #expect(record["title"] == .string("A2"))
  }

  @Test("On request a sign-out deletes the rows here, once, and a sign-in fetches them again")
  func signOutDeletes() throws {
    var options = SyncEngineOptions()
    options.signedOut = { .deleteLocalData }
    let mac = try AccountHarness(setUp: Self.rows, options: options)
    try mac.sync()
    try mac.signIn(nil)
    #expect(try mac.lines(AccountHarness.titles) == [])
    #expect(
      try mac.lines("SELECT 1 FROM cloudsync_known UNION ALL SELECT 1 FROM cloudsync_pending") == []
    )

    // What is made from now on belongs to whoever signs in.
    try mac.database.execute("INSERT INTO notes(id, title) VALUES('n', 'N')")
    try mac.sync()
    try mac.restart()
    #expect(try mac.lines(AccountHarness.titles) == ["'n'|'N'"])
    try mac.signIn("anna")
    try mac.sync()
    #expect(try mac.lines(AccountHarness.titles) == ["'a'|'A'", "'b'|'B'", "'n'|'N'"])
    #expect(try mac.records("anna").contains("n:notes"))
  }

  @Test("An account that is not ready for a while is no sign-out")
  func notReady() throws {
    var options = SyncEngineOptions()
    options.signedOut = { .deleteLocalData }
    let mac = try AccountHarness(setUp: Self.rows, options: options)
    try mac.sync()
    let anna = AccountIdentity("anna")
    try mac.bench.cloud.setAccountStatus(.temporarilyUnavailable, account: anna)
    mac.engine.accountDidChange()
    try mac.database.execute("UPDATE notes SET title = 'A2' WHERE id = 'a'")
    try mac.sync()
    #expect(try mac.lines(AccountHarness.titles) == ["'a'|'A2'", "'b'|'B'"])

    try mac.bench.cloud.setAccountStatus(.available, account: anna)
    mac.engine.accountDidChange()
    try mac.sync()
    #expect(try mac.lines("SELECT * FROM cloudsync_status WHERE status <> 'clean'") == [])
  }

  @Test("Another account: nothing of the rows goes there until the app has decided")
  func asks() throws {
    let mac = try AccountHarness(setUp: Self.rows)
    try mac.sync()
    try mac.signIn("bert")
    try mac.database.execute("UPDATE notes SET title = 'A2' WHERE id = 'a'")
    try mac.sync()

    let anna = AccountIdentity("anna")
    let question = SyncQuestion.accountSwitched(from: anna, to: AccountIdentity("bert"))
    #expect(mac.questions.withLock { $0 }.first == question)
    #expect(mac.engine.question == question)
    try mac.restart()
    #expect(mac.engine.question == question)
    #expect(try mac.records("bert") == [])
    #expect(try mac.lines(AccountHarness.titles) == ["'a'|'A2'", "'b'|'B'"])

    // The old account comes back.
    try mac.signIn("anna")
    try mac.sync()
    #expect(mac.engine.question == nil)
    #expect(try mac.records("anna").count == 4)
    #expect(try mac.lines("SELECT * FROM cloudsync_status WHERE status <> 'clean'") == [])
  }

  @Test("Another account, adopted: it gets all rows whole, and its own stay")
  func adopts() throws {
    let (mac, other) = try twoAccounts(.adopt)
    try mac.database.execute("UPDATE notes SET title = 'A2' WHERE id = 'a'")
    try mac.signIn("bert")
    try mac.sync()
    try mac.bench.sync(other)

    #expect(try other.lines(AccountHarness.titles) == ["'a'|'A2'", "'b'|'B'", "'z'|'Z'"])
    #expect(try mac.lines(AccountHarness.titles) == other.lines(AccountHarness.titles))
    #expect(try other.lines("SELECT list FROM notes WHERE id = 'a'") == ["'m'"])
    #expect(try mac.records("anna").count == 4)
  }

  @Test("Another account, discarded: rows of the old one go here and stay there")
  func discards() throws {
    let (mac, _) = try twoAccounts(.discard)
    try mac.database.execute("INSERT INTO local VALUES(1, 'a'); DELETE FROM notes WHERE id = 'b'")
    try mac.signIn("bert")
    try mac.sync()

    #expect(try mac.lines(AccountHarness.titles) == ["'z'|'Z'"])
    #expect(try mac.lines("SELECT * FROM lists") == [])
    #expect(try mac.lines("SELECT * FROM local") == ["1|'a'"])
    #expect(try mac.records("anna") == ["a:notes", "b:notes", "l:lists", "m:lists"])
    #expect(try mac.records("bert") == ["z:notes"])
    // And back again.
    try mac.signIn("anna")
    try mac.sync()
    #expect(try mac.lines(AccountHarness.titles) == ["'a'|'A'", "'b'|'B'"])
    #expect(mac.errors.withLock { $0 } == [])
  }

  @Test("A response without a question changes nothing")
  func noQuestion() throws {
    let mac = try AccountHarness(setUp: Self.rows)
    try mac.sync()
    try mac.engine.resolveAccountSwitch(.discard)
    try mac.engine.decideZone(.deleteLocalData)
    try mac.sync()
    #expect(try mac.lines(AccountHarness.titles) == ["'a'|'A'", "'b'|'B'"])
  }
}

extension AccountHarness {
  /// Another device, whose user is always signed in.
  static func otherDevice(of bench: AccountHarness, account: String) throws -> SyncHarness.Device {
    let database = try DatabaseFile(path: ":memory:")
    try database.execute(schema)
    let engine = try SyncEngine(
      database: database,
      tables: tables,
      zoneID: bench.bench.zoneID,
      operationHandler: bench.bench.cloud.connect(
        device: "other",
        account: AccountIdentity(account),
        zoneID: bench.bench.zoneID
      ),
      environment: bench.bench.world.environment
    )
    return SyncHarness.Device("other", database, engine)
  }
}

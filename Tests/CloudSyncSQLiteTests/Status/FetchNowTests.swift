import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSimulator
import Testing

@Suite("A fetch for a push")
struct FetchNowTests {
  private static let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT)"

  private func outcome(
    _ device: SyncHarness.Device,
    _ bench: SyncHarness,
    advancing time: Duration = .seconds(15),
    _ meanwhile: () throws -> Void = {}
  ) throws -> FetchOutcome? {
    let outcome = Locked<FetchOutcome?>(nil)
    device.engine.fetchNow(upTo: .seconds(10)) { result in outcome.withLock { $0 = result } }
    try meanwhile()
    bench.world.advance(by: time)
    return outcome.withLock { $0 }
  }

  @Test("It is new what others have saved, and stored by then; else there is nothing")
  func outcomes() throws {
    let (bench, mac, phone) = try SyncHarness.pair(Self.schema, tables: ["notes"])
    try bench.sync(mac, phone)
    #expect(try outcome(mac, bench) == .nothing)

    try phone.execute("INSERT INTO notes VALUES('a', 'A')")
    try bench.sync(phone)
    let rows = Locked<[String]>([])
    mac.engine.fetchNow(upTo: .seconds(10)) { [database = mac.database] result in
      do {
        let lines = try database.lines("SELECT id FROM notes")
        rows.withLock { $0 = ["\(result)"] + lines }
      } catch { Issue.record(error) }
    }
    bench.world.advance(by: .seconds(15))
    #expect(rows.withLock { $0 } == ["new", "'a'"])
    #expect(try outcome(mac, bench) == .nothing)
  }

  @Test("It has failed if the engine is stopped, halted or offline, or stops meanwhile")
  func failures() throws {
    let bench = SyncHarness()
    let cloud = CloudSwitch()
    bench.handler = cloud.handler
    let mac = try bench.device("mac", Self.schema, tables: ["notes"])
    #expect(try outcome(mac, bench, advancing: .zero) == .failed)
    try bench.sync(mac)

    #expect(try outcome(mac, bench, advancing: .zero) { mac.engine.stop() } == .failed)
    try bench.sync(mac)

    cloud.fail(with: SyncError(.networkUnavailable))
    #expect(try outcome(mac, bench, advancing: .seconds(9)) == nil)
    bench.world.advance(by: .seconds(2))
    #expect(try outcome(mac, bench) == .failed)

    cloud.fail(with: SyncError(.badDatabase))
    mac.engine.session?.connectivityChanged()
    bench.world.advance(by: .seconds(30))
    #expect(mac.engine.activity.isHaltedNow)
    #expect(try outcome(mac, bench, advancing: .zero) == .failed)
  }

  @Test("What a device has sent itself is no news when the feed tells it")
  func ownEdits() throws {
    let (bench, mac, phone) = try SyncHarness.pair(Self.schema, tables: ["notes"])
    let counts = Locked(SyncCounts())
    try bench.sync(mac)
    mac.engine.activity.sink { activity in counts.withLock { $0 = activity.counts } }
    try mac.execute("INSERT INTO notes VALUES('a', 'A'), ('b', 'B'), ('c', 'C')")
    try bench.sync(mac)
    try mac.execute(
      "UPDATE notes SET title = 'A2' WHERE id = 'a'; DELETE FROM notes WHERE id = 'b'"
    )
    try bench.sync(mac)
    #expect(try outcome(mac, bench) == .nothing)
    #expect(counts.withLock(\.received) == 0)
    #expect(counts.withLock(\.sent) == 5)

    try bench.sync(phone)
    #expect(try phone.lines("SELECT id FROM notes ORDER BY id") == ["'a'", "'c'"])
    try phone.execute("UPDATE notes SET title = 'C2' WHERE id = 'c'")
    try bench.sync(phone)
    #expect(try outcome(mac, bench) == .new)
    #expect(counts.withLock(\.received) == 1)
    try mac.engine.resync()
    #expect(try outcome(mac, bench) == .nothing)
  }

  @Test("The time that is over ends the wait, not the fetch")
  func limit() throws {
    let bench = SyncHarness()
    let cloud = CloudSwitch()
    bench.handler = cloud.handler
    let mac = try bench.device("mac", Self.schema, tables: ["notes"])
    let phone = try bench.device("phone", Self.schema, tables: ["notes"])
    try bench.sync(mac, phone)
    try phone.execute("INSERT INTO notes VALUES('a', 'A')")
    try bench.sync(phone)
    cloud.fail(with: SyncError(.networkUnavailable))
    #expect(try outcome(mac, bench) == .failed)
    cloud.fail(with: nil)
    mac.engine.session?.connectivityChanged()
    bench.world.advance(by: .seconds(60))
    #expect(try mac.lines("SELECT id FROM notes") == ["'a'"])
  }

  @Test("A run that is replaced meanwhile, because a table was changed, ends the wait too")
  func replacedRun() throws {
    let (bench, mac, phone) = try SyncHarness.pair(Self.schema, tables: ["notes"])
    try bench.sync(mac, phone)
    try phone.execute("INSERT INTO notes VALUES('a', 'A')")
    try bench.sync(phone)
    let result = try outcome(mac, bench) {
      try mac.execute("ALTER TABLE notes ADD COLUMN stars INTEGER")
    }
    #expect(result == .new)
    #expect(try mac.lines("SELECT id FROM notes") == ["'a'"])
  }
}

extension SyncSubject<SyncActivity> {
  fileprivate var isHaltedNow: Bool {
    let isHalted = Locked(false)
    sink { activity in isHalted.withLock { $0 = activity.isHalted } }.cancel()
    return isHalted.withLock { $0 }
  }
}

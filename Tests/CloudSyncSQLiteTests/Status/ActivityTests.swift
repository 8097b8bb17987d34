import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSimulator
import Testing

@Suite("What an engine does and waits for")
struct ActivityTests {
  private static let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT)"

  /// All that an engine has told, the newest last.
  private final class Told: Sendable {
    private let all = Locked<[SyncActivity]>([])

    init(_ engine: SyncEngine) {
      engine.activity.sink { [all] activity in all.withLock { $0.append(activity) } }
    }

    var last: SyncActivity { all.withLock { $0.last } ?? SyncActivity() }
    var everything: [SyncActivity] { all.withLock { $0 } }
    func forget() { all.withLock { $0.removeAll() } }
  }

  private func device(
    _ bench: SyncHarness,
    _ name: String = "mac"
  ) throws -> (SyncHarness.Device, Told) {
    let device = try bench.device(name, Self.schema, tables: ["notes"])
    return (device, Told(device.engine))
  }

  private func insert(_ keys: Range<Int>, into device: SyncHarness.Device) throws {
    let rows = keys.map { "('n\($0)', 'x')" }.joined(separator: ", ")
    try device.execute("INSERT INTO notes VALUES\(rows)")
  }

  @Test("It is told at once, before the engine was ever started")
  func beforeStart() throws {
    let bench = SyncHarness()
    let (mac, told) = try device(bench)
    #expect(told.last.isRunning == false && told.last.lastSync == nil)
    #expect(told.last.explanation == "Stopped.")
    #expect(mac.engine.isRunning == false)
  }

  @Test("The time of the last complete sync is the environment's, and outlives the engine")
  func lastSync() throws {
    let bench = SyncHarness()
    let (mac, told) = try device(bench)
    let before = bench.world.now
    try insert(0..<3, into: mac)
    try bench.sync(mac)
    let time = try #require(told.last.lastSync)
    #expect(before <= time && time <= bench.world.now)
    #expect(told.last.explanation == "Everything is synced.")
    #expect(try SyncMetadata.read(from: mac.database)?.lastSync == time)

    try bench.restart(mac, ["notes"])
    #expect(Told(mac.engine).last.lastSync == time)
  }

  @Test("What was fetched while nothing can be sent is no complete sync")
  func incompleteSync() throws {
    let bench = SyncHarness()
    let cloud = CloudSwitch()
    bench.handler = cloud.handler
    let (mac, told) = try device(bench)
    try bench.sync(mac)
    let time = try #require(told.last.lastSync)

    cloud.fail(with: SyncError(.networkUnavailable))
    try insert(0..<3, into: mac)
    mac.engine.sendChanges()
    mac.engine.fetchChanges()
    bench.world.advance(by: .seconds(600))
    #expect(told.last.lastSync == time)

    cloud.fail(with: nil)
    mac.engine.session?.connectivityChanged()
    bench.world.advance(by: .seconds(60))
    #expect(try #require(told.last.lastSync) > time)
  }

  @Test("Offline it waits, says why and until when, and keeps count; online all of that is gone")
  func offline() throws {
    let bench = SyncHarness()
    let cloud = CloudSwitch()
    bench.handler = cloud.handler
    let (mac, told) = try device(bench)
    try bench.sync(mac)

    cloud.fail(with: SyncError(.networkUnavailable))
    try insert(0..<3, into: mac)
    mac.engine.sendChanges()
    bench.world.advance(by: .seconds(20))
    let waiting = told.last
    #expect(waiting.isWaiting && !waiting.isSyncing && waiting.isSynchronizing)
    #expect(waiting.explanation.contains("retry"))
    #expect(try #require(waiting.nextAttempt) > bench.world.now)
    #expect(waiting.cloudError?.code == .networkUnavailable)
    #expect(waiting.pendingRows == 3 && waiting.progress.fraction == 0)
    #expect(!waiting.isHalted && waiting.haltedError == nil)

    cloud.fail(with: nil)
    mac.engine.session?.connectivityChanged()
    bench.world.advance(by: .seconds(20))
    #expect(!told.last.isWaiting && told.last.nextAttempt == nil && told.last.cloudError == nil)
    #expect(told.last.pendingRows == 0 && told.last.progress.fraction == 1)
    #expect(told.last.progress.done == 3 && told.last.progress.total == 3)
  }

  @Test("A halted engine tells over what, and goes on with the same run of work")
  func halted() throws {
    let bench = SyncHarness()
    let cloud = CloudSwitch()
    bench.handler = cloud.handler
    let (mac, told) = try device(bench)
    try bench.sync(mac)
    cloud.fail(with: SyncError(.badDatabase))
    try insert(0..<3, into: mac)
    mac.engine.sendChanges()
    bench.world.advance(by: .seconds(20))
    #expect(told.last.isHalted && told.last.haltedError?.code == .badDatabase)
    #expect(told.last.explanation.contains("call start()"))
    #expect(told.last.pendingRows == 3 && !told.last.isSyncing && !told.last.progress.isEnded)

    // The next run knows of it too, until it has tried.
    mac.engine.stop()
    #expect(told.last.cloudError?.code == .badDatabase && !told.last.isRunning)
    #expect(told.last.pendingRows == 3)
    cloud.fail(with: nil)
    try bench.sync(mac)
    #expect(told.last.cloudError == nil && told.last.haltedError == nil)
    #expect(told.last.pendingRows == 0 && told.last.progress.isEnded)
  }

  @Test("A database that is locked is waited for, and told until it can be written again")
  func locked() throws {
    let bench = SyncHarness()
    let folder = try TestFolder("activity-locked")
    let database = try DatabaseFile(path: folder.file("notes.sqlite"), createsFile: true)
    try database.execute(Self.schema)
    let other = try DatabaseFile(path: folder.file("notes.sqlite"))
    let mac = SyncHarness.Device("mac", database, try bench.engine("mac", database, ["notes"]))
    try database.execute("PRAGMA busy_timeout = 0")
    let told = Told(mac.engine)
    try bench.sync(mac)
    try insert(0..<3, into: mac)

    try other.execute("BEGIN IMMEDIATE")
    let outcome = Locked("nothing")
    mac.engine.syncChanges { result in outcome.withLock { $0 = "\(result.isDone)" } }
    bench.world.advance(by: .seconds(5))
    #expect(told.last.databaseError?.code == .busy && told.last.isWaiting)
    #expect(told.last.explanation.contains("Waiting for the database"))
    #expect(try #require(told.last.nextAttempt) > bench.world.now)
    #expect(outcome.withLock { $0 } == "nothing")

    try other.execute("ROLLBACK")
    bench.world.advance(by: .seconds(120))
    #expect(told.last.databaseError == nil && !told.last.isWaiting)
    #expect(told.last.pendingRows == 0 && outcome.withLock { $0 } == "true")
  }

  @Test("An error of the database that stops the engine stays until the next start")
  func brokenDatabase() throws {
    let bench = SyncHarness()
    let (mac, told) = try device(bench)
    try bench.sync(mac)
    try mac.execute("ALTER TABLE cloudsync_pending RENAME TO elsewhere")
    try insert(0..<1, into: mac)
    mac.engine.sendChanges()
    bench.world.advance(by: .seconds(5))
    #expect(!told.last.isRunning && told.last.databaseError != nil)
    #expect(told.last.explanation.hasPrefix("Stopped ("))

    try mac.execute("ALTER TABLE elsewhere RENAME TO cloudsync_pending")
    try mac.engine.start()
    bench.world.advance(by: .seconds(30))
    #expect(told.last.databaseError == nil && told.last.pendingRows == 0)
  }

  @Test("A question is open until it is answered")
  func question() throws {
    let bench = SyncHarness()
    let (mac, told) = try device(bench)
    try insert(0..<2, into: mac)
    try bench.sync(mac)
    try bench.cloud.deleteZone(bench.zoneID, account: AccountIdentity("owner"), reason: .purged)
    mac.engine.fetchChanges()
    bench.world.advance(by: .seconds(30))
    #expect(told.last.question == .zoneLost(.purged) && told.last.isWaiting)
    #expect(told.last.question == mac.engine.question)

    try mac.engine.decideZone(.uploadAgain)
    bench.world.advance(by: .seconds(60))
    #expect(told.last.question == nil && !told.last.isWaiting && told.last.progress.isEnded)
  }

  // MARK: Progress

  /// Checks that progress only grows within a run of work, and ends with all of it.
  private func check(_ activities: [SyncActivity], total: ClosedRange<Int>) {
    var former = SyncActivity.Progress()
    for progress in activities.map(\.progress) {
      if !former.isEnded {
        #expect(progress.done >= former.done && progress.total >= former.total || progress.isEnded)
      }
      #expect(progress.done <= progress.total)
      if let fraction = progress.fraction { #expect((0...1).contains(fraction)) }
      former = progress
    }
    #expect(former.isEnded && former.fraction == 1 && former.done == former.total)
    #expect(total.contains(former.total), "\(former)")
  }

  @Test("Rows that are sent: the total is known from the beginning, however many there are")
  func sending() throws {
    let bench = SyncHarness()
    let (mac, told) = try device(bench)
    try bench.sync(mac)
    told.forget()
    try insert(0..<1_200, into: mac)
    mac.engine.sendChanges()
    bench.world.advance(by: .seconds(60))
    check(told.everything, total: 1_200...1_200)
    #expect(told.everything.first { $0.isSending }?.progress.total == 1_200)
  }

  @Test("Rows that were there before the first sync count too, and a copy ends at 100 %")
  func foundRows() throws {
    let bench = SyncHarness()
    let (mac, told) = try filled(bench, "mac")
    try mac.engine.start()
    bench.world.advance(by: .seconds(60))
    check(told.everything, total: 8_000...8_010)
    #expect(told.everything.filter { !$0.progress.isEnded }.count > 5)

    // All of its rows are in the cloud already.
    let (phone, copied) = try filled(bench, "phone")
    try phone.engine.start()
    bench.world.advance(by: .seconds(60))
    #expect(copied.last.counts.sent == 0)
    check(copied.everything, total: 0...8_010)
    #expect(copied.last.progress.received >= 8_000)
  }

  private func filled(
    _ bench: SyncHarness,
    _ name: String
  ) throws -> (SyncHarness.Device, Told) {
    let rows = """
      WITH n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 7999)
      INSERT INTO notes SELECT 'n' || i, 'x' FROM n
      """
    let device = try bench.device(name, "\(Self.schema);\(rows)", tables: ["notes"])
    return (device, Told(device.engine))
  }

  @Test("Rows that are fetched: how much is left is not known before the end")
  func fetching() throws {
    let bench = SyncHarness()
    let (mac, _) = try device(bench)
    try insert(0..<500, into: mac)
    try bench.sync(mac)
    bench.cloud.options.pageSize = 100
    let (phone, told) = try device(bench, "phone")
    try phone.engine.start()
    bench.world.advance(by: .seconds(30))
    check(told.everything, total: 0...0)
    #expect(told.last.progress.received >= 500)
    #expect(told.everything.contains { $0.progress.fraction == nil })
  }

  @Test("What the cloud rejects ends a run of work, and stays pending")
  func rejected() throws {
    let bench = SyncHarness()
    let (mac, told) = try device(bench)
    try bench.sync(mac)
    try bench.cloud.setQuota(1, account: AccountIdentity("owner"))
    try insert(0..<3, into: mac)
    mac.engine.sendChanges()
    bench.world.advance(by: .seconds(60))
    #expect(told.last.progress.isEnded && told.last.progress.fraction == 1)
    #expect(told.last.pendingRows == 3)
  }
}

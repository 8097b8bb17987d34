import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSimulator
import Testing

@Suite("SyncEngine.rescan")
struct RescanTests {
  private static let schema =
    "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT, stars INT)"

  @Test(
    "What nobody captured is sent, whether the engine runs or not; later edits of others stay",
    arguments: [true, false]
  )
  func rescan(isRunning: Bool) async throws {
    let (bench, mac, phone) = try SyncHarness.pair(Self.schema, tables: ["notes"])
    try mac.execute("INSERT INTO notes VALUES('a', 'A', 1), ('b', 'B', 1), ('c', 'C', 1)")
    try bench.sync(mac, phone)
    try mac.execute("UPDATE cloudsync_clock SET own_table = 1, own_all = 1")
    try mac.execute(
      """
      UPDATE notes SET title = 'unseen', stars = 2 WHERE id = 'a'; DELETE FROM notes WHERE id = 'b';
      INSERT INTO notes VALUES('d', 'D', 4)
      """
    )
    try mac.execute("UPDATE cloudsync_clock SET own_table = NULL, own_all = NULL")
    try phone.execute("UPDATE notes SET title = 'of the phone' WHERE id = 'a'")
    try bench.sync(phone)
    #expect(try await mac.engine.verify().differences.isEmpty == false)

    if !isRunning { mac.engine.stop() }
    try mac.engine.rescan()
    if !isRunning { try mac.engine.start() }
    try bench.sync(mac, phone)

    let rows = "SELECT group_concat(id || title || stars) FROM (SELECT * FROM notes ORDER BY id)"
    for device in [mac, phone] {
      let found = try device.lines(rows)
      #expect(found == ["'aof the phone2,cC1,dD4'"], "\(device.name) \(found)")
      let differences = try await device.engine.verify().differences
      #expect(differences.isEmpty, "\(device.name) \(differences)")
    }
  }

  @Test("A table that is rebuilt while the engine runs is compared from its first row on")
  func rebuilt() async throws {
    let (bench, mac, phone) = try SyncHarness.pair(Self.schema, tables: ["notes"])
    try mac.execute("INSERT INTO notes VALUES('a', 'A', 1), ('b', 'B', 1), ('c', 'C', 1)")
    try bench.sync(mac, phone)
    try mac.execute(
      """
      CREATE TABLE other(id TEXT PRIMARY KEY NOT NULL, title TEXT, stars INT);
      INSERT INTO other SELECT id, title, stars + 1 FROM notes WHERE id <> 'b';
      INSERT INTO other VALUES('d', 'D', 4);
      DROP TABLE notes; ALTER TABLE other RENAME TO notes
      """
    )
    try bench.sync(mac, phone)

    for device in [mac, phone] {
      let found = try device.lines("SELECT id, stars FROM notes ORDER BY id")
      #expect(found == ["'a'|2", "'c'|2", "'d'|4"], "\(device.name)")
    }
    #expect(try await mac.engine.verify().differences.isEmpty)
  }

  @Test("A conflict that is merged is no error to the app, in the publisher or in the activity")
  func conflictsAreSettled() throws {
    let (bench, mac, phone) = try SyncHarness.pair(Self.schema, tables: ["notes"])
    let errors = Locked<[String]>([])
    for device in [mac, phone] {
      device.engine.cloudErrors.sink { error in errors.withLock { $0.append("\(error)") } }
      device.engine.activity.sink { activity in
        if let error = activity.cloudError { errors.withLock { $0.append("\(error)") } }
      }
    }
    try mac.execute("INSERT INTO notes VALUES('a', 'A', 1)")
    try bench.sync(mac, phone)
    try mac.execute("UPDATE notes SET title = 'mac'")
    try phone.execute("UPDATE notes SET stars = 5")
    mac.engine.sendChanges()
    phone.engine.sendChanges()
    bench.world.advance(by: .seconds(60))
    try bench.sync(mac, phone)

    let rows = "SELECT title, stars FROM notes"
    for device in [mac, phone] { #expect(try device.lines(rows) == ["'mac'|5"]) }
    #expect(errors.withLock { $0 } == [])
  }

  @Test("Options that name what is not there say what may have been meant")
  func suggestions() throws {
    let bench = SyncHarness()
    let device = try bench.device("mac", Self.schema, tables: ["notes"])
    func words(
      _ change: (inout SyncEngineOptions) -> Void,
      tables: [String] = ["notes"]
    ) throws -> String {
      var options = SyncEngineOptions()
      change(&options)
      let found = try SyncEngine.check(device.database, tables: tables, options: options)
      return found.map(\.reason).joined(separator: " ")
    }
    #expect(try words({ $0.tables["note"] = .init() }).contains("Did you mean \"notes\"?"))
    let column = try words {
      $0.tables["notes"] = .init()
      $0.tables["notes"]?.merging.columns["star"] = .counter
    }
    #expect(column.contains("no such column. Did you mean \"stars\"?"))
    #expect(
      try words({ _ in }, tables: ["noets"])
        .contains("\"noets\" in the database. Did you mean \"notes\"?")
    )
    #expect(try words({ $0.tables["unlike"] = .init() }).hasSuffix("does not have."))
  }
}

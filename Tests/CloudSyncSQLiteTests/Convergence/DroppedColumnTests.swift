import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSimulator
import CloudSyncTestSupport
import Testing

@Suite("Columns that one device has dropped")
struct DroppedColumnTests {
  private static let schema =
    "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT, stars INTEGER)"
  private static let query = "SELECT id, title, stars FROM notes ORDER BY id"

  @Test(
    "A column that is dropped on one stays in the cloud, whatever is edited there, and comes back with it",
    arguments: SuiteSize.pairs(2, [DeletePolicy.deleteWins, .editWins], [false, true])
  )
  func columnDroppedOnOne(deletes: DeletePolicy, isPending: Bool) throws {
    var options = SyncEngineOptions()
    var notes = SyncEngineOptions.Table()
    notes.merging = TableMergePolicy(deletes: deletes)
    options.tables["notes"] = notes
    let bench = SyncHarness()
    let network = Network()
    // What was there before anybody looked has no times of its own: whoever sends last would win.
    let rows = "INSERT INTO notes VALUES('a', 'A', 1), ('b', 'B', 2), ('c', 'C', 3);"
    bench.handler = { NetworkedHandler(base: $0, network: network) }
    let mac = try bench.device("mac", Self.schema + ";" + rows, tables: ["notes"], options: options)
    try bench.sync(mac)
    let phone = try bench.device("phone", Self.schema, tables: ["notes"], options: options)
    try bench.sync(phone)
    let edit = "UPDATE notes SET title = 'A2' WHERE id = 'a'"
    if isPending {
      network.isAway.withLock { $0 = true }
      try mac.execute(edit)
      mac.engine.sendChanges()
      bench.world.advance(by: .seconds(1))
    } else {
      try mac.execute(edit)
    }
    mac.engine.stop()
    network.isAway.withLock { $0 = false }
    try SyncEngine.withoutCapture(in: mac.database) {
      try mac.database.execute("ALTER TABLE notes DROP COLUMN stars")
    }
    try bench.restart(mac, ["notes"], options)
    try bench.sync(mac)
    try mac.execute("UPDATE notes SET title = 'B2' WHERE id = 'b'")
    try bench.sync(mac)
    let tablet = try bench.device("tablet", Self.schema, tables: ["notes"], options: options)
    try bench.sync(tablet, phone)

    let all = ["'a'|'A2'|1", "'b'|'B2'|2", "'c'|'C'|3"]
    for device in [tablet, phone] { #expect(try device.lines(Self.query) == all) }
    try bench.restart(
      mac,
      ["notes"],
      options,
      after: "ALTER TABLE notes ADD COLUMN stars INTEGER NOT NULL DEFAULT 0"
    )
    try bench.sync(mac, phone, tablet)
    for device in [mac, tablet, phone] {
      #expect(try device.lines(Self.query) == all)
      #expect(try bench.unclean(device) == [])
    }
  }

  /// Three devices, of which one has edited the column of a row, and another one has deleted the row since.
  private static func editedAndDeleted(
    _ bench: SyncHarness,
    _ options: SyncEngineOptions
  ) throws -> (mac: SyncHarness.Device, phone: SyncHarness.Device, tablet: SyncHarness.Device) {
    let device = { (name: String) in
      try bench.device(name, schema, tables: ["notes"], options: options)
    }
    let (mac, phone, tablet) = (try device("mac"), try device("phone"), try device("tablet"))
    try mac.execute("INSERT INTO notes VALUES('a', 'A', 1), ('b', 'B', 2)", at: 1_000)
    try bench.sync(mac, phone, tablet)
    try tablet.execute("UPDATE notes SET stars = 5 WHERE id = 'a'", at: 2_000)
    try phone.execute("DELETE FROM notes WHERE id = 'a'", at: 3_000)
    return (mac, phone, tablet)
  }

  /// The migration of a newer version of the app, before it starts its engine.
  private static func dropStars(of device: SyncHarness.Device) throws {
    device.engine.stop()
    try SyncEngine.withoutCapture(in: device.database) {
      try device.database.execute("ALTER TABLE notes DROP COLUMN stars")
    }
  }

  private static func options(_ deletes: DeletePolicy = .editWins) -> SyncEngineOptions {
    var options = SyncEngineOptions()
    options.defaultTable.merging.deletes = deletes
    return options
  }

  /// The deleter has not seen the edit; that another device drops the column does not mean that it has.
  @Test("An edit of a column that another device drops keeps its row from who has not seen it")
  func unseenEdit() throws {
    let options = Self.options()
    let bench = SyncHarness()
    let (mac, phone, tablet) = try Self.editedAndDeleted(bench, options)
    try bench.sync(tablet, mac)
    try Self.dropStars(of: mac)
    try bench.sync(phone)
    try bench.restart(mac, ["notes"], options)
    try bench.sync(mac, phone, tablet)
    try bench.sync(mac, phone, tablet)

    #expect(try mac.lines("SELECT id, title FROM notes ORDER BY id") == ["'a'|'A'", "'b'|'B'"])
    for device in [phone, tablet] {
      #expect(try device.lines(Self.query) == ["'a'|'A'|5", "'b'|'B'|2"])
    }
    for device in [mac, phone, tablet] { #expect(try bench.unclean(device) == []) }
  }

  @Test(
    "A row that gets another key where a column is dropped takes it along for those who have it",
    arguments: SuiteSize.pairs(2, [DeletePolicy.deleteWins, .editWins], [false, true])
  )
  func keyChangedWithoutColumn(deletes: DeletePolicy, isSyncedBetween: Bool) throws {
    let options = Self.options(deletes)
    let bench = SyncHarness()
    let mac = try bench.device("mac", Self.schema, tables: ["notes"], options: options)
    let phone = try bench.device("phone", Self.schema, tables: ["notes"], options: options)
    try phone.execute("INSERT INTO notes VALUES('a', 'A', 1), ('b', 'B', 2)")
    try bench.sync(phone, mac)
    try Self.dropStars(of: mac)
    try bench.restart(mac, ["notes"], options)
    if isSyncedBetween { try bench.sync(mac) }
    try mac.execute(
      """
      UPDATE notes SET id = 't' WHERE id = 'a'; UPDATE notes SET id = 'a' WHERE id = 'b';
      UPDATE notes SET id = 'c' WHERE id = 't'
      """
    )
    try bench.sync(mac, phone, mac, phone)

    #expect(try phone.lines(Self.query) == ["'a'|'B'|2", "'c'|'A'|1"])
    #expect(try mac.lines("SELECT id, title FROM notes ORDER BY id") == ["'a'|'B'", "'c'|'A'"])
    for device in [mac, phone] { #expect(try bench.unclean(device) == []) }
  }

  /// It lives by nothing else, and what is edited of it then is no life of its own.
  @Test(
    "A row that an edit of a dropped column keeps stays as it is where the column is dropped",
    arguments: ["tablet", "mac"]
  )
  func rowKeptByDroppedColumn(editor: String) throws {
    let options = Self.options()
    let bench = SyncHarness()
    let (mac, phone, tablet) = try Self.editedAndDeleted(bench, options)
    try bench.sync(tablet, phone, mac)
    try Self.dropStars(of: mac)
    try bench.restart(mac, ["notes"], options)
    // On the tablet it is sent only when the other one has looked at its rows.
    let edit = "UPDATE notes SET title = 'A2' WHERE id = 'a'"
    try (editor == "mac" ? mac : tablet).execute(edit, at: 4_000)
    try bench.sync(mac)
    try bench.sync(tablet, mac, phone)
    try bench.sync(tablet, mac, phone)

    #expect(try mac.lines("SELECT id, title FROM notes ORDER BY id") == ["'a'|'A2'", "'b'|'B'"])
    for device in [phone, tablet] {
      #expect(try device.lines(Self.query) == ["'a'|'A2'|5", "'b'|'B'|2"])
    }
    for device in [mac, phone, tablet] { #expect(try bench.unclean(device) == []) }
  }

  @Test("A row that an edit of a dropped column keeps is made again in a new zone")
  func rowKeptWithoutItsZone() throws {
    var options = Self.options()
    options.zoneLost = { _ in .uploadAgain }
    let bench = SyncHarness()
    let mac = try bench.device("mac", Self.schema, tables: ["notes"], options: options)
    let phone = try bench.device("phone", Self.schema, tables: ["notes"], options: options)
    try mac.execute("INSERT INTO notes VALUES('a', 'A', 1)", at: 1_000)
    try bench.sync(mac, phone)
    try mac.execute("UPDATE notes SET stars = 5", at: 2_000)
    try phone.execute("DELETE FROM notes", at: 3_000)
    try bench.sync(mac, phone)
    try Self.dropStars(of: mac)
    try bench.deleteZone()
    try bench.restart(mac, ["notes"], options)
    try bench.sync(mac)
    let tablet = try bench.device("tablet", Self.schema, tables: ["notes"], options: options)
    try bench.sync(tablet, mac)

    #expect(try mac.lines("SELECT id, title FROM notes") == ["'a'|'A'"])
    #expect(try tablet.lines("SELECT id, title FROM notes") == ["'a'|'A'"])
    for device in [mac, tablet] { #expect(try bench.unclean(device) == []) }
  }

  @Test(
    "Whoever has dropped a column and deletes a row has seen what the column had",
    arguments: [true, false]
  )
  func deletion(isEditedBefore: Bool) throws {
    let options = Self.options()
    let bench = SyncHarness()
    let mac = try bench.device("mac", Self.schema, tables: ["notes"], options: options)
    let phone = try bench.device("phone", Self.schema, tables: ["notes"], options: options)
    try mac.execute("INSERT INTO notes VALUES('a', 'A', 1)", at: 1_000)
    try bench.sync(mac, phone)
    try Self.dropStars(of: mac)
    try bench.restart(mac, ["notes"], options)
    if isEditedBefore { try mac.execute("UPDATE notes SET title = 'A2'", at: 2_000) }
    try mac.execute("DELETE FROM notes", at: 3_000)
    try bench.sync(mac, phone)
    try bench.sync(mac, phone)

    for device in [mac, phone] {
      #expect(try device.lines("SELECT id FROM notes") == [])
      #expect(try bench.unclean(device) == [])
    }
  }
}

private final class Network: Sendable {
  let isAway = Locked(false)
}

private struct NetworkedHandler: WorkHandler {
  let base: any OperationHandler
  let network: Network

  func handle(_ work: SyncWork, context: RequestContext, completion: @escaping Completion) {
    if network.isAway.withLock({ $0 }) {
      return completion(.failure(SyncError(.networkUnavailable)))
    }
    base.perform(work, context: context, completion: completion)
  }
}

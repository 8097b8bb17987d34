import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSimulator
import Testing

@Suite("Columns that one device has dropped")
struct DroppedColumnTests {
  private static let schema =
    "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT, stars INTEGER)"
  private static let query = "SELECT id, title, stars FROM notes ORDER BY id"

  @Test(
    "A column that is dropped on one stays in the cloud, whatever is edited there, and comes back with it",
    arguments: [DeletePolicy.deleteWins, .editWins],
    [false, true]
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

import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSimulator
import CloudSyncTestSupport
import Testing

@Suite("Row filters, whatever is edited")
struct RowFilterRandomTests {
  private static let schema = """
    CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL, title TEXT, private INTEGER NOT NULL DEFAULT 0);
    CREATE TABLE notes(
      id TEXT PRIMARY KEY NOT NULL, list TEXT REFERENCES lists(id) ON DELETE CASCADE ON UPDATE CASCADE,
      title TEXT, private INTEGER NOT NULL DEFAULT 0
    )
    """
  private static let tables = ["lists", "notes"]

  private static func options(_ filter: String?, _ deletes: DeletePolicy) -> SyncEngineOptions {
    var options = SyncEngineOptions()
    for table in tables {
      options.tables[table] = SyncEngineOptions.Table()
      options.tables[table]?.rowFilter = filter
      options.tables[table]?.merging.deletes = deletes
    }
    return options
  }

  /// An edit of a device.
  private func edit(_ random: inout SeededRandom, step: Int) -> String {
    let table = random.below(2) == 0 ? "lists" : "notes"
    let key = "\(table.prefix(1))\(random.below(5))"
    switch random.below(9) {
    case 0, 1:
      let isPrivate = random.below(3) == 0 ? 1 : 0
      return """
        INSERT OR IGNORE INTO \(table)(id, title, private) VALUES('\(key)', 't\(step)', \(isPrivate))
        """
    case 2, 3: return "UPDATE \(table) SET title = 't\(step)' WHERE id = '\(key)'"
    case 4: return "UPDATE \(table) SET private = 1 - private WHERE id = '\(key)'"
    case 5:
      let list = "(SELECT id FROM lists WHERE id >= 'l\(random.below(5))' LIMIT 1)"
      return "UPDATE notes SET list = \(list) WHERE id = '\(key)'"
    case 6:
      return """
        UPDATE \(table) SET private = 1, title = 'p\(step)' WHERE id = '\(key)';
        DELETE FROM \(table) WHERE id = '\(key)'
        """
    case 7: return "DELETE FROM \(table) WHERE id = '\(key)'"
    default:
      let former = "\(table.prefix(1))\(random.below(5))"
      return "UPDATE OR IGNORE \(table) SET id = '\(key)' WHERE id = '\(former)'"
    }
  }

  /// What else may happen to a device: it syncs, its app is launched again, its responses are lost, or the zone is.
  private func happen(
    to device: SyncHarness.Device,
    in bench: SyncHarness,
    _ random: inout SeededRandom,
    _ deletes: DeletePolicy,
    losesZones: Bool
  ) throws {
    switch random.below(losesZones ? 8 : 7) {
    case 0:
      let filter = random.pick(["private = 0", "private = 0 AND title <> ''", "NOT private"])
      try bench.restart(device, Self.tables, Self.options(filter, deletes))
    case 7: try bench.deleteZone()
    case 2:
      // Whatever is on its way counts as lost.
      device.engine.sendChanges()
      device.engine.stop()
    case 3: try device.engine.uploadEverything()
    default: try bench.sync(device)
    }
  }

  @Test(
    "Nothing private leaves, nobody misses a parent, and without filters all devices are equal",
    arguments: SuiteSize.some(2, of: Array(UInt64(1)...40))
  )
  func random(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let deletes = random.pick([DeletePolicy.deleteWins, .editWins])
    let isEnforcing = random.below(3) > 0
    let losesZones = random.below(3) == 0
    let bench = SyncHarness()
    let devices = try ["mac", "phone", "tablet"].enumerated()
      .map { place, name in
        try bench.device(
          name,
          Self.schema,
          tables: Self.tables,
          options: Self.options(place == 2 ? nil : "private = 0", deletes),
          enforcesForeignKeys: isEnforcing
        )
      }
    for step in 1...60 {
      let device = devices[Int(random.below(2))]
      if random.below(4) == 0 {
        try happen(to: device, in: bench, &random, deletes, losesZones: losesZones)
      } else {
        try device.execute(edit(&random, step: step), at: Int64(step * 10))
      }
      // The third one edits nothing: what it has is what others have sent.
      if random.below(6) == 0 { try bench.sync(devices[2]) }
      #expect(try devices[2].lines("SELECT id FROM notes WHERE private") == [], "step \(step)")
      #expect(try devices[2].lines("SELECT id FROM lists WHERE private") == [], "step \(step)")
    }
    try bench.sync(devices[0], devices[1], devices[2])
    try bench.sync(devices[0], devices[1], devices[2])
    for device in devices {
      // A parent that was lost with its zone, and does not match any more, is not uploaded again: its children wait.
      let open = try bench.unclean(device)
        .filter { !$0.contains("'local'") && !(losesZones && $0.contains("'waiting'")) }
      #expect(open == [], "\(device.name)")
      #expect(device.activity?.pendingRows == 0, "\(device.name)")
    }
    // Rows that nobody keeps to himself are equal.
    for device in devices { try bench.restart(device, Self.tables, Self.options(nil, deletes)) }
    try bench.sync(devices[0], devices[1], devices[2])
    try bench.sync(devices[0], devices[1], devices[2])
    let expected = try devices[0].lines(Self.all)
    for device in devices {
      #expect(try device.lines(Self.all) == expected, "\(device.name)")
      #expect(try bench.unclean(device) == [], "\(device.name)")
    }
  }

  private static let all = """
    SELECT id, title, NULL, private FROM lists
    UNION ALL SELECT id, title, list, private FROM notes ORDER BY 1
    """
}

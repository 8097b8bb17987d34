import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSimulator

/// Databases that give rows the same values of unique keys at random, and come to rest in the end.
final class UniqueKeyScript {
  static let schema = """
    CREATE TABLE tags(
      id TEXT PRIMARY KEY NOT NULL, name TEXT COLLATE NOCASE UNIQUE, place INTEGER, color TEXT
    );
    CREATE UNIQUE INDEX places ON tags(place % 3) WHERE place > 0;
    CREATE TABLE notes(
      id TEXT PRIMARY KEY NOT NULL, tag TEXT REFERENCES tags(id) ON DELETE CASCADE, title TEXT
    );
    CREATE TABLE links(
      tag TEXT NOT NULL REFERENCES tags(id), note TEXT NOT NULL, mark TEXT, PRIMARY KEY(tag, note)
    );
    """
  static let tables = ["tags", "notes", "links"]

  private let bench = SyncHarness()
  private var random: SeededRandom
  private var devices: [SyncHarness.Device] = []
  private let options: SyncEngineOptions
  private let deletes: Bool
  /// By device, the tags that its table has had, and those that it was told to have become one with others.
  private var seen: [String: Set<String>] = [:]
  private let united = Locked<[String: Set<String>]>([:])
  /// Whether a tag leaves its table only as it becomes one with another.
  private let isTold: Bool
  /// Edits are a second apart.
  private var time: Int64 = 1_700_000_000_000

  init(seed: UInt64, policy: UniqueKeyPolicy, deletes: Bool) throws {
    random = SeededRandom(seed: seed)
    var options = SyncEngineOptions()
    options.tables["tags"] = SyncEngineOptions.Table()
    options.tables["tags"]?.uniqueKeys = policy
    self.options = options
    self.deletes = deletes
    isTold = policy.isMerge && !deletes
    for number in 0..<random.within(2...3) {
      let name = "device-\(number)"
      devices.append(try bench.device(name, Self.schema, tables: Self.tables, options: options))
    }
    for device in devices { hear(device) }
  }

  private func hear(_ device: SyncHarness.Device) {
    let name = device.name
    device.engine.unitedRows.sink { [united] rows in
      let keys = rows.filter { $0.table == "tags" }.compactMap { $0.key.first?.stringValue }
      united.withLock { $0[name, default: []].formUnion(keys) }
    }
  }

  /// Notes which tags there are.
  private func look() throws {
    for device in devices {
      let ids = try device.lines("SELECT id FROM tags").map { String($0.dropFirst().dropLast()) }
      seen[device.name, default: []].formUnion(ids)
    }
  }

  /// Runs the script; returns what is wrong in the end.
  func run() throws -> String? {
    for device in devices where random.chance(2, in: 3) { try device.engine.start() }
    for _ in 0..<random.within(15...50) {
      try step()
      try look()
    }
    for device in devices { try device.engine.start() }
    for _ in 0..<8 {
      for device in devices {
        device.engine.sendChanges()
        device.engine.fetchChanges()
        bench.world.advance(by: .seconds(60))
        try look()
      }
    }
    return try verdict() ?? untold()
  }

  private func step() throws {
    let device = random.pick(devices)
    switch random.below(11) {
    case 0..<6: try edit(device)
    case 6: device.engine.sendChanges()
    case 7: device.engine.fetchChanges()
    case 8:
      device.engine.sendChanges()
      device.engine.fetchChanges()
      bench.world.advance(by: .seconds(30))
    case 9:
      device.engine.stop()
      device.engine = try bench.engine(device.name, device.database, Self.tables, options)
      device.listen()
      hear(device)
    default:
      if !device.engine.isRunning { try device.engine.start() }
      bench.world.advance(by: .milliseconds(random.within(0...3_000)))
    }
  }

  private func edit(_ device: SyncHarness.Device) throws {
    time += 1_000
    let id = random.pick(["a", "b", "c", "d", "e"])
    let name = random.pick(["'x'", "'X'", "'y'", "'z'", "NULL"])
    let place = random.pick(["NULL", "0", "1", "2", "3", "4", "5"])
    let sql =
      switch random.below(10) {
      case 0..<3: "INSERT OR IGNORE INTO tags VALUES('\(id)', \(name), \(place), '\(time)')"
      case 3..<5: "UPDATE OR IGNORE tags SET name = \(name) WHERE id = '\(id)'"
      case 5: "UPDATE OR IGNORE tags SET place = \(place) WHERE id = '\(id)'"
      case 6: "UPDATE tags SET color = '\(time)' WHERE id = '\(id)'"
      case 7:
        "INSERT OR IGNORE INTO notes SELECT 'n\(id)', id, '\(time)' FROM tags WHERE id = '\(id)'"
      case 8:
        "INSERT OR IGNORE INTO links SELECT id, 'l', '\(time)' FROM tags WHERE id = '\(id)'"
      default:
        deletes
          ? "DELETE FROM links WHERE tag = '\(id)'; DELETE FROM tags WHERE id = '\(id)'"
          : "UPDATE notes SET title = '\(time)' WHERE id = 'n\(id)'"
      }
    try device.execute(sql, at: time)
  }

  // MARK: The end

  private func verdict() throws -> String? {
    for device in devices {
      if let error = device.failures.first { return "\(device.name) stopped: \(error)" }
      let unsent = try device.lines(
        """
        SELECT record_name, status, error FROM cloudsync_status WHERE status NOT IN ('clean', 'parked', 'waiting')
        UNION ALL SELECT record_name, 'unsent', NULL FROM cloudsync_pending WHERE is_dirty
        """
      )
      if !unsent.isEmpty { return "\(device.name) has not sent \(unsent)" }
      for table in Self.tables {
        let sql = "SELECT * FROM \(table) ORDER BY 1, 2"
        let (mine, first) = (try device.lines(sql), try devices[0].lines(sql))
        if mine != first {
          let states = try devices.map { device in
            try device.lines("SELECT record_name, status, error FROM cloudsync_status")
          }
          return "\(device.name) has \(table) \(mine), the first one \(first): \(states)"
        }
      }
      let sql =
        "SELECT record_name, status FROM cloudsync_status WHERE status <> 'clean' ORDER BY 1"
      let (mine, first) = (try device.lines(sql), try devices[0].lines(sql))
      if mine != first { return "\(device.name) says \(mine), the first one \(first)" }
    }
    return nil
  }

  /// A tag that has left a table while nobody was told that it became one with another; nil if there is none.
  private func untold() throws -> String? {
    guard isTold else { return nil }
    for device in devices {
      let left = try device.lines("SELECT id FROM tags").map { String($0.dropFirst().dropLast()) }
      let told = united.withLock { $0[device.name] ?? [] }
      let lost = (seen[device.name] ?? []).subtracting(left).subtracting(told)
      if !lost.isEmpty { return "\(device.name) was not told of \(lost.sorted())" }
    }
    return nil
  }

  /// How many rows are not in their tables in the end, on the first device.
  func parkedCount() throws -> Int {
    try devices[0].lines("SELECT 1 FROM cloudsync_status WHERE status <> 'clean'").count
  }
}

import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import CloudSyncSimulator

/// Databases with all kinds of keys and foreign keys that are edited at random, and have the same rows in the end.
final class ConstraintScript {
  /// A schema, and what is written to it.
  struct Schema: Sendable {
    var sql: String
    var tables: [String]
    /// Statements with `$1`, `$2` for keys and `$v` for a value.
    var statements: [String]
  }

  private let schema: Schema
  private let bench = SyncHarness()
  private var random: SeededRandom
  private var devices: [SyncHarness.Device] = []
  private let options: SyncEngineOptions
  /// Edits are a second apart.
  private var time: Int64 = 1_700_000_000_000
  /// What was done, for those who look for an error.
  private(set) var trace: [String] = []

  init(
    _ schema: Schema,
    seed: UInt64,
    options: SyncEngineOptions,
    enforcesForeignKeys: Bool
  ) throws {
    self.schema = schema
    random = SeededRandom(seed: seed)
    self.options = options
    for number in 0..<random.within(2...3) {
      let isEnforced = random.chance(2, in: 3) || enforcesForeignKeys
      let name = "device-\(number)\(isEnforced ? "" : ", unenforced")"
      devices.append(
        try bench.device(
          name,
          schema.sql,
          tables: schema.tables,
          options: options,
          enforcesForeignKeys: isEnforced
        )
      )
    }
  }

  /// Runs the script; returns what is wrong in the end.
  func run() throws -> String? {
    for device in devices where random.chance(2, in: 3) { try device.engine.start() }
    for _ in 0..<random.within(10...40) { try step() }
    for device in devices { try device.engine.start() }
    for _ in 0..<6 { sync() }
    if let fault = try fault() { return fault }
    // Whatever is in sync stays so: nothing is sent any more.
    let records = try bench.cloudTags()
    for _ in 0..<2 { sync() }
    if try bench.cloudTags() != records { return "records are sent again and again" }
    return try fault()
  }

  private func sync() {
    for device in devices {
      device.engine.sendChanges()
      device.engine.fetchChanges()
      bench.world.advance(by: .seconds(120))
    }
  }

  private func step() throws {
    let device = random.pick(devices)
    let choice = random.below(12)
    if choice > 6 {
      trace.append("\(device.name): \(["send", "fetch", "sync", "restart", "wait"][choice - 7])")
    }
    switch choice {
    case 0...6: try edit(device)
    case 7: device.engine.sendChanges()
    case 8: device.engine.fetchChanges()
    case 9:
      device.engine.sendChanges()
      device.engine.fetchChanges()
      bench.world.advance(by: .seconds(30))
    case 10:
      device.engine.stop()
      device.engine = try bench.engine(device.name, device.database, schema.tables, options)
      device.listen()
    default:
      if !device.engine.isRunning { try device.engine.start() }
      bench.world.advance(by: .milliseconds(random.within(0...3_000)))
    }
  }

  private func edit(_ device: SyncHarness.Device) throws {
    time += 1_000
    var sql = random.pick(schema.statements)
    for name in ["$1", "$2", "$3"] {
      sql = sql.split(separator: name, omittingEmptySubsequences: false)
        .joined(separator: random.pick(["'a'", "'b'", "'c'", "'d'"]))
    }
    sql = sql.split(separator: "$v", omittingEmptySubsequences: false)
      .joined(separator: "'\(time / 1_000 % 1_000)'")
    trace.append("\(device.name): \(sql)")
    try device.database.execute("UPDATE cloudsync_clock SET fixed = \(time)")
    let statement = sql
    let refusal = try device.database.write { handle -> String? in
      let connection = SQLiteConnection(borrowing: handle)
      do throws(SQLiteError) {
        try connection.transaction { () throws(SQLiteError) in
          try connection.execute("PRAGMA defer_foreign_keys = ON; \(statement)")
        }
      } catch { return error.message }
      return nil
    }
    // What a constraint forbids is no edit.
    if let refusal { trace.append("\(device.name): refused, \(refusal)") }
  }

  // MARK: The end

  private func fault() throws -> String? {
    for device in devices {
      if let error = device.failures.first { return "\(device.name) stopped: \(error)" }
      if !device.engine.isRunning { return "\(device.name) does not run" }
      let outbox = try device.lines("SELECT count(*) FROM cloudsync_outbox")
      if outbox != ["0"] { return "\(device.name) has captured \(outbox) edits" }
      let unsent = try device.lines(
        """
        SELECT record_name, status, error FROM cloudsync_status
        WHERE status NOT IN ('clean', 'parked', 'waiting')
        UNION ALL SELECT record_name, 'unsent', error FROM cloudsync_pending WHERE is_dirty
        """
      )
      if !unsent.isEmpty { return "\(device.name) has not sent \(unsent)" }
      let dangling = try device.engine.danglingReferences()
      if !dangling.isEmpty { return "\(device.name) has \(dangling)" }
      for table in schema.tables {
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
}

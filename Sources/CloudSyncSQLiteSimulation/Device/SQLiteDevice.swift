package import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport
package import CloudSyncSimulator

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// An app with tables in a SQLite database, which a sync engine synchronizes.
///
/// Some have an old version of the app, which lacks a table and two columns, and some of these are
/// updated on the way. Now and then another process edits, the app stops its engine, or a kill or a
/// failure breaks the engine off in the midst of a transaction. ``FaultPoint`` names what else a database
/// goes through.
package final class SQLiteDevice: AcquaintedDevice {
  /// What does not survive the process.
  struct App {
    var process: DeviceProcess?
    var database: FaultyDatabase?
    var engine: SyncEngine?
    /// Whether it is for some of the tables, or of the rows, only.
    var isPartial = false
    /// That of another process, which never starts it.
    var otherEngine: SyncEngine?
    /// While the engine is stopped, or the app waits before it tries again.
    var pause: (any SyncTimer)?
  }

  /// What does, beside the database.
  struct History {
    var version = SimulatedSchema.Version()
    var launches = 0
    /// Edits that another process will make while the app does not run.
    var postponed: [DeviceEdit] = []
    /// Edits that another process will make just before the engine writes.
    var imminent: [DeviceEdit] = []
    /// What was there before the engine.
    var seeds: [RowEdit] = []
    /// What users have done.
    var edits: [RowEdit] = []
    /// How many values migrations have made.
    var inventions: Int64 = 0
    /// Whether the app has had rows erased with their zone.
    var hasErased = false
    /// Whether an engine of it has read what was captured of parents without that of their children.
    var hasReadInParts = false
    /// Whether it is settled if the device has a copy of another one's file.
    var hasDrawnCopy = false
    var isCopy = false
    /// Whether no engine has opened the copy yet.
    var isUnopened = false
    /// The device whose file others may have a copy of.
    weak var source: SQLiteDevice?
    /// What went wrong without having been made to.
    var failures: [String] = []
    var random: SeededRandom
    /// Says when somebody removes a record from the cloud.
    var removals: SeededRandom
    /// Says what another process does with an engine of its own.
    var others: SeededRandom
    /// Says which rows an engine sends.
    var filters: SeededRandom
    /// Says when the app makes its triggers.
    var triggers: SeededRandom
    /// The rows of a table that the engine sends.
    var filter: SimulatedFilter?
    /// The tables of which an engine of it has ever sent only some rows.
    var filtered: Set<String> = []

    /// Notes what was edited.
    mutating func note(_ made: [RowEdit]) {
      for var edit in made {
        edit.mayStay =
          edit.isDeletion && !filtered.isEmpty
          && (edit.isOfCascade || filtered.contains(edit.row.table))
        edits.append(edit)
      }
    }
  }

  let setup: DeviceSetup
  let schema: SimulatedSchema
  let disk: SimulatedDisk
  let app = Locked(App())
  let history: Locked<History>

  /// Creates a device with empty tables.
  package init(_ setup: DeviceSetup) {
    self.setup = setup
    var schema = SimulatedSchema(seed: setup.commonSeed)
    var locals = SeededRandom(seed: setup.commonSeed).fork(88)
    schema.hasLocals = locals.chance(1, in: 4)
    schema.givesKeys = !schema.hasTriggers && locals.chance(1, in: 3)
    schema.addsCounters = locals.chance(3, in: 4)
    self.schema = schema
    var random = SeededRandom(seed: setup.seed)
    // The same for all of them, so that a campaign can tell what a seed costs.
    var common = SeededRandom(seed: setup.commonSeed).fork(78)
    let isInFile = common.chance(1, in: 12)
    var history = History(
      random: random.fork(1),
      removals: random.fork(2),
      others: random.fork(3),
      filters: random.fork(4),
      triggers: random.fork(5)
    )
    if setup.number > 0, random.chance(1, in: 3) { history.version.hasAdditions = false }
    do {
      disk = try SimulatedDisk(inFile: isInFile, enforcesForeignKeys: schema.isEnforced)
      try disk.file()
        .execute(schema.preamble(onDevice: setup.number) + schema.sql(version: history.version))
      if schema.isSeeded {
        history.seeds = try Self.seed(
          disk.file(),
          schema: schema,
          version: history.version,
          number: setup.number
        )
      }
    } catch {
      preconditionFailure("A simulation needs a folder for temporary files: \(error)")
    }
    self.history = Locked(history)
  }

  // MARK: What the simulation sees

  /// The session of the running engine.
  package var session: CloudSyncSession? { engine?.session }

  var engine: SyncEngine? { app.withLock { $0.engine } }

  /// The engine writes no journal: what it needs is in its tables.
  package var archive: Data? { nil }

  /// There is nothing to tear: where SQLite's own log ends is for SQLite to find.
  package func tearArchive(leaving tail: Data) -> Bool { false }

  /// Remembers whose file it may begin with a copy of.
  package func meet(_ devices: [any SimulatedDevice]) {
    guard let source = devices.first as? SQLiteDevice, source !== self else { return }
    history.withLock { $0.source = source }
  }

  /// Records that a page could not bring, or whose absence no fetch has told, are looked up after a wait; and rows are sent
  /// whose tombstones somebody has marked, and not deleted in a day.
  package var hasPlans: Bool {
    let plans = """
      SELECT 1 FROM cloudsync_unfetched
      UNION ALL SELECT 1 FROM cloudsync_pending WHERE is_sendable AND next IS NOT NULL LIMIT 1
      """
    return attempt { () throws in try disk.file().rows(sql: plans).isEmpty == false } ?? false
  }

  /// The rows, with their whole numbers.
  package func contents() -> [DeviceRecord] {
    let records = attempt { () throws in
      try schema.tables(version: version)
        .flatMap { table -> [DeviceRecord] in
          let key = table.key.map(\.name).joined(separator: ", ")
          return try disk.file().rows(sql: "SELECT \(key), a FROM \(table.name)")
            .map { row in
              var fields: [DeviceRecord.Field] = []
              if case .integer(let number)? = row.last {
                fields = [.init(name: "a", value: number)]
              }
              return DeviceRecord(
                name: "\(RowID.canonical(table: table.name, key: Array(row.dropLast())))",
                fields: fields
              )
            }
        }
    }
    return (records ?? []).sorted { $0.name < $1.name }
  }

  // MARK: Errors

  var version: SimulatedSchema.Version { history.withLock { $0.version } }

  /// Notes what must not happen.
  func note(_ failure: String) { history.withLock { $0.failures.append(failure) } }

  /// Does something with the database that must not fail.
  func attempt<Value>(_ body: () throws -> Value) -> Value? {
    do { return try body() } catch {
      note("\(error)")
      return nil
    }
  }
}

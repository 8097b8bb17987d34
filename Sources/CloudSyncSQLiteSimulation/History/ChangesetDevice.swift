import CloudSyncChangesets
package import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport
package import CloudSyncSimulator

/// An app with tables in a SQLite database, of which a history is kept and exchanged.
///
/// Some have an old version of the app, which lacks a table and two columns, and some of these are updated on the
/// way. Commits are made after edits or later; users make branches, merge them, take commits back and look at old
/// ones. Another process edits, and a kill or a failure breaks the history off in the midst of a transaction.
package final class ChangesetDevice: AcquaintedDevice {
  /// What does not survive the process.
  struct App {
    var process: DeviceProcess?
    var database: FaultyDatabase?
    var repository: ChangesetRepository?
    var remote: ChangesetRemote?
    var tasks: SimulatedTasks?
    /// Whether a sync is on its way, and whether another one is to follow.
    var isSyncing = false
    var wantsSync = false
  }

  /// What does, beside the database.
  struct History {
    var version = SimulatedSchema.Version()
    /// Whether the app has been, or is, an old version.
    var wasOld = false
    var launches = 0
    /// Edits that another process will make while the app does not run.
    var postponed: [DeviceEdit] = []
    /// Edits that another process will make just before the history is asked for anything.
    var imminent: [DeviceEdit] = []
    /// What users have done.
    var edits: [RowEdit] = []
    /// How many values migrations have made.
    var inventions: Int64 = 0
    var hasDrawnCopy = false
    /// The names of forged records: one may stay on the list where the process has ended meanwhile.
    var forgeries: Set<String> = []
    /// The commits that have taken others back by their names.
    var reversions: Set<ChangesetID> = []
    /// Whether old changes were removed here.
    var hasCollected = false
    /// The device whose file others may have a copy of.
    weak var source: ChangesetDevice?
    /// What went wrong without having been made to.
    var failures: [String] = []
    var random: SeededRandom
    /// Says what users do with the history.
    var chores: SeededRandom
    /// Says when users squash it.
    var squashes: SeededRandom
  }

  let setup: DeviceSetup
  let schema: SimulatedSchema
  let rules: SimulatedMergeRules
  /// The app's own.
  let triggers: SimulatedTriggers
  /// Whether each user has a branch, and merges the others' into it.
  let hasOwnBranches: Bool
  /// Whether users leave the main branch: what is on another one is brought up by nobody but an app that can.
  var hasBranches: Bool { schema.renames.isEmpty }
  /// Whether users squash this history now and then.
  let isSquashed: Bool
  let disk: SimulatedDisk
  let app = Locked(App())
  let history: Locked<History>

  /// Creates a device with empty tables.
  package convenience init(_ setup: DeviceSetup) { self.init(setup, isNewest: false) }

  /// - Parameters:
  ///   - setup: Which device it is.
  ///   - isNewest: Whether its app has the newest version, whatever is drawn.
  init(_ setup: DeviceSetup, isNewest: Bool) {
    self.setup = setup
    var schema = SimulatedSchema(seed: setup.commonSeed)
    // One device's tables have a rule that no other's have: what breaks it there is parked.
    if setup.number == 2, setup.commonSeed % 4 == 1 { schema.tagRule = "a IS NULL OR a % 3 <> 1" }
    var renames = SeededRandom(seed: setup.commonSeed).fork(83)
    if renames.chance(1, in: 4) { schema.drawRenames(by: &renames) }
    var own = SeededRandom(seed: setup.seed).fork(84)
    var shared = SeededRandom(seed: setup.commonSeed).fork(84)
    triggers = SimulatedTriggers(schema: schema, random: &shared, own: &own)
    // What one device holds as reals is the same to it, and to the others what they have written.
    var types = SeededRandom(seed: setup.commonSeed).fork(85)
    schema.isRetyped = types.chance(1, in: 3) && setup.number == 1
    schema.drawDefault(seed: setup.commonSeed, device: setup.number)
    self.schema = schema
    rules = SimulatedMergeRules(schema: schema, commonSeed: setup.commonSeed, device: setup.number)
    var random = SeededRandom(seed: setup.seed)
    // The same for all of them, so that a campaign can tell what a seed costs.
    var common = SeededRandom(seed: setup.commonSeed).fork(79)
    let isInFile = common.chance(1, in: 12)
    var branches = common.fork(82)
    hasOwnBranches = branches.chance(1, in: 6) && schema.renames.isEmpty
    var squashes = common.fork(81)
    isSquashed = squashes.chance(1, in: 2)
    var history = History(random: random.fork(1), chores: random.fork(2), squashes: random.fork(3))
    history.version = schema.newest
    // Columns are renamed on every device, the first one too.
    var updates = SeededRandom(seed: setup.commonSeed).fork(86)
    // Most are updated, each by itself: their migrations meet.
    let areMostOld = updates.chance(1, in: 6) && !isNewest
    if setup.number > 0 && random.chance(1, in: 3)
      || !schema.renames.isEmpty && !isNewest && own.chance(1, in: 2)
      || areMostOld && own.chance(3, in: 4)
    {
      (history.version, history.wasOld) = (Self.oldest, true)
      history.version.hasRetyped = schema.isRetyped
    }
    // No trigger stands in the way of giving a column its type.
    if schema.isRetyped, triggers.kinds.isEmpty, types.chance(1, in: 2) {
      history.version.hasRetyped = false
    }
    do {
      disk = try SimulatedDisk(inFile: isInFile, enforcesForeignKeys: schema.isEnforced)
      try disk.file().execute(schema.sql(version: history.version))
      try disk.file().execute(triggers.sql(version: history.version))
    } catch {
      preconditionFailure("A simulation needs a folder for temporary files: \(error)")
    }
    self.history = Locked(history)
  }

  private static let oldest = SimulatedSchema.Version(hasAdditions: false)

  // MARK: What the simulation sees

  /// Whether the app puts its responses about some rows off, and gives them later.
  ///
  /// Such an app has one branch: what is asked about another is told only there.
  var putsAnswersOff: Bool {
    setup.number == 1 && !rules.asksApp && setup.commonSeed % 3 == 0
      && history.withLock { !$0.wasOld }
  }

  /// What the app says of rows that two replicas have changed; nil if it is not asked.
  var handler: (@Sendable (RowConflict) -> Resolution)? {
    if putsAnswersOff { return { $0.columns.contains("a") ? .later : .automatic } }
    return rules.handler
  }

  /// The session of the running app.
  package var session: CloudSyncSession? { remote?.session }

  var remote: ChangesetRemote? { app.withLock { $0.remote } }
  var repository: ChangesetRepository? { app.withLock { $0.repository } }

  /// Remembers whose file it may begin with a copy of.
  package func meet(_ devices: [any SimulatedDevice]) {
    guard let source = devices.first as? ChangesetDevice, source !== self else { return }
    history.withLock { $0.source = source }
  }

  /// The rows, with their whole numbers.
  package func contents() -> [DeviceRecord] {
    rows.map { row in
      var fields: [DeviceRecord.Field] = []
      if case .integer(let number)? = row["a"] { fields = [.init(name: "a", value: number)] }
      return DeviceRecord(name: "\(row.id)", fields: fields)
    }
    .sorted { $0.name < $1.name }
  }

  /// All rows of the tables that there are, by table and key as it is spelled.
  var rows: [EndRow] {
    let parked = attempt { () throws in try parkedRows } ?? []
    let rows = attempt { () throws in
      try schema.tables(version: version)
        .flatMap { table -> [EndRow] in
          let key = table.key.map(\.name)
          let list = (key + table.columns.map(\.sql)).joined(separator: ", ")
          return try disk.file()
            .rows(sql: "SELECT \(list) FROM \(table.name) ORDER BY \(key.joined(separator: ", "))")
            .map { row in
              let id = RowID(table: table.name, key: Array(row.prefix(key.count)))
              let values = zip(table.columns.map(\.name), row.dropFirst(key.count))
              return EndRow(id: id, values: values.map { (column: $0, value: $1.withoutType) })
            }
        }
    }
    return (rows ?? []) + parked
  }

  /// The rows of the history that only the tables here do not take.
  private var parkedRows: [EndRow] {
    get throws {
      guard schema.tagRule != nil, try disk.file().lines(sql: Self.parkedTable).isEmpty == false
      else { return [] }
      let tables = schema.tables(version: version)
      return try inspected().conflicts().filter { $0.kind == .parked }
        .compactMap { parked -> EndRow? in
          guard let table = tables.first(where: { $0.name == parked.table }) else { return nil }
          let values = Dictionary(
            parked.lost.map { ($0.column, $0.value.column ?? .null) },
            uniquingKeysWith: { one, _ in one }
          )
          return EndRow(
            id: RowID(table: table.name, key: parked.key.map { $0.column ?? .null }),
            values: table.columns.map {
              (column: $0.name, value: (values[$0.sql] ?? .null).withoutType)
            }
          )
        }
    }
  }

  private static let parkedTable =
    "SELECT name FROM sqlite_schema WHERE name = 'changesets_parked'"

  /// The history as who only looks at it has it: nothing goes wrong.
  func inspected() throws(ChangesetError) -> ChangesetRepository {
    guard let file = attempt({ () throws in try disk.file() }) else {
      throw ChangesetError(.cannotAccess, "the database cannot be opened")
    }
    return try ChangesetRepository(
      file,
      tables: triggers.tables(version: version),
      options: ChangesetOptions(tables: rules.tables(schema: schema))
    )
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

  /// Whether something happens now.
  func draw(_ point: FaultPoint, for process: DeviceProcess) -> Bool {
    let ratio = process.ratio(of: point)
    guard ratio.hits > 0 else { return false }
    return history.withLock { $0.random.chance(ratio.hits, in: ratio.cases) }
  }
}

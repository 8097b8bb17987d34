import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import CloudSyncSimulator
import Testing

/// Some databases and a cloud, in virtual time.
final class SyncHarness {
  /// A database with its engine.
  final class Device {
    let name: String
    let database: DatabaseFile
    var engine: SyncEngine
    private let errors = Locked<[SyncEngineError]>([])

    init(_ name: String, _ database: DatabaseFile, _ engine: SyncEngine) {
      self.name = name
      self.database = database
      self.engine = engine
      listen()
    }

    func listen() {
      engine.errors.sink { [errors] error in errors.withLock { $0.append(error) } }
    }

    var failures: [String] { errors.withLock { $0.map(\.description) } }

    /// Edits at a time of the test's own.
    func execute(_ sql: String, at milliseconds: Int64? = nil) throws {
      if let milliseconds {
        try database.execute("UPDATE cloudsync_clock SET fixed = \(milliseconds)")
      }
      try database.execute(sql)
    }

    func lines(_ sql: String) throws -> [String] { try database.lines(sql) }

    /// Whether no edit waits to be read, and no row to be sent or written.
    func isAtRest() throws -> Bool {
      let waiting =
        "SELECT 1 FROM cloudsync_outbox UNION ALL SELECT 1 FROM cloudsync_pending LIMIT 1"
      return try !engine.isSynchronizing && lines(waiting).isEmpty
    }
  }

  let world = SimulatedEnvironment()
  let cloud: LocalCloud
  /// How often anybody has written to the cloud.
  private let writes = Locked(0)
  let zoneID = ZoneID(name: "Data")
  private let owner = AccountIdentity("owner")
  private let consoleRequests = Locked<UInt64>(0)

  /// Puts something between the devices and the cloud.
  var handler: (any OperationHandler) -> any OperationHandler = { $0 }

  init(store: any LocalCloudStore = MemoryStore(), assetFolder: String? = nil) {
    let world = world
    let store = CountingStore(base: store, writes: writes)
    cloud = LocalCloud(store: store, assetFolder: assetFolder, now: { world.now })
  }

  /// Two databases with the same tables, and their cloud.
  static func pair(
    _ schema: String,
    tables: [String],
    options: SyncEngineOptions = SyncEngineOptions(),
    enforcesForeignKeys: Bool = true
  ) throws -> (SyncHarness, mac: Device, phone: Device) {
    let bench = SyncHarness()
    func device(_ name: String) throws -> Device {
      try bench.device(
        name,
        schema,
        tables: tables,
        options: options,
        enforcesForeignKeys: enforcesForeignKeys
      )
    }
    return (bench, try device("mac"), try device("phone"))
  }

  func device(
    _ name: String,
    _ schema: String,
    tables: [String],
    options: SyncEngineOptions = SyncEngineOptions(),
    enforcesForeignKeys: Bool = true
  ) throws -> Device {
    let database = try DatabaseFile(path: ":memory:", enforcesForeignKeys: enforcesForeignKeys)
    try database.execute(schema)
    return Device(name, database, try engine(name, database, tables, options))
  }

  func engine(
    _ name: String,
    _ database: any SyncDatabase,
    _ tables: [String],
    _ options: SyncEngineOptions = SyncEngineOptions()
  ) throws -> SyncEngine {
    var options = options
    options.captureClock = .fixed
    return try SyncEngine(
      database: database,
      tables: tables,
      zoneID: zoneID,
      operationHandler: handler(cloud.connect(device: name, account: owner, zoneID: zoneID)),
      options: options,
      environment: world.environment
    )
  }

  /// Gives a device an engine anew, as an app does that was launched again; its database may be changed
  /// before.
  func restart(
    _ device: Device,
    _ tables: [String],
    _ options: SyncEngineOptions = SyncEngineOptions(),
    after sql: String = ""
  ) throws {
    device.engine.stop()
    try device.execute(sql)
    device.engine = try engine(device.name, device.database, tables, options)
    device.listen()
  }

  /// Lets devices send and fetch, one after the other, until nothing changes any more.
  func sync(_ devices: Device...) throws {
    var seen: [String: Int] = [:]
    for device in devices + devices {
      if !device.engine.isRunning { try device.engine.start() }
      // Nobody has written since it fetched, and it has nothing to send: only time passes.
      if seen[device.name] == writes.withLock({ $0 }), try device.isAtRest() {
        world.advance(by: .seconds(60))
        #expect(device.failures == [], "\(device.name)")
        continue
      }
      device.engine.sendChanges()
      world.advance(by: .seconds(30))
      seen[device.name] = writes.withLock { $0 }
      device.engine.fetchChanges()
      world.advance(by: .seconds(30))
      #expect(device.failures == [], "\(device.name)")
    }
  }

  /// The names of the records that the cloud has, but for tombstones and the zone's own.
  func cloudNames() throws -> [String] {
    try cloud.records(account: owner, zone: zoneID).filter(\.isRow).map(\.recordID.name)
  }

  /// The record of a name that the cloud has.
  func record(_ name: String) throws -> Record? {
    try cloud.records(account: owner, zone: zoneID).first { $0.recordID.name == name }
  }

  /// The records that the cloud has, each with the tag of its last change.
  func cloudTags() throws -> [String] {
    try cloud.records(account: owner, zone: zoneID)
      .map { "\($0.recordID.name) \($0.changeTag ?? "")" }
  }

  func deleteZone() throws { try cloud.deleteZone(zoneID, account: owner) }

  /// Has somebody remove a record with another tool.
  func remove(_ name: String) throws {
    modify(ModifyOperation(recordIDsToDelete: [RecordID(name: name, zoneID: zoneID)]))
  }

  /// Has somebody save a record with another tool, over the one that the cloud has.
  func save(_ record: Record) throws { modify(ModifyOperation(records: [record])) }

  private func modify(_ operation: ModifyOperation) {
    let console = cloud.connect(device: "console", account: owner, zoneID: zoneID)
    let number = consoleRequests.withLock { number in
      number += 1
      return number
    }
    let context = RequestContext(
      attempt: Attempt(epoch: 1, number: number),
      writeToken: WriteToken(nonce: 1, number: number),
      deadline: .distantFuture
    )
    console.perform(.modify(operation), context: context) { result in
      #expect(throws: Never.self) { try result.get() }
    }
  }

  /// What a device knows of rows that are not clean.
  func unclean(_ device: Device) throws -> [String] {
    try device.lines(
      """
      SELECT record_name, status, error FROM cloudsync_status
      WHERE status <> 'clean' AND error_code IS NOT 1555
      """
    )
  }

  /// The keys of rows that a device keeps because other rows have got these.
  func displaced(_ device: Device) throws -> [String] {
    try device.lines(
      "SELECT key FROM cloudsync_status WHERE status = 'parked' AND error_code = 1555"
    )
  }
}

/// Counts the transactions that may write.
private struct CountingStore: LocalCloudStore {
  let base: any LocalCloudStore
  let writes: Locked<Int>

  var opening: UInt64 { base.opening }

  func transaction<Value: Sendable>(
    _ kind: LocalCloudTransactionKind,
    _ body: (any LocalCloudTransaction) throws(LocalCloudStoreError) -> Value
  ) throws(LocalCloudStoreError) -> Value {
    if kind == .write { writes.withLock { $0 += 1 } }
    return try base.transaction(kind, body)
  }
}

extension Record {
  /// Whether it is one of a row that lives: a tombstone has no more than a clock.
  var isRow: Bool { recordID.name != "cloudsync_zone" && fields.count > 1 }
}

extension DatabaseFile {
  /// The rows of a query, a line each.
  func lines(_ sql: String) throws -> [String] {
    try write { handle in
      let query = try SQLiteConnection(borrowing: handle).prepare(sql)
      var lines: [String] = []
      try query.forEachRow {
        lines.append((0..<query.columnCount).map { query.value($0).literal }.joined(separator: "|"))
      }
      return lines
    }
  }
}

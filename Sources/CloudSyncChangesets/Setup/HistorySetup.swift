import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Makes a history, or opens the one that is there.
struct HistorySetup {
  let connection: HistoryConnection
  let options: ChangesetOptions

  /// The most bytes that an import commit has, roughly.
  private static let importSize = 8 << 20

  /// The tables of the history, which is made if there is none.
  func open(names: [String]?) throws(ChangesetError) -> TrackedTables {
    if let tables = try openInstalled(names: names) { return tables }
    return try connection.transaction { () throws(ChangesetError) in
      try createUnlessInstalled(names: names)
    }
  }

  private func createUnlessInstalled(names: [String]?) throws(ChangesetError) -> TrackedTables {
    // Another process may have been faster.
    if let tables = try openInstalled(names: names) { return tables }
    let rules = TrackingRules(schema: try CaptureInstallation(connection: connection).readSchema())
    let tables = try rules.tables(names: names)
    try EngineTablesCheck(connection: connection).check(tables: tables, in: rules.schema)
    try installTables()
    let installation = CaptureInstallation(connection: connection)
    let tracked = try installation.install(names: tables)
    _ = try Dictionaries(connection: connection).number(for: tracked.description)
    try importRows(tracked: tracked)
    return tracked
  }

  /// Makes a history of no tables, for commits that come from elsewhere.
  func createEmpty() throws(ChangesetError) {
    try installTables()
    _ = try Dictionaries(connection: connection).number(for: SchemaDescription(tables: []))
  }

  private func installTables() throws(ChangesetError) {
    try checkReplica()
    try HistoryTables.install(connection: connection)
    try Info(connection).set(.replica, .text(options.replica ?? randomName()))
  }

  /// The tables of a history that is there; nil if there is none.
  private func openInstalled(names: [String]?) throws(ChangesetError) -> TrackedTables? {
    guard let version = try HistoryTables.installedVersion(connection: connection) else {
      return nil
    }
    try HistoryTables.check(version: version)
    let tracked = try CaptureInstallation(connection: connection).unchanged()
    for name in names ?? [] where tracked.table(called: name) == nil {
      throw ChangesetError(
        .needsMigration,
        "table \(name.quotedName) is not in the history; add it with a migration"
      )
    }
    return tracked
  }

  private func checkReplica() throws(ChangesetError) {
    guard let name = options.replica, !name.isValidName(upTo: CommitReader.longestName) else {
      return
    }
    throw ChangesetError(.invalidName, "a replica cannot be called “\(name)”; name another one")
  }

  private func randomName() -> String { "replica-" + ReplicaName.random(options: options) }

  /// Commits the rows that are there, so many at a time that no commit is large.
  private func importRows(tracked: TrackedTables) throws(ChangesetError) {
    let work = HistoryWork(connection: connection, tables: tracked, options: options)
    var part = StateDelta()
    var (size, count) = (0, 0)
    func flush() throws(ChangesetError) {
      if part.isEmpty { return }
      let position = try work.heads.position()
      let time = HybridTime.next(after: position.clock, now: work.now)
      count += 1
      let timed = part.ordered.written(at: time)
      let meta = ImportMark.meta(part: count)
      _ = try Committing(work: work).append(timed, meta: meta, at: time, on: position)
      (part, size) = (StateDelta(), 0)
    }
    for table in tracked.tables {
      try TableRows(connection: connection, table: table)
        .forEach { (row) throws(ChangesetError) in
          size += row.key.bytes.count + row.cells.reduce(0) { $0 + $1.new.roughSize + 2 }
          part.append(row: row, of: table.name)
          if size >= Self.importSize { try flush() }
        }
    }
    try flush()
  }
}

extension StateDelta {
  /// Adds a row to the last table, or to a new last one.
  fileprivate mutating func append(row: RowDelta, of table: String) {
    if tables.last?.name.hasSameBytes(as: table) != true {
      tables.append(TableDelta(table, rows: []))
    }
    tables[tables.count - 1].rows.append(row)
  }

  /// The same changes with the rows of each table in order.
  fileprivate var ordered: StateDelta {
    StateDelta(
      tables: tables.map { TableDelta($0.name, rows: $0.rows.sorted { $0.key < $1.key }) }
    )
  }
}

extension SQLiteValue {
  /// About how many bytes it takes.
  fileprivate var roughSize: Int {
    switch self {
    case .null: 0
    case .integer, .real: 8
    case .text(let text): text.utf8.count
    case .malformedText(let bytes), .blob(let bytes): bytes.count
    }
  }
}

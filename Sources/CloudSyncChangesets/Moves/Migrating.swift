import CloudSyncSQLite
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Changes the tables of a history, and commits what became of their rows.
///
/// Replicas that do the same to the same commit make the same commit.
struct Migrating {
  let connection: HistoryConnection
  let options: ChangesetOptions
  /// Whether a name that is freed and given anew is refused: what was done once is done to others' commits too.
  var refusesReusedNames = true
  /// What the body runs, to be kept for others' commits; nil if nobody knows it.
  var sql: String?

  /// Runs the app's migration; nothing is uncommitted before.
  func run(_ body: () throws -> Void) throws {
    let installation = CaptureInstallation(connection: connection)
    let former = try installation.tracked()
    let work = HistoryWork(connection: connection, tables: former, options: options)
    try work.checkNothingIsUncommitted()
    let position = try work.heads.position()
    if position.isDetached, try isBeyond(branch: position.branch, work) == false {
      throw Self.isDetached
    }
    let others = Set(try installation.readSchema().tables.map(\.name))
    let state = try position.isDetached ? StateDelta() : Self.state(at: position.seq, work)
    let places = try ReusedNames.places(connection)
    try installation.uninstall()
    try body()
    guard connection.sqlite.isInTransaction else {
      throw ChangesetError(.misuse, "a migration must leave the transaction open that it is in")
    }
    let schema = try installation.readSchema()
    let names = schema.tables.map(\.name)
      .filter { former.table($0) != nil || !others.contains($0) }
    let rules = TrackingRules(schema: schema)
    let migrated = HistoryWork(
      connection: connection,
      tables: try installation.install(names: try rules.tables(names: names)),
      options: options
    )
    if refusesReusedNames {
      try ReusedNames(before: former.description, state: state, work: migrated)
        .check(places: places)
    }
    if migrated.tables.id == former.id { return try Rescan(work: migrated).run() }
    let number = try migrated.dictionaries.number(for: migrated.tables.description)
    if let sql, let seq = position.seq, !position.isDetached {
      try KeptMigrations(connection: connection)
        .keep(sql: sql, from: migrated.log.row(seq).schema, to: number)
    }
    if position.isDetached {
      try layRows(of: position, in: migrated)
    } else {
      try commit(changes(from: state, former: former, in: migrated), at: position, in: migrated)
    }
    // The tables may have become able to take rows, and values.
    try migrated.parked.retry(in: migrated.tables)
    try ConvertedValues.retry(in: migrated.tables, connection)
  }

  private static let isDetached = ChangesetError(
    .detached,
    "an older commit is checked out; switch to a branch first"
  )

  // MARK: While an older commit is checked out

  /// Whether a branch has nothing that this version can go to: then a migration is the only way back to it.
  private func isBeyond(branch: Int64, _ work: HistoryWork) throws(ChangesetError) -> Bool {
    let branches = Branches(work: work)
    guard try branches.knownHeads(ofBranch: branch).isEmpty else { return false }
    return try work.branchHeads.joinable(ofBranch: branch).isEmpty == false
  }

  /// Makes the rows in the new tables those of the commit that is checked out, or, where it has what these lack, those of
  /// the branch.
  ///
  /// No commit is made of what the migration has made of them: nothing goes on from an older commit, and the branch has
  /// what others' migrations have made of its rows.
  private func layRows(of position: Heads.Position, in work: HistoryWork) throws(ChangesetError) {
    try DefaultFills(work: work).keep()
    if let seq = position.seq, try work.knows(work.log.row(seq)) == false {
      // Nobody could look at it any more, nor go back from it.
      try goToHead(of: position, in: work)
    }
    try Rescan(work: work).run()
    let changes = try work.uncommitted.changes(at: .zero)
    try work.uncommitted.clear()
    try work.parking.apply(delta: changes.inverted(at: .zero))
  }

  /// Makes HEAD the latest head of a branch that the tables can have; its rows are laid next.
  private func goToHead(of position: Heads.Position, in work: HistoryWork) throws(ChangesetError) {
    var known: [LogRow] = []
    for head in try work.branchHeads.joinable(ofBranch: position.branch) {
      let row = try work.log.row(head.seq)
      if try work.knows(row) { known.append(row) }
    }
    guard let head = known.max(by: { ($0.generation, $0.id) < ($1.generation, $1.id) }) else {
      throw Self.isDetached
    }
    var position = position
    position.seq = head.seq
    position.isDetached = false
    position.clock = max(position.clock, head.time)
    try work.heads.set(position)
  }

  // MARK: Rows

  /// The rows of HEAD: as the history has them, or, where old changes were removed, as the tables have them
  /// and HEAD's hash confirms.
  private static func state(
    at seq: Int64?,
    _ work: HistoryWork
  ) throws(ChangesetError) -> StateDelta {
    do throws(ChangesetError) { return try work.log.changes(from: nil, to: seq) } catch {
      guard error.code == .historyTooShort, try Verification(work: work).areRowsThoseOfHead else {
        throw error
      }
    }
    var tables: [TableDelta] = []
    for table in work.tables.tables {
      var rows: [RowDelta] = []
      try TableRows(connection: work.connection, table: table)
        .forEach { (row) throws(ChangesetError) in rows.append(row) }
      if !rows.isEmpty {
        tables.append(TableDelta(table.name, rows: rows.sorted { $0.key < $1.key }))
      }
    }
    return StateDelta(tables: tables)
  }

  /// What became of the rows, with the constants that new columns were filled with.
  private func changes(
    from state: StateDelta,
    former: TrackedTables,
    in work: HistoryWork
  ) throws(ChangesetError) -> StateDelta {
    let time = try work.heads.position().clock
    var comparisons: [RowComparison] = []
    for table in work.tables.tables {
      var fills: [TableDelta.Fill] = []
      if let before = former.table(table.name) {
        fills = try work.fills(of: table) { name in
          before.columns.contains { $0.hasSameBytes(as: name) }
        }
      }
      let converted = try ConvertedValues(connection: connection, table: table)
      var comparison = RowComparison(table: table, fills: fills, converted: converted, time: time)
      try comparison.expect(state.table(table.name)?.rows ?? [])
      for before in former.predecessors(of: table, in: work.tables) {
        try converted.follow(before, rows: state.table(before.name)?.rows ?? [])
      }
      try converted.stand(for: fills, areNew: true)
      try TableRows(connection: connection, table: table, converted: converted)
        .forEach { (row) throws(ChangesetError) in try comparison.compare(row) }
      comparisons.append(comparison)
    }
    let gone = state.tables.filter { work.tables.table($0.name) == nil }
      .map { table in TableDelta(table.name, rows: table.rows.map { $0.inverted(at: time) }) }
    if try work.parked.exist() {
      try compareParked(from: former.description, with: &comparisons, gone: gone, in: work)
    }
    let tables = comparisons.compactMap(\.delta) + gone
    return StateDelta(tables: tables.sorted { $0.name.precedesByBytes($1.name) })
  }

  /// Compares the parked rows as they are after the migration, as far as the other rows tell what it has renamed.
  private func compareParked(
    from former: SchemaDescription,
    with comparisons: inout [RowComparison],
    gone: [TableDelta],
    in work: HistoryWork
  ) throws(ChangesetError) {
    var parked: [String: Set<RowKey>] = [:]
    for row in try work.parked.all() { parked[row.table, default: []].insert(row.row.key) }
    let left = gone.map { table in
      TableDelta(
        table.name,
        rows: table.rows.filter { parked[table.name]?.contains($0.key) != true }
      )
    }
    let seen = StateDelta(
      tables: (comparisons.map(\.seen) + left).sorted { $0.name.precedesByBytes($1.name) }
    )
    let names = RenameSearch.names(of: seen, before: former, after: work.tables.description)
    var migration = ParkedMigration(work: work, former: former, names: names)
    migration.addOnlyCandidates(unlessToldBy: seen)
    let rows = try migration.run { [comparisons] name in
      comparisons.first { $0.table.name.hasSameBytes(as: name) }?.fills ?? []
    }
    for place in comparisons.indices {
      for row in rows[comparisons[place].table.name] ?? [] { try comparisons[place].compare(row) }
    }
  }

  /// Makes the commit of a migration, and moves HEAD to it.
  func commit(
    _ changes: StateDelta,
    at position: Heads.Position,
    in work: HistoryWork
  ) throws(ChangesetError) {
    // Without a commit there is nothing that could have been migrated: the first has the new schema.
    guard let seq = position.seq else { return }
    let parent = try work.log.row(seq)
    try Fills.keep(delta: changes, connection)
    let frames = try StateFrames(connection)
    let header = CommitHeader(
      kind: .migration,
      schema: work.tables.id,
      parents: [parent.id],
      generation: parent.generation + 1,
      time: parent.time,
      branch: try work.dictionaries.name(number: position.branch),
      stateHash: parent.stateHash.adding(
        changes,
        from: try frames.frame(of: parent),
        to: try frames.frame(of: try work.schemaNumber(), after: parent)
      )
    )
    let written = Commit(header: header, changes: changes.written(at: parent.time))
    if let seq = try work.log.number(of: written.id) {
      // Another replica's migration, which has come already, has made its head one: what goes on from it may be there too.
      var position = position
      position.seq = seq
      return try work.heads.set(position)
    }
    let row = try Committing(work: work).store(commit: written, parents: [parent])
    try work.heads.advance(
      position: position,
      to: row,
      after: parent,
      clock: max(position.clock, row.time)
    )
  }
}

extension HistoryWork {
  /// What the columns that a table gets are filled with.
  ///
  /// - Parameters:
  ///   - table: The table as it is now.
  ///   - isThere: Whether it had a column of a name before.
  /// - Returns: Their constants.
  /// - Throws: That a column comes back with one.
  func fills(
    of table: TrackedTable,
    besides isThere: (String) -> Bool
  ) throws(ChangesetError) -> [TableDelta.Fill] {
    var fills: [TableDelta.Fill] = []
    for name in table.columns where !isThere(name) {
      fills.append(.init(column: name, value: try ColumnDefault.value(of: name, in: table)))
    }
    try check(fills.filter { $0.value != .null }.map(\.column), in: table.name)
    return fills
  }

  /// Throws if a column comes back, filled with a constant: the rows of HEAD had values of their own in it before it went.
  private func check(_ columns: [String], in table: String) throws(ChangesetError) {
    guard !columns.isEmpty, let head = try heads.position().seq else { return }
    for number in try log.schemas(before: head) {
      let former = try dictionaries.schema(number: number).table(table)
      guard let column = columns.first(where: { former?.column($0) != nil }) else { continue }
      throw ChangesetError(
        .needsMigration,
        "column \(table.quotedName).\(column.quotedName) was in the history before, and is added again with a default;"
          + " give it another name, or add it without a default and set its values"
      )
    }
  }
}

extension TrackedTables {
  /// The table that another one goes on from: of the same name, or else any that is gone.
  fileprivate func predecessors(
    of table: TrackedTable,
    in present: TrackedTables
  ) -> [SchemaDescription.Table] {
    if let same = description.table(table.name) { return [same] }
    return description.tables.filter { present.table($0.name) == nil }
  }
}

extension StateDelta {
  /// Rows that are there, with what a migration fills their columns with.
  func filled(by migration: StateDelta) -> StateDelta {
    StateDelta(
      tables: tables.map { table in
        let fills = migration.table(table.name)?.fills ?? []
        return TableDelta(table.name, rows: table.rows.map { $0.filled(fills) })
      }
    )
  }
}

extension RowDelta {
  /// A row that is there, with what its new columns were filled with.
  func filled(_ fills: [TableDelta.Fill]) -> RowDelta {
    var row = self
    row.cells += fills.filter { $0.value != .null }
      .map { CellDelta($0.column, old: .null, new: $0.value, time: time) }
    row.cells.sort { $0.column.precedesByBytes($1.column) }
    return row
  }
}

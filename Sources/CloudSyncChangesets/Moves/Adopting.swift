import CloudSyncSQLite
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Takes up tables that were changed without the history.
///
/// A migration commit says which columns came, with what rows were filled with, which went, and which are called otherwise;
/// replicas that have done the same make the same commit. Whatever else rows hold now may be anybody's edit: it is uncommitted afterwards.
struct Adopting {
  let connection: HistoryConnection
  let options: ChangesetOptions
  /// What somebody has said of columns that have another name: present names by table and former name.
  var renamed: [String: [String: String]]?

  private var installation: CaptureInstallation { CaptureInstallation(connection: connection) }

  /// Takes up the tables of these names, or those that the history is about; nothing if nothing was changed.
  func run(names: [String]?) throws(ChangesetError) {
    let heads = Heads(connection: connection)
    let position = try heads.position()
    if position.isDetached { throw ChangesetError.onOlderCommit }
    let former = try formerSchema(at: position.seq)
    let schema = try installation.readSchema()
    let taken = try TakenUpNames(connection, said: renamed)
    let (state, isWhole) = try state(
      at: position.seq,
      RowsOfHead(connection: connection, former: former, present: schema, taken: taken)
    )
    let wanted = try tables(names: names, in: schema, taken)
    try EngineTablesCheck(connection: connection).check(tables: wanted, in: schema)
    try checkKeys(of: wanted, in: schema, former: former, taken)
    let installed = try Info(connection).bytes(name: .schema)
    try installation.uninstall()
    let work = HistoryWork(
      connection: connection,
      tables: try installation.install(
        names: try TrackingRules(schema: schema).tables(names: wanted)
      ),
      options: options
    )
    try ReusedNames(before: former, state: state, work: work)
      .check(tables: taken.formerTables, columns: taken.told)
    var known = state
    // Where nothing was changed here, HEAD may have others' types and defaults.
    if work.tables.id != former.id, installed != work.tables.id.digest.bytes {
      _ = try work.dictionaries.number(for: work.tables.description)
      let changes = try changes(of: state, former: former, in: work, taken)
      try Migrating(connection: connection, options: options)
        .commit(changes, at: position, in: work)
      known = try reading("the rows of HEAD") { () throws(ByteFault) in
        try state.filled(by: changes).followed(by: changes)
      }
    }
    try Rescan(work: work).run(knowing: isWhole ? nil : known)
    try ConvertedValues.retry(in: work.tables, connection)
  }

  /// The rows of HEAD, and whether the history tells them itself.
  private func state(
    at seq: Int64?,
    _ rows: RowsOfHead
  ) throws(ChangesetError) -> (StateDelta, isWhole: Bool) {
    let log = CommitLog(connection: connection, schema: rows.former)
    do throws(ChangesetError) { return (try log.changes(from: nil, to: seq), true) } catch {
      guard error.code == .historyTooShort, let seq else { throw error }
      if let state = try rows.state(at: try log.row(seq)) { return (state, false) }
      throw ChangesetError(
        .historyTooShort,
        "\(error.reason), and the tables do not tell what they held, since a table or a column is gone; if no cloud has"
          + " them, remove the history and begin another"
      )
    }
  }

  /// The schema of HEAD; without commits that of no tables.
  private func formerSchema(at seq: Int64?) throws(ChangesetError) -> SchemaDescription {
    guard let seq else { return SchemaDescription(tables: []) }
    let row = try CommitLog(connection: connection).row(seq)
    return try Dictionaries(connection: connection).schema(number: row.schema)
  }

  private func tables(
    names: [String]?,
    in schema: DatabaseSchema,
    _ taken: TakenUpNames
  ) throws(ChangesetError) -> [String] {
    let known =
      try connection.rows("SELECT name FROM changesets_tables ORDER BY name") {
        $0.text(0) ?? ""
      }
      .map { name in taken.formerTables.first { $0.value.isSameName(as: name) }?.key ?? name }
    if let names {
      // Its rows would go on every replica, by a name that was only forgotten.
      let left = known.first { name in
        schema.table(named: name) != nil && !names.contains { $0.isSameName(as: name) }
      }
      guard let left else { return names }
      throw ChangesetError(
        .misuse,
        "table \(left.quotedName) is in the history and in the database; name it too: one leaves a history only by being"
          + " dropped, on every replica"
      )
    }
    // Were it taken for dropped, its rows would go on every replica, though it may have another name now.
    if let gone = known.first(where: { schema.table(named: $0) == nil }) {
      throw ChangesetError(
        .needsMigration,
        "table \(gone.quotedName) is gone; name all tables that the history is to be about from now on"
      )
    }
    return known
  }

  private func checkKeys(
    of names: [String],
    in schema: DatabaseSchema,
    former: SchemaDescription,
    _ taken: TakenUpNames
  ) throws(ChangesetError) {
    for name in names {
      guard let mine = schema.table(named: name),
        let before = former.table(taken.formerTables[mine.name] ?? name)
      else { continue }
      let key = before.columns.filter { $0.keyPlace > 0 }.sorted { $0.keyPlace < $1.keyPlace }
      let isSame =
        key.count == mine.primaryKey.count
        && zip(key, mine.primaryKey)
          .allSatisfy { former, name in
            former.name.isSameName(as: name)
              && mine.column(named: name).map { former.affinity.storesKeys(as: $0.affinity) }
                != false
          }
      if !isSame {
        throw ChangesetError(
          .needsMigration,
          "table \(mine.name.quotedName) has another primary key than its history; remove the history and begin"
            + " another"
        )
      }
    }
  }

  /// What became of the rows by the change of the tables alone.
  private func changes(
    of state: StateDelta,
    former: SchemaDescription,
    in work: HistoryWork,
    _ taken: TakenUpNames
  ) throws(ChangesetError) -> StateDelta {
    let time = try work.heads.position().clock
    var tables: [TableDelta] = []
    var allNames = PresentNames()
    var allFills: [String: [TableDelta.Fill]] = [:]
    for table in work.tables.tables {
      let formerName = taken.formerTables[table.name] ?? table.name
      guard let before = former.table(formerName) else { continue }
      let fills = try work.fills(of: table) { before.column($0) != nil }
      let former = state.table(formerName)?.rows ?? []
      let converted = try ConvertedValues(connection: connection, table: table)
      try converted.follow(before, rows: former)
      try converted.stand(for: fills, areNew: true)
      let names = try taken.names(of: table, before: before, rows: former)
      allNames.columns[table.name] = names
      allFills[table.name] = fills
      if formerName != table.name {
        allNames.tables[formerName] = table.name
        let moved = former.map { $0.moved(to: table, names: names, fills: fills, time: time) }
        if !moved.isEmpty { tables.append(TableDelta(table.name, rows: moved)) }
        continue
      }
      let rows = former.compactMap { row in
        row.changed(to: table, names: names, fills: fills, time: time)
      }
      if rows.isEmpty, fills.isEmpty { continue }
      tables.append(TableDelta(table.name, fills: fills, rows: rows))
    }
    for gone in state.tables where work.tables.table(gone.name) == nil {
      tables.append(TableDelta(gone.name, rows: gone.rows.map { $0.inverted(at: time) }))
    }
    if try work.parked.exist() {
      _ = try ParkedMigration(work: work, former: former, names: allNames)
        .run { [allFills] in allFills[$0] ?? [] }
    }
    return StateDelta(tables: tables.sorted { $0.name.precedesByBytes($1.name) })
  }
}

extension RowDelta {
  /// What becomes of a row of a table whose columns are others now; nil if nothing does.
  fileprivate func changed(
    to table: TrackedTable,
    names: [String: String],
    fills: [TableDelta.Fill],
    time: HybridTime
  ) -> RowDelta? {
    let gone = cells.filter { $0.new != .null && !table.hasColumn($0.column) }
    let moved = names.map { former, name in
      let fill = fills.first { $0.column.hasSameBytes(as: name) }?.value ?? .null
      return CellDelta(name, old: fill, new: cell(former)?.new ?? .null, time: time)
    }
    let cells =
      gone.map { CellDelta($0.column, old: $0.new, new: .null, time: time) }
      + moved.filter(\.isChange)
    return RowDelta(
      updating: key,
      cells: cells.sorted { $0.column.precedesByBytes($1.column) }
    )
  }

  /// The row in a table that has another name now.
  fileprivate func moved(
    to table: TrackedTable,
    names: [String: String],
    fills: [TableDelta.Fill],
    time: HybridTime
  ) -> RowDelta {
    let cells = table.columns.map { name in
      let former = names.first { $0.value.hasSameBytes(as: name) }?.key ?? name
      let fill = fills.first { $0.column.hasSameBytes(as: former) }?.value
      return CellDelta(name, old: .null, new: fill ?? cell(former)?.new ?? .null, time: time)
    }
    return RowDelta(
      inserting: key,
      cells: cells.sorted { $0.column.precedesByBytes($1.column) },
      time: time
    )
  }
}

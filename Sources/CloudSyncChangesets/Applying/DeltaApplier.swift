import CloudSyncSQLite
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Writes changes into the tables, of whose rows it checks that they are what they were.
struct DeltaApplier {
  let connection: HistoryConnection
  let tables: TrackedTables
  /// What becomes of rows that the tables here refuse.
  var refusals = TableWriter.Refusals.fails

  private var uncommitted: UncommittedRows {
    UncommittedRows(connection: connection, tables: tables)
  }

  /// Writes changes; nothing is uncommitted before, and nothing is afterwards.
  ///
  /// Triggers of the app run, so that what they keep up to date follows; but a row is what the history says: what
  /// they have changed of it is put back, also what they have done to a row before its turn came. They run then too, so
  /// that what follows such a row does, if they leave it as it is to be. Otherwise it is put back without them, and so is
  /// written what they do not let through.
  func apply(delta: StateDelta) throws(ChangesetError) {
    let touched = try changed(by: delta)
    guard touched.contains(where: \.table.hasAppTriggers),
      let clause = try conflictClause(ofTables: touched.map(\.table.name))
    else {
      return try connection.withoutTriggers { () throws(ChangesetError) in try write(delta) }
    }
    if HistoryMutant.checkedLate.isPresent {
      try write(delta)
    } else {
      try check(touched)
      try write(delta, refusals: .leaves, clause: clause)
    }
    var correction = try self.correction(to: delta)
    if !correction.isEmpty, !HistoryMutant.checkedLate.isPresent,
      try settle(correction, to: delta, clause: clause)
    {
      correction = StateDelta(tables: [])
    }
    try connection.withoutTriggers { () throws(ChangesetError) in try write(correction) }
    try uncommitted.clear()
    try ConvertedValues.forget(replacedBy: delta, in: tables, connection)
  }

  /// Puts back what triggers have done while they run; false if something was left then, and nothing was done.
  private func settle(
    _ correction: StateDelta,
    to delta: StateDelta,
    clause: String
  ) throws(ChangesetError) -> Bool {
    try connection.execute("SAVEPOINT changesets_correction")
    try write(correction, refusals: .leaves, clause: clause)
    let isSettled = try self.correction(to: delta).isEmpty
    let end = "RELEASE changesets_correction"
    try connection.execute(isSettled ? end : "ROLLBACK TO changesets_correction; \(end)")
    return isSettled
  }

  /// What is left to be changed for the rows to be what changes lead to.
  private func correction(to delta: StateDelta) throws(ChangesetError) -> StateDelta {
    let actual = try uncommitted.changes(at: .zero)
    return try reading("what triggers have done") { () throws(ByteFault) in
      try actual.inverted(at: .zero).followed(by: delta)
    }
  }

  /// Throws if a row is not what it was: once triggers have run nobody can tell.
  private func check(
    _ changed: [(table: TrackedTable, rows: [RowDelta])]
  ) throws(ChangesetError) {
    for (table, rows) in changed {
      let writer = try TableWriter(connection: connection, table: table, refusals: refusals)
      for row in rows { try writer.check(change: row) }
    }
  }

  /// What statements have to say of conflicts for no trigger that a change of tables may reach to end the transaction, of
  /// which nothing would be left to go on with; nil if they may end it whatever is said.
  ///
  /// A change reaches what the bodies of its table's triggers name, what refers to it, and what these reach. A rule of a table's
  /// own counts no more where the outermost statement says something.
  private func conflictClause(ofTables names: [String]) throws(ChangesetError) -> String? {
    let declared =
      try connection.rows(
        "SELECT type, tbl_name, sql FROM main.sqlite_schema WHERE sql LIKE '%rollback%'"
      ) { (type: $0.text(0) ?? "", table: $0.text(1) ?? "", sql: SQLText($0.text(2) ?? "")) }
      .filter { $0.sql.hasWord("ROLLBACK") }
    let clause = declared.contains { $0.type == "table" } ? " OR ABORT" : ""
    let enders = declared.filter { $0.type == "trigger" }.map(\.table)
    if enders.isEmpty { return clause }
    let reached = try reached(from: names)
    return enders.contains { ender in reached.contains { $0.isSameName(as: ender) } } ? nil : clause
  }

  /// The tables and views that a change of tables may reach by triggers of the app's and by foreign keys, themselves included.
  private func reached(from names: [String]) throws(ChangesetError) -> [String] {
    let declared = try connection.rows(
      "SELECT type, name, tbl_name, sql FROM main.sqlite_schema WHERE sql IS NOT NULL"
    ) { row in
      (
        type: row.text(0) ?? "", name: row.text(1) ?? "", table: row.text(2) ?? "",
        sql: SQLText(row.text(3) ?? "")
      )
    }
    let tables = declared.filter { $0.type == "table" || $0.type == "view" }
    let triggers = declared.filter { entry in
      entry.type == "trigger" && !HistoryTables.hasPrefix(name: entry.name)
    }
    var found = names
    var place = 0
    while place < found.count {
      let table = found[place]
      place += 1
      let bodies = triggers.filter { $0.table.isSameName(as: table) }.map(\.sql)
      let next = tables.filter { other in
        bodies.contains { $0.bodyNames(other.name) }
          || other.sql.hasWord("REFERENCES") && other.sql.names(table)
      }
      found += next.map(\.name).filter { name in !found.contains { $0.isSameName(as: name) } }
    }
    return found
  }

  /// The tables whose rows change: one that is gone may have been given a column on the way, and no row of it is left.
  private func changed(
    by delta: StateDelta
  ) throws(ChangesetError) -> [(table: TrackedTable, rows: [RowDelta])] {
    try delta.tables.filter { !$0.rows.isEmpty }
      .map { (change) throws(ChangesetError) in
        guard let table = tables.table(change.name) else {
          throw ChangesetError(
            .needsUpgrade,
            "the history has a table \(change.name.quotedName), which this database lacks; update the app"
          )
        }
        return (table, change.rows)
      }
  }

  /// Writes changes; whether triggers are called is for whoever asks.
  func write(
    _ delta: StateDelta,
    refusals: TableWriter.Refusals? = nil,
    clause: String = ""
  ) throws(ChangesetError) {
    var writers: [TableWriter] = []
    let changed = try changed(by: delta)
    for (table, _) in changed {
      writers.append(
        try TableWriter(
          connection: connection,
          table: table,
          refusals: refusals ?? self.refusals,
          clause: clause
        )
      )
    }
    for (writer, rows) in zip(writers, changed.map(\.rows)) {
      for row in rows where row.kind == .delete { try writer.delete(change: row) }
    }
    var moved: [(writer: TableWriter, row: RowDelta, wasParked: Bool)] = []
    for (writer, rows) in zip(writers, changed.map(\.rows)) {
      for row in rows where row.kind == .update {
        if let whole = try writer.update(change: row) {
          moved.append((writer, whole.row, whole.wasParked))
        }
      }
    }
    for (writer, rows) in zip(writers, changed.map(\.rows)) {
      for row in rows where row.kind == .insert { try writer.insert(change: row) }
    }
    // What stood in the way of another row's unique key is free now.
    for (writer, row, wasParked) in moved { try writer.insert(change: row, wasParked: wasParked) }
  }
}

extension StateDelta {
  /// The changes without tables and columns that are there no more.
  ///
  /// What a migration has dropped cannot come back. Nor is it part of a state behind the migration, whatever the rows are
  /// said to have had there: those that older versions have inserted say nothing of it, and others that it was emptied.
  func kept(in tables: TrackedTables) -> StateDelta {
    let known = StateDelta(tables: self.tables.filter { tables.table(called: $0.name) != nil })
    return known.kept { name in
      let table = tables.table(called: name)
      return { table?.hasColumn($0) == true }
    }
  }

  /// The changes of the columns of which something holds that is said of each table; rows without any come and go as before.
  func kept(where ofTable: (_ table: String) -> (_ column: String) -> Bool) -> StateDelta {
    StateDelta(
      tables: tables.compactMap { table in
        let isKept = ofTable(table.name)
        let rows = table.rows.compactMap { row -> RowDelta? in
          if row.cells.allSatisfy({ isKept($0.column) }) { return row }
          let cells = row.cells.filter { isKept($0.column) }
          var row = row
          row.cells = cells
          return row.kind == .update ? RowDelta(updating: row.key, cells: cells) : row
        }
        let fills = table.fills.filter { isKept($0.column) }
        return rows.isEmpty && fills.isEmpty
          ? nil : TableDelta(table.name, fills: fills, rows: rows)
      }
    )
  }
}

extension SQLText {
  /// Whether a name is in the text.
  fileprivate func names(_ name: String) -> Bool {
    contains(name, in: meaningfulTokens[...])
  }

  /// Whether a name is in what a trigger does.
  fileprivate func bodyNames(_ name: String) -> Bool {
    contains(name, in: meaningfulTokens.drop { !isWord("BEGIN", at: $0) })
  }

  private func contains(_ name: String, in tokens: ArraySlice<SQLToken>) -> Bool {
    tokens.contains { self.name(of: $0)?.isSameName(as: name) ?? false }
  }
}

extension HistoryConnection {
  /// Runs a body during which no trigger is called.
  func withoutTriggers<Value>(
    _ body: () throws(ChangesetError) -> Value
  ) throws(ChangesetError) -> Value {
    let result = try failing { () throws(SQLiteError) in
      try sqlite.withoutTriggers { () throws(SQLiteError) -> Result<Value, ChangesetError> in
        do throws(ChangesetError) { return .success(try body()) } catch { return .failure(error) }
      }
    }
    return try result.get()
  }
}

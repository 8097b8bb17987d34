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
  /// that what follows such a row does; what they change again, or do not let through, is written without them.
  func apply(delta: StateDelta) throws(ChangesetError) {
    let touched = try changed(by: delta)
    guard touched.contains(where: \.table.hasAppTriggers),
      try mayRunTriggers(ofTables: touched.map(\.table.name))
    else {
      return try connection.withoutTriggers { () throws(ChangesetError) in try write(delta) }
    }
    if HistoryMutant.checkedLate.isPresent {
      try write(delta)
    } else {
      try check(touched)
      try write(delta, refusals: .leaves)
    }
    var correction = try self.correction(to: delta)
    if !correction.isEmpty, !HistoryMutant.checkedLate.isPresent {
      try write(correction, refusals: .leaves)
      correction = try self.correction(to: delta)
    }
    try connection.withoutTriggers { () throws(ChangesetError) in try write(correction) }
    try uncommitted.clear()
    try ConvertedValues.forget(replacedBy: delta, in: tables, connection)
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

  /// Whether no trigger that a change of tables may reach can end the transaction, of which nothing would be left to go on
  /// with.
  ///
  /// A change reaches what triggers of its table name, what refers to it, and what these reach.
  private func mayRunTriggers(ofTables names: [String]) throws(ChangesetError) -> Bool {
    let declared = try connection.rows(
      "SELECT type, tbl_name, sql FROM main.sqlite_schema WHERE sql IS NOT NULL"
    ) { (type: $0.text(0) ?? "", table: $0.text(1) ?? "", sql: $0.text(2) ?? "") }
    let triggers = declared.filter { $0.type == "trigger" }.map { ($0.table, SQLText($0.sql)) }
    let tables = declared.filter { $0.type == "table" || $0.type == "view" }
      .map { (name: $0.table, text: SQLText($0.sql)) }
    let enders = triggers.map(\.1) + tables.map(\.text)
    guard enders.contains(where: { $0.hasWord("ROLLBACK") }) else { return true }
    var open = names
    var seen = Set(names.map(\.foldedName))
    while let table = open.popLast() {
      var reached: [String] = []
      for (owner, text) in triggers where owner.isSameName(as: table) {
        if text.hasWord("ROLLBACK") { return false }
        let written = tables.filter { text.names($0.name) }
        // A rule of a table's own may say it too: ON CONFLICT ROLLBACK.
        if written.contains(where: { $0.text.hasWord("ROLLBACK") }) { return false }
        reached += written.map(\.name)
      }
      reached += tables.filter { $0.text.hasWord("REFERENCES") && $0.text.names(table) }.map(\.name)
      open += reached.filter { seen.insert($0.foldedName).inserted }
    }
    return true
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

  /// Writes changes while no trigger is called.
  func write(
    _ delta: StateDelta,
    refusals: TableWriter.Refusals? = nil
  ) throws(ChangesetError) {
    var writers: [TableWriter] = []
    let changed = try changed(by: delta)
    for (table, _) in changed {
      writers.append(
        try TableWriter(
          connection: connection,
          table: table,
          refusals: refusals ?? self.refusals
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
    meaningfulTokens.contains { self.name(of: $0)?.isSameName(as: name) ?? false }
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

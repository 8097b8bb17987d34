import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// A migration may not give a name anew that another table or column had, which is there under a new one: a history knows
/// both by their names, so what others have edited in the former one would be taken for the new one's.
///
/// What the new one holds tells whether it stands for the former one: a migration may also set a table or a column aside and
/// put another one in its place that holds the same.
struct ReusedNames {
  /// The tables as they were.
  let before: SchemaDescription
  /// The rows of HEAD, as the tables had them.
  let state: StateDelta
  /// The tables as they are now.
  let work: HistoryWork

  /// The numbers that SQLite keeps of tables, by their names: a table that is renamed keeps its own.
  static func places(_ connection: HistoryConnection) throws(ChangesetError) -> [String: Int64] {
    let rows = try connection.rows(
      "SELECT name, rowid FROM main.sqlite_schema WHERE type = 'table'"
    ) {
      ($0.text(0) ?? "", $0.integer(1))
    }
    return Dictionary(rows) { first, _ in first }
  }

  // MARK: In one migration

  /// Throws if a name was given anew, as far as the numbers of the tables, the order of columns and the rows tell.
  ///
  /// - Parameter places: The numbers of the tables as they were.
  /// - Throws: Which name it is, and what to do.
  func check(places: [String: Int64]) throws(ChangesetError) {
    let now = try Self.places(work.connection)
    for former in before.tables {
      guard let place = places[former.name],
        let moved = now.first(where: { $0.value == place })?.key,
        !moved.hasSameBytes(as: former.name)
      else { continue }
      let rows = state.table(former.name)?.rows ?? []
      guard let table = work.tables.table(moved), !rows.isEmpty,
        try areMostlyThere(rows: rows, in: table)
      else { continue }
      try check(former: former.name, isNow: moved)
    }
    for former in before.tables {
      guard let table = work.tables.table(former.name) else { continue }
      let present = SchemaDescription.Table(table.schema)
      if Self.hasKeptOrder(former, in: present) { continue }
      try checkColumns(of: table, present, former)
    }
    try checkEarlier()
  }

  /// Throws if a name was given anew, as triggers tell.
  ///
  /// - Parameters:
  ///   - tables: The former names of tables by their present ones.
  ///   - columns: The present names of columns by table and former name.
  /// - Throws: Which name it is, and what to do.
  func check(
    tables: [String: String],
    columns: [String: [String: String]]
  ) throws(ChangesetError) {
    for (name, former) in tables.sorted(by: { $0.key < $1.key }) {
      try check(former: former, isNow: name)
    }
    for (name, renames) in columns.sorted(by: { $0.key < $1.key }) {
      guard let table = work.tables.table(name) else { continue }
      let taken = renames.filter { former, _ in
        table.columns.contains { $0.hasSameBytes(as: former) }
      }
      if taken.isEmpty { continue }
      let pairs = try self.pairs(of: state.table(tables[name] ?? name)?.rows ?? [], in: table)
      for (former, present) in taken.sorted(by: { $0.key < $1.key })
      where !Self.isHeld(former, by: former, in: pairs) {
        throw Self.reused(column: former, of: name, isNow: present)
      }
    }
    try checkEarlier()
  }

  /// Throws if there is a table under the former name of another one that does not hold the same.
  private func check(former: String, isNow name: String) throws(ChangesetError) {
    guard let newcomer = work.tables.table(former), work.tables.table(name) != nil else { return }
    let rows = state.table(former)?.rows ?? []
    if rows.isEmpty { return }
    if try areMostlyThere(rows: rows, in: newcomer) { return }
    throw Self.reused(table: former, isNow: name)
  }

  /// Whether the columns are those that were there, in their order, with others behind them: so none was renamed in place.
  private static func hasKeptOrder(
    _ former: SchemaDescription.Table,
    in present: SchemaDescription.Table
  ) -> Bool {
    let kept = former.columns.filter { present.column($0.name) != nil }
    return present.columns.count >= kept.count
      && zip(kept, present.columns).allSatisfy { $0.name.hasSameBytes(as: $1.name) }
  }

  /// Throws if another column holds what one held that has not kept it.
  private func checkColumns(
    of table: TrackedTable,
    _ present: SchemaDescription.Table,
    _ former: SchemaDescription.Table
  ) throws(ChangesetError) {
    let pairs = try self.pairs(of: state.table(table.name)?.rows ?? [], in: table)
    for column in former.columns where column.keyPlace == 0 && !column.isGenerated {
      guard present.column(column.name) != nil,
        !Self.isHeld(column.name, by: column.name, in: pairs)
      else { continue }
      let holder = present.columns.first { other in
        // One that has kept its own was not called otherwise, whatever it holds.
        !other.name.hasSameBytes(as: column.name) && other.isSame(as: column)
          && Self.isHeld(column.name, by: other.name, in: pairs, always: true)
          && (former.column(other.name) == nil
            || !Self.isHeld(other.name, by: other.name, in: pairs, always: true))
      }
      if let holder { throw Self.reused(column: column.name, of: table.name, isNow: holder.name) }
    }
  }

  // MARK: Over several migrations

  /// Throws if a table or a column comes under a name that one had which is there under another one now.
  private func checkEarlier() throws(ChangesetError) {
    guard let head = try work.heads.position().seq else { return }
    let after = work.tables.description
    let added = after.tables.filter { before.table($0.name) == nil }.map(\.name)
    var columns: [(table: String, column: String)] = []
    for table in after.tables {
      guard let former = before.table(table.name) else { continue }
      for column in table.columns where former.column(column.name) == nil {
        columns.append((table.name, column.name))
      }
    }
    guard !added.isEmpty || !columns.isEmpty,
      try hadNames(before: head, tables: added, columns: columns)
    else { return }
    let names = try RenameSearch.names(
      after: try work.log.migrations(before: head),
      in: work.log,
      present: before
    )
    for name in added {
      if let present = names.tables[name], after.table(present) != nil {
        throw Self.reused(table: name, isNow: present)
      }
    }
    for (table, column) in columns {
      if let present = names.columns[table]?[column], after.table(table)?.column(present) != nil {
        throw Self.reused(column: column, of: table, isNow: present)
      }
    }
  }

  /// Whether a commit or one that it descends from has one of these tables or columns.
  private func hadNames(
    before head: Int64,
    tables: [String],
    columns: [(table: String, column: String)]
  ) throws(ChangesetError) -> Bool {
    for number in try work.log.schemas(before: head) {
      let schema = try work.dictionaries.schema(number: number)
      if tables.contains(where: { schema.table($0) != nil }) { return true }
      if columns.contains(where: { schema.table($0)?.column($1) != nil }) { return true }
    }
    return false
  }

  // MARK: Rows

  /// Rows as they were and as they are.
  private typealias Pairs = [(old: RowDelta, new: RowDelta)]

  private func pairs(of rows: [RowDelta], in table: TrackedTable) throws(ChangesetError) -> Pairs {
    try TableRows(connection: work.connection, table: table).pairs(with: rows)
  }

  /// Whether most of the rows are in a table, with what they held as far as it has their columns.
  private func areMostlyThere(
    rows: [RowDelta],
    in table: TrackedTable
  ) throws(ChangesetError) -> Bool {
    let same = try pairs(of: rows, in: table)
      .count { pair in
        let held = pair.old.cells.filter { $0.new != .null }
        let kept = held.filter { table.hasColumn($0.column) }
        // Equal keys alone say nothing: most tables count from 1.
        if kept.isEmpty { return held.isEmpty }
        return kept.allSatisfy { pair.new.cell($0.column)?.new == $0.new }
      }
    return same > rows.count - same
  }

  /// Whether a column holds what another one held, in at least half of the rows that held something or in all of them.
  private static func isHeld(
    _ former: String,
    by name: String,
    in pairs: Pairs,
    always: Bool = false
  ) -> Bool {
    let telling = pairs.filter { ($0.old.cell(former)?.new ?? .null) != .null }
    if telling.isEmpty { return !always }
    let same = telling.count { pair in
      pair.new.cell(name)?.new == pair.old.cell(former)?.new
    }
    return always ? same == telling.count : same >= telling.count - same
  }

  // MARK: Errors

  private static func reused(table: String, isNow name: String) -> ChangesetError {
    ChangesetError(
      .schema,
      "table \(table.quotedName) has the name of another one, which is \(name.quotedName) now. A history knows tables by"
        + " their names: give the new table one that nothing had. Nothing was changed"
    )
  }

  private static func reused(
    column: String,
    of table: String,
    isNow name: String
  ) -> ChangesetError {
    ChangesetError(
      .schema,
      "column \(column.quotedName) of table \(table.quotedName) has the name of another one, which is \(name.quotedName)"
        + " now. A history knows columns by their names: give the new column one that nothing had. Nothing was changed"
    )
  }
}

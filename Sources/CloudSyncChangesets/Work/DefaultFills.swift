import CloudSyncSQLite
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// What rows of older apps hold in the columns that these lack: the constant defaults of the tables here.
///
/// A migration says so when it adds a column. Where a database had the column from its beginning no commit has said
/// it yet when the first one of an older app comes. Were its rows taken as they are, NULL would stand where others
/// that know of a migration have the default, and one commit would have two states.
struct DefaultFills {
  let work: HistoryWork

  /// Notes them for all schemas that the history knows.
  func keep() throws(ChangesetError) {
    let numbers = try work.connection.rows("SELECT number FROM changesets_schemas ORDER BY number")
    {
      $0.integer(0)
    }
    var known = try Fills.read(work.connection)
    for number in numbers where try work.dictionaries.schemaID(number: number) != work.tables.id {
      let schema = try work.dictionaries.schema(number: number)
      for (table, fill) in try missing(in: schema) where known.tables[table]?[fill.column] == nil {
        _ = known.add(fill, of: table)
        let delta = StateDelta(tables: [TableDelta(table, fills: [fill], rows: [])])
        try Fills.keep(delta: delta, work.connection)
        try work.keepConvertedFills(of: delta)
      }
    }
  }

  /// The columns here that a schema lacks in tables which it has, with what rows hold there.
  private func missing(
    in schema: SchemaDescription
  ) throws(ChangesetError) -> [(table: String, fill: TableDelta.Fill)] {
    var missing: [(table: String, fill: TableDelta.Fill)] = []
    for table in work.tables.tables {
      guard let theirs = schema.table(table.name) else { continue }
      for column in table.columns where theirs.column(column) == nil {
        let value = try ColumnDefault.value(of: column, in: table)
        missing.append((table.name, TableDelta.Fill(column: column, value: value)))
      }
    }
    return missing
  }

  /// Changes with what they have to say of columns that the commit before them lacks, and no others: whoever reads them knows
  /// then what they lead to, whatever else it has.
  ///
  /// A merge may bring a column that was added on one of its sides alone, or is called there as another was on the other.
  func stating(changes: StateDelta, after parent: LogRow?) throws(ChangesetError) -> StateDelta {
    guard let parent else { return changes }
    var changes = changes
    if changes.tables.contains(where: { !$0.fills.isEmpty }) {
      changes = changes.withoutFills(
        ofColumnsIn: try work.dictionaries.schema(number: parent.schema)
      )
    }
    if try work.dictionaries.schemaID(number: parent.schema) == work.tables.id { return changes }
    let known = try Fills.read(work.connection)
    var tables = Dictionary(
      changes.tables.map { ($0.name, $0) },
      uniquingKeysWith: { first, _ in first }
    )
    for (name, fill) in try missing(in: try work.dictionaries.schema(number: parent.schema)) {
      var table = tables[name] ?? TableDelta(name, rows: [])
      if table.fills.contains(where: { $0.column.hasSameBytes(as: fill.column) }) { continue }
      let value = known.tables[name]?[fill.column] ?? fill.value
      table.fills.append(TableDelta.Fill(column: fill.column, value: value))
      table.fills.sort { $0.column.precedesByBytes($1.column) }
      tables[name] = table
    }
    return StateDelta(tables: tables.keys.sortedByBytes().compactMap { tables[$0] })
  }
}

extension StateDelta {
  /// The changes without the constants of columns that a schema has.
  fileprivate func withoutFills(ofColumnsIn schema: SchemaDescription) -> StateDelta {
    StateDelta(
      tables: tables.compactMap { table in
        guard let known = schema.table(table.name) else { return table }
        let fills = table.fills.filter { known.column($0.column) == nil }
        return fills.isEmpty && table.rows.isEmpty
          ? nil : TableDelta(table.name, fills: fills, rows: table.rows)
      }
    )
  }
}

extension HistoryWork {
  /// Notes what the tables here make of all constants that the history knows.
  func keepConvertedFills() throws(ChangesetError) {
    let fills = try Fills.read(connection)
    for table in tables.tables {
      let known = (fills.tables[table.name] ?? [:])
        .map { TableDelta.Fill(column: $0.key, value: $0.value) }
      try ConvertedValues(connection: connection, table: table).stand(for: known, areNew: false)
    }
  }

  /// Notes what the tables here make of the constants that a commit tells of.
  func keepConvertedFills(of delta: StateDelta) throws(ChangesetError) {
    for change in delta.tables where !change.fills.isEmpty {
      guard let table = tables.table(change.name) else { continue }
      try ConvertedValues(connection: connection, table: table)
        .stand(for: change.fills, areNew: false)
    }
  }
}

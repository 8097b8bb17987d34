import CloudSyncSQLite
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Reads commits of older schemas as those of the present one: a row has in a column that came later what rows
/// were filled with then, and for a merge what has another name now has it.
final class SchemaUpgrade {
  let fills: Fills
  private let names: PresentNames
  private let dictionaries: Dictionaries
  /// The filled columns that a schema lacks, by table.
  private var missing: [Int64: [String: [TableDelta.Fill]]] = [:]

  /// Creates an upgrade to the schema of a database, nil for the newest that any commit has.
  init(
    _ connection: HistoryConnection,
    to schema: SchemaDescription? = nil,
    names: PresentNames = PresentNames()
  ) throws(ChangesetError) {
    self.names = names
    dictionaries = Dictionaries(connection: connection)
    let all = try Fills.read(connection).renamed(by: names)
    fills = schema.map { all.restricted(to: $0) } ?? all
  }

  /// Changes as the present schema has them.
  ///
  /// - Parameters:
  ///   - delta: The changes.
  ///   - schema: The schema of their commit.
  ///   - former: The schema that a migration has left behind; nil of other commits.
  /// - Returns: The changes.
  /// - Throws: That the history is damaged.
  func upgraded(
    delta: StateDelta,
    from schema: Int64,
    migrating former: @autoclosure () throws(ChangesetError) -> Int64? = nil
  ) throws(ChangesetError) -> StateDelta {
    if names.isEmpty { return try filled(delta: delta, from: schema) }
    guard let former = try former() else {
      return try filled(delta: names.renamed(delta), from: schema)
    }
    let (before, after) = (
      try dictionaries.schema(number: former), try dictionaries.schema(number: schema)
    )
    var gone: [String: [String]] = [:]
    for table in before.tables {
      guard let present = after.table(table.name) else { continue }
      gone[table.name] = table.columns.map(\.name).filter { present.column($0) == nil }
    }
    let (lacked, lacking) = (try missing(in: former), try missing(in: schema))
    return try reading("a migration") { () throws(ByteFault) in
      try names.renamed(migration: delta, gone: gone) { row, table in
        // It takes away what the former schema had, and puts down what the present one has.
        row.filled(with: (row.kind == .delete ? lacked : lacking)[table] ?? [])
      }
    }
  }

  private func filled(delta: StateDelta, from schema: Int64) throws(ChangesetError) -> StateDelta {
    if fills.tables.isEmpty { return delta }
    let missing = try missing(in: schema)
    if missing.isEmpty { return delta }
    var delta = delta
    for place in delta.tables.indices {
      guard let columns = missing[delta.tables[place].name] else { continue }
      delta.tables[place].rows = delta.tables[place].rows.map { $0.filled(with: columns) }
    }
    return delta
  }

  private func missing(in schema: Int64) throws(ChangesetError) -> [String: [TableDelta.Fill]] {
    if let known = missing[schema] { return known }
    let description = try dictionaries.schema(number: schema)
    var result: [String: [TableDelta.Fill]] = [:]
    for (name, columns) in fills.tables {
      guard
        let table = description.tables.first(where: { names.table($0.name).hasSameBytes(as: name) })
      else { continue }
      let known = table.columns.map { names.column($0.name, of: names.table(table.name)) }
      let added =
        columns.filter { fill in
          fill.value != .null && !known.contains { $0.hasSameBytes(as: fill.key) }
        }
        .map { TableDelta.Fill(column: $0.key, value: $0.value) }
      if !added.isEmpty { result[name] = added }
    }
    missing[schema] = result
    return result
  }
}

extension RowDelta {
  /// The same with columns that were added later, in a row that comes or goes.
  fileprivate func filled(with columns: [TableDelta.Fill]) -> RowDelta {
    if kind == .update { return self }
    var row = self
    for fill in columns {
      row.cells.append(
        CellDelta(
          fill.column,
          old: kind == .delete ? fill.value : .null,
          new: kind == .insert ? fill.value : .null,
          time: time
        )
      )
    }
    row.cells.sort { $0.column.precedesByBytes($1.column) }
    return row
  }
}

extension Fills {
  /// The same by what tables and columns are called now; what is called so itself comes first.
  fileprivate func renamed(by names: PresentNames) -> Fills {
    if names.isEmpty { return self }
    var result = self
    for table in tables.keys.sortedByBytes() {
      let present = names.table(table)
      for (column, value) in (tables[table] ?? [:]).sorted(by: { $0.key.precedesByBytes($1.key) }) {
        let fill = TableDelta.Fill(column: names.column(column, of: present), value: value)
        _ = result.add(fill, of: present)
      }
    }
    return result
  }

  /// Those of columns that a schema has.
  func restricted(to schema: SchemaDescription) -> Fills {
    var result = Fills()
    for (name, columns) in tables {
      guard let table = schema.table(name) else { continue }
      for (column, value) in columns where table.column(column) != nil {
        _ = result.add(TableDelta.Fill(column: column, value: value), of: name)
      }
    }
    return result
  }

  static func read(_ connection: HistoryConnection) throws(ChangesetError) -> Fills {
    let rows = try connection.rows("SELECT name, column, value FROM changesets_fills") {
      (table: $0.text(0) ?? "", fill: TableDelta.Fill(column: $0.text(1) ?? "", value: $0.value(2)))
    }
    var fills = Fills()
    for row in rows { _ = fills.add(row.fill, of: row.table) }
    return fills
  }

  /// Keeps what a commit says of columns that it adds.
  static func keep(delta: StateDelta, _ connection: HistoryConnection) throws(ChangesetError) {
    for table in delta.tables where !table.fills.isEmpty {
      var known = try read(connection)
      for fill in table.fills where known.tables[table.name]?[fill.column] != fill.value {
        guard known.add(fill, of: table.name) else {
          throw ChangesetError(
            .schemaMismatch,
            "column \(table.name.quotedName).\(fill.column.quotedName) was added with two unlike defaults, by"
              + " two copies whose migrations differ; remove the history of the one that is wrong, and clone it anew"
          )
        }
        try connection.run(
          "INSERT OR IGNORE INTO changesets_fills VALUES(?1, ?2, ?3)",
          .text(table.name),
          .text(fill.column),
          fill.value
        )
        // Lines that were alike may not be any more.
        try StateFrames.forget(connection)
      }
    }
  }
}

package import CloudSyncSQLite
import CloudSyncSQLiteSchema
package import CloudSyncSQLiteSupport

/// What became of one table between two states.
package struct TableDelta: Sendable, Hashable {
  /// The constant that the rows which were there held in a column when it was added.
  package struct Fill: Sendable, Hashable {
    package var column: String
    package var value: SQLiteValue

    package init(column: String, value: SQLiteValue) {
      self.column = column
      self.value = value
    }
  }

  /// The table's name as it is declared.
  package var name: String
  /// By the bytes of the column's name; only migrations have any.
  package var fills: [Fill]
  /// By key.
  package var rows: [RowDelta]

  package init(_ name: String, fills: [Fill] = [], rows: [RowDelta]) {
    self.name = name
    self.fills = fills
    self.rows = rows
  }
}

/// What became of a database between two states: nothing, if there are no tables.
package struct StateDelta: Sendable, Hashable {
  /// By the bytes of their names, each with at least one change.
  package var tables: [TableDelta]

  package init(tables: [TableDelta] = []) { self.tables = tables }

  package var isEmpty: Bool { tables.isEmpty }

  package var rowCount: Int { tables.reduce(0) { $0 + $1.rows.count } }

  package func table(_ name: String) -> TableDelta? {
    tables.first { $0.name.hasSameBytes(as: name) }
  }

  /// What takes it back, as if done at a time; a column that was filled stays.
  package func inverted(at time: HybridTime) -> StateDelta {
    StateDelta(
      tables: tables.map { table in
        TableDelta(table.name, rows: table.rows.filter(\.isChange).map { $0.inverted(at: time) })
      }
    )
  }

  /// The same without values that have become newer alone.
  package var withoutNewerValues: StateDelta {
    StateDelta(
      tables: tables.compactMap { table in
        let rows = table.rows.compactMap(\.withoutNewerValues)
        return rows.isEmpty && table.fills.isEmpty
          ? nil : TableDelta(table.name, fills: table.fills, rows: rows)
      }
    )
  }

  /// Both, one after the other, as one.
  package func followed(by next: StateDelta) throws(ByteFault) -> StateDelta {
    var fold = DeltaFold()
    try fold.add(self)
    try fold.add(next)
    return fold.result
  }
}

/// Puts changes that follow each other together.
package struct DeltaFold {
  private var tables: [String: (fills: [TableDelta.Fill], rows: [RowKey: RowDelta])] = [:]

  package init() {}

  package mutating func add(_ delta: StateDelta) throws(ByteFault) {
    for table in delta.tables {
      var known = tables.removeValue(forKey: table.name) ?? (fills: [], rows: [:])
      known.fills += table.fills
      for row in table.rows {
        let former = known.rows.removeValue(forKey: row.key)
        known.rows[row.key] = if let former { try former.followed(by: row) } else { row }
      }
      tables[table.name] = known
    }
  }

  /// What a migration has made of the rows, as new as the edits here that it was made of.
  func migrated(_ delta: StateDelta) -> StateDelta {
    StateDelta(
      tables: delta.tables.map { table in
        let added = table.fills.map(\.column)
        let known = tables[table.name]?.rows ?? [:]
        let rows = table.rows.map { $0.migrated(after: known[$0.key], adding: added) }
        return TableDelta(table.name, fills: table.fills, rows: rows)
      }
    )
  }

  package var result: StateDelta {
    StateDelta(
      tables: tables.keys.sortedByBytes()
        .compactMap { name in
          guard let known = tables[name], !known.rows.isEmpty || !known.fills.isEmpty else {
            return nil
          }
          return TableDelta(
            name,
            fills: known.fills.sorted { $0.column.precedesByBytes($1.column) },
            rows: known.rows.values.sorted { $0.key < $1.key }
          )
        }
    )
  }
}

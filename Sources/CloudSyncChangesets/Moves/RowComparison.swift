import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// What a migration has made of the rows of one table.
struct RowComparison {
  let table: TrackedTable
  /// What columns were filled with that were added.
  let fills: [TableDelta.Fill]
  let converted: ConvertedValues
  let time: HybridTime
  /// The rows as they were, but for those that have been met.
  private var wanted: [RowKey: RowDelta] = [:]
  private var rows: [RowDelta] = []

  init(
    table: TrackedTable,
    fills: [TableDelta.Fill],
    converted: ConvertedValues,
    time: HybridTime
  ) {
    (self.table, self.fills, self.converted, self.time) = (table, fills, converted, time)
  }

  /// Expects the rows of HEAD.
  mutating func expect(_ state: [RowDelta]) throws(ChangesetError) {
    for row in state { wanted[row.key] = row.filled(fills) }
    try converted.forget(unlike: wanted)
  }

  /// Compares a row as it is now.
  mutating func compare(_ row: RowDelta) throws(ChangesetError) {
    guard let was = wanted.removeValue(forKey: row.key) else { return rows.append(row) }
    let row = try converted.taken(up: row, as: was)
    let change = try reading("a row before the migration") { () throws(ByteFault) in
      try was.inverted(at: time).followed(by: row)
    }
    if let change { rows.append(change) }
  }

  /// What has become of the rows that were met.
  var seen: TableDelta {
    TableDelta(table.name, fills: fills, rows: rows.sorted { $0.key < $1.key })
  }

  /// The same, and that the others are gone; nil if nothing has changed.
  var delta: TableDelta? {
    let all = rows + wanted.values.map { $0.inverted(at: time) }
    return all.isEmpty && fills.isEmpty
      ? nil : TableDelta(table.name, fills: fills, rows: all.sorted { $0.key < $1.key })
  }
}

import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Rows that may not be in a table together because of a unique key.
extension Settlement {
  /// Puts all rows that wait into their tables, the strongest first; what collides with one that is there gets
  /// another key, or is set aside.
  func place() throws(ChangesetError) {
    for name in Set(waiting.keys.map(\.table)).sortedByBytes() {
      let table = try table(name)
      if !table.searches.isEmpty { try takeOutHolders(in: name) }
      let ids = waiting.keys.filter { $0.table == name }
      let ranks = Dictionary(uniqueKeysWithValues: ids.map { ($0, rank(of: $0, in: table)) })
      let ranked =
        HistoryMutant.unsortedSettlement.isPresent
        ? Array(ids)
        : ids.sorted { one, other in
          let (mine, theirs) = (ranks[one] ?? .zero, ranks[other] ?? .zero)
          return mine != theirs ? mine > theirs : one < other
        }
      for id in ranked {
        if let row = waiting[id] { try place(id, row, in: table) }
      }
    }
  }

  /// Takes out what the rows that wait collide with: it may be weaker.
  private func takeOutHolders(in name: String) throws(ChangesetError) {
    let table = try table(name)
    for id in waiting.keys.filter({ $0.table == name }).sorted() {
      guard let row = waiting[id] else { continue }
      for holder in try table.holders(of: row, id.key) {
        let other = RowID(table: name, key: holder.key)
        if let present = try evict(other) { waiting[other] = present }
      }
    }
  }

  /// When the columns were written last that unique keys look at.
  private func rank(of id: RowID, in table: SettlementTable) -> HybridTime {
    let columns = Set(table.searches.flatMap(\.columns))
    return columns.map { time(of: id, $0) }.max() ?? .zero
  }

  private func place(
    _ id: RowID,
    _ row: SettledRow,
    in table: SettlementTable
  ) throws(ChangesetError) {
    var row = row
    var changes: [(column: String, value: SQLiteValue)] = []
    // Each turn frees one key; a key may be met again by what another one has made of the row.
    for _ in 0...(2 * table.searches.count) {
      let holders = table.searches.isEmpty ? [] : try table.holders(of: row, id.key)
      guard let holder = holders.first else { break }
      guard let next = try otherKey(for: id, row, besides: holder.search, in: table) else {
        return yield(id: id, original(row: row, changes))
      }
      for (column, value) in next {
        changes.append((column, row[column]))
        row.set(column, value, at: time(of: id, column))
      }
    }
    guard try table.insert(id.key, row) == nil else {
      return yield(id: id, original(row: row, changes))
    }
    if !changes.isEmpty { yielded[id] = original(row: row, changes) }
    noteRekeyed(id: id, row, changes)
    notePlaced(id, row)
  }

  private func yield(id: RowID, _ row: SettledRow) {
    yielded[id] = row
    setAside(id, row, because: .unique)
  }

  private func original(
    row: SettledRow,
    _ changes: [(column: String, value: SQLiteValue)]
  ) -> SettledRow {
    var original = row
    for (column, value) in changes.reversed() {
      original.set(column, value, at: row.times[column] ?? .zero)
    }
    return original
  }

  private func noteRekeyed(
    id: RowID,
    _ row: SettledRow,
    _ changes: [(column: String, value: SQLiteValue)]
  ) {
    if changes.isEmpty { return }
    var lost: [String: SQLiteValue] = [:]
    for (column, value) in changes.reversed() { lost[column] = value }
    let columns = lost.keys.sortedByBytes()
    note(
      MergeConflict(
        .unique,
        table: id.table,
        key: id.key,
        kept: columns.map { .init($0, row[$0], time: row.times[$0] ?? .zero) },
        lost: columns.map { .init($0, lost[$0] ?? .null, time: row.times[$0] ?? .zero) }
      )
    )
  }

  /// What a row is to hold in the columns of a unique key that another one has; nil if there is nothing.
  private func otherKey(
    for id: RowID,
    _ row: SettledRow,
    besides search: UniqueKeySearch,
    in table: SettlementTable
  ) throws(ChangesetError) -> [(String, SQLiteValue)]? {
    let policy = plan.rules.table(id.table).uniqueKeys
    for attempt in 1...100 {
      let conflict = UniqueKeyConflict(
        table: id.table,
        recordName: id.key.values.map(\.literal).joined(separator: ","),
        columns: search.columns,
        values: search.columns.map { FieldValue(value(of: $0, in: row, id, table)) },
        attempt: attempt
      )
      guard let renamed = policy.renamed(conflict), renamed.count == search.columns.count else {
        break
      }
      let changes = zip(search.columns, renamed)
        .compactMap { column, value -> (String, SQLiteValue)? in
          guard table.tracked.columns.contains(column), let value = value.column,
            value != row[column]
          else { return nil }
          return (column, value)
        }
      if changes.isEmpty { break }
      var next = row
      for (column, value) in changes { next.set(column, value, at: .zero) }
      let stored = try table.holders(of: next, id.key)
      if !stored.contains(where: { $0.search.columns == search.columns }) { return changes }
    }
    let columns = table.nullableColumns(of: search).filter { row[$0] != .null }
    if columns.isEmpty { return nil }
    var next = row
    for column in columns { next.set(column, .null, at: .zero) }
    let remaining = try table.holders(of: next, id.key)
    return remaining.contains { $0.search.columns == search.columns }
      ? nil : columns.map { ($0, .null) }
  }

  private func value(
    of column: String,
    in row: SettledRow,
    _ id: RowID,
    _ table: SettlementTable
  ) -> SQLiteValue {
    guard let place = table.tracked.key.firstIndex(of: column) else { return row[column] }
    return id.key.values[place]
  }
}

import CloudSyncSQLite
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// The rows that a foreign key could refer to and that the sides of a merge have deleted, or given another key.
struct ReferencedRows {
  private let parentColumns: [String]
  private let name: String
  private let table: SettlementTable
  private let collations: [KeyCollation]
  /// How the columns that are referred to store values: SQLite compares those of a foreign key so.
  private let affinities: [TableSchema.Column.Affinity]
  /// The rows that were deleted, by what they were referred to by.
  private var deletions: [[SQLiteValue]: RowDelta] = [:]
  /// The rows that are referred to by something else now.
  private var moves: [[SQLiteValue]: RowKey] = [:]

  init(_ link: TableReference, table: SettlementTable, nets: [StateDelta]) throws(ChangesetError) {
    parentColumns = link.key.referencedColumns
    name = link.parent.name
    self.table = table
    collations = try Self.collations(link: link, table)
    affinities = link.key.referencedColumns.map { name in
      table.tracked.schema.column(named: name)?.affinity ?? .blob
    }
    for net in nets {
      for row in net.table(name)?.rows ?? [] { try add(row: row) }
    }
  }

  private mutating func add(row: RowDelta) throws(ChangesetError) {
    if row.kind == .delete {
      let values = values(of: row.key) { row.cell($0)?.old ?? .null }
      if deletions[canonical(values: values)] == nil { deletions[canonical(values: values)] = row }
      return
    }
    let isMoved =
      row.kind == .insert
      || row.cells.contains { cell in
        cell.isChange && parentColumns.contains { $0.isSameName(as: cell.column) }
      }
    guard isMoved else { return }
    let present = row.kind == .insert ? nil : try table.row(row.key)
    // What it had before, and what this side has given it: the merge may have neither.
    for side in row.kind == .insert ? [\CellDelta.new] : [\CellDelta.old, \CellDelta.new] {
      let values = values(of: row.key) { row.cell($0)?[keyPath: side] ?? present?[$0] ?? .null }
      if moves[canonical(values: values)] == nil { moves[canonical(values: values)] = row.key }
    }
  }

  /// What a row is referred to by.
  func values(of key: RowKey, _ value: (String) -> SQLiteValue) -> [SQLiteValue] {
    let tracked = table.tracked
    return parentColumns.map { name in
      if let place = tracked.key.firstIndex(where: { $0.isSameName(as: name) }) {
        return key.values[place]
      }
      let column = tracked.columns.first { $0.isSameName(as: name) }
      return column.map(value) ?? .null
    }
  }

  func values(of key: RowKey, _ row: SettledRow) -> [SQLiteValue] { values(of: key) { row[$0] } }

  /// The row of some values that a side has deleted.
  func deletion(_ values: [SQLiteValue]) -> RowDelta? { deletions[canonical(values: values)] }

  /// The row that had some values before a side changed them.
  func move(_ values: [SQLiteValue]) -> RowKey? { moves[canonical(values: values)] }

  func isSame(_ one: [SQLiteValue], _ other: [SQLiteValue]) -> Bool {
    canonical(values: one) == canonical(values: other)
  }

  /// One spelling of all values that the key holds to be equal.
  private func canonical(values: [SQLiteValue]) -> [SQLiteValue] {
    values.enumerated().map { collations[$0].canonical(affinities[$0].compared($1)) }
  }

  /// The keys of the rows that refer to some values by a foreign key, in order.
  func children(
    of values: [SQLiteValue],
    by link: TableReference,
    in child: SettlementTable
  ) throws(ChangesetError) -> [RowKey] {
    let match = link.key.columns.enumerated()
      .map { place, column in
        "t.\(column.quotedName) = ?\(place + 1) COLLATE \(collations[place].rawValue)"
      }
    let key = child.tracked.key.map { "t.\($0.quotedName)" }.joined(separator: ", ")
    let sql = """
      SELECT \(key) FROM main.\(child.tracked.name.quotedName) t
      WHERE \(match.joined(separator: " AND ")) ORDER BY \(key)
      """
    return try child.connection.failing { () throws(SQLiteError) in
      try child.connection.bound(sql: sql, values)
        .mapRows { query in RowKey(child.tracked.key.indices.map { query.value(Int32($0)) }) }
    }
  }

  /// How each column that is referred to is compared: as the unique index of the key does.
  private static func collations(
    link: TableReference,
    _ table: SettlementTable
  ) throws(ChangesetError) -> [KeyCollation] {
    let found = try table.connection.rows(
      """
      SELECT x.name, x.coll FROM pragma_index_list(?1, 'main') l
      JOIN pragma_index_xinfo(l.name, 'main') x
      WHERE l."unique" AND x."key" AND x.name IS NOT NULL
      """,
      .text(link.parent.name)
    ) { ($0.text(0) ?? "", $0.text(1) ?? "") }
    return link.key.referencedColumns.map { column in
      let name = found.first { $0.0.isSameName(as: column) }?.1
      return name.flatMap { KeyCollation(name: $0) } ?? .binary
    }
  }
}

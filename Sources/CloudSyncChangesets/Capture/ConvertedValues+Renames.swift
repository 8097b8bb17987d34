import CloudSyncSQLite
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// What is known of values goes along with them into columns and tables that have other names now.
///
/// Nothing is lost by a column that is really another one: it holds in the row what the former one has made of the value.
extension ConvertedValues {
  /// Takes over what was known of the values of the same table, or of one that it replaces, before it was changed.
  ///
  /// - Parameters:
  ///   - former: The table as it was.
  ///   - state: Its rows as the history has them.
  /// - Throws: What is wrong with the database.
  func follow(
    _ former: SchemaDescription.Table,
    rows state: [RowDelta]
  ) throws(ChangesetError) {
    let added = tracked.columns.filter { former.column($0) == nil }
    let isRenamed = !former.name.hasSameBytes(as: tracked.name)
    if added.isEmpty, !isRenamed { return }
    let rows = TableRows(connection: connection, table: tracked, converted: self)
    for (key, column, conversion) in try notes(of: former.name) {
      let stays = isRenamed && tracked.hasColumn(column)
      if key.bytes == Self.everyRow {
        let isGone = !tracked.hasColumn(column)
        for name in stays ? [column] : isGone ? added : [] where standing[name] == nil {
          try keep(conversion, in: name, of: key)
          standing[name] = conversion
        }
        continue
      }
      guard let row = try rows.held(key) else { continue }
      for name in stays ? [column] : added where row.cell(name)?.new ?? .null == conversion.held {
        try keep(conversion, in: name, of: key)
      }
    }
    let gone = former.columns.filter { column in
      column.keyPlace == 0 && !column.isGenerated
        && !tracked.hasColumn(column.name)
    }
    for column in gone {
      for name in added where tracked.affinities[name].map({ $0 != column.affinity }) == true {
        try follow(column.name, in: state, to: name, rows)
      }
    }
  }

  /// Takes over the values of a column that is gone, if another column, of another type, holds in every row what that type
  /// makes of them.
  private func follow(
    _ column: String,
    in state: [RowDelta],
    to name: String,
    _ rows: TableRows
  ) throws(ChangesetError) {
    var made: [(key: RowKey, conversion: Conversion)] = []
    for row in state {
      guard let present = try rows.row(row.key) else { continue }
      let (said, held) = (row.cell(column)?.new ?? .null, present.cell(name)?.new ?? .null)
      if said == held { continue }
      guard tracked.mayConvert(said, in: name), try holds(said, in: name, of: row.key) else {
        return
      }
      made.append((row.key, Conversion(said: said, held: held)))
    }
    for (key, conversion) in made { try keep(conversion, in: name, of: key) }
  }

  private func notes(
    of table: String
  ) throws(ChangesetError) -> [(RowKey, String, Conversion)] {
    guard exist else { return [] }
    return try connection.rows(
      "SELECT key, column, said, held FROM \(Self.table) WHERE name = ?1",
      .text(table)
    ) {
      (
        RowKey(codedBytes: $0.bytes(0)), $0.text(1) ?? "",
        Conversion(said: $0.value(2), held: $0.value(3))
      )
    }
  }
}

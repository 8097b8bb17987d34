package import CloudSyncCore
import CloudSyncSQLite
package import CloudSyncSQLiteSupport

extension FieldValue {
  /// The value of a column.
  package init(_ value: SQLiteValue) {
    switch ValueCodec.encode(value, assetThreshold: .max) {
    case .field(let field): self = field
    case .asset, .textAsset: self = .null
    }
  }

  /// The value as SQLite has it; nil if no column can hold it.
  package var column: SQLiteValue? {
    if case .value(let value)? = ValueCodec.decode(self) { value } else { nil }
  }
}

extension RowChange {
  init(_ row: RowDelta, table: String) {
    self.init(
      table: table,
      key: row.key.values.map { FieldValue($0) },
      kind: row.kind == .insert ? .insert : row.kind == .update ? .update : .delete,
      cells: row.cells.filter(\.isChange)
        .map {
          Cell(column: $0.column, old: FieldValue($0.old), new: FieldValue($0.new))
        }
    )
  }
}

extension StateDelta {
  /// The changes as apps see them, by table and key.
  var rowChanges: [RowChange] {
    tables.flatMap { table in
      table.rows.filter(\.isChange).map { RowChange($0, table: table.name) }
    }
  }
}

extension [FieldValue] {
  /// The values as SQLite has them.
  func columns() throws(ChangesetError) -> [SQLiteValue] {
    var values: [SQLiteValue] = []
    for value in self {
      guard let column = value.column else {
        throw ChangesetError(.misuse, "a key has a value that no column can hold")
      }
      values.append(column)
    }
    return values
  }
}

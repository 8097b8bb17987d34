import CloudSyncCore
import CloudSyncSQLiteSupport

extension RecordTable {
  /// What a column holds in a row of the table.
  func value(of column: String, in values: [SQLiteValue]) -> SQLiteValue? {
    places.number(of: column).map { values[$0] }
  }

  /// What columns are to hold, where a version knows them, and else hold.
  func values(
    of columns: [String],
    in version: RecordVersion,
    over values: [SQLiteValue]
  ) -> [SQLiteValue] {
    columns.map { column in
      guard let field = version.value(of: column),
        case .value(let value)? = ValueCodec.decode(field)
      else { return value(of: column, in: values) ?? .null }
      return value
    }
  }

  /// The values of some columns in a row; nil if one is NULL: then nobody refers to them.
  func values(of names: [String], in row: [SQLiteValue]) -> [SQLiteValue]? {
    var values: [SQLiteValue] = []
    for name in names {
      guard let place = places.number(of: name), row[place] != .null else { return nil }
      values.append(row[place])
    }
    return values
  }

  /// The values of a row as edits of all its columns.
  func edits(of values: [SQLiteValue]) -> [ColumnEdit] {
    zip(columns, values).map { ColumnEdit(name: $0, value: transport.fieldValue($1), former: nil) }
  }
}

extension RecordVersion {
  /// The values of some columns as they are stored; nil if one is NULL or unknown: then they refer to nothing.
  func storedValues(of columns: [String]) -> [SQLiteValue]? {
    var values: [SQLiteValue] = []
    for column in columns {
      guard let value = value(of: column), case .value(let stored)? = ValueCodec.decode(value),
        stored != .null
      else { return nil }
      values.append(stored)
    }
    return values
  }
}

import CloudSyncCore
import CloudSyncSQLiteSupport

extension RecordTable {
  /// A value of a column as it travels; whole if its row is gone, where nobody else has it.
  func fieldValue(_ value: SQLiteValue, at place: Int, isGone: Bool = false) -> FieldValue {
    transport.fieldValue(value, isWhole: isGone || comparesValues[place])
  }

  /// The same of a column by its name.
  func fieldValue(_ value: SQLiteValue, of column: String) -> FieldValue {
    transport.fieldValue(value, isWhole: isCompared(column))
  }

  /// Whether a column is of a key: see ``comparesValues``.
  func isCompared(_ column: String) -> Bool {
    places.number(of: column).map { comparesValues[$0] } ?? false
  }

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
    columns.enumerated()
      .map { place, name in
        ColumnEdit(name: name, value: fieldValue(values[place], at: place), former: nil)
      }
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

extension RecordTable {
  /// What a column is to hold by a version, read from its file if that is an asset; nil for what no column can hold.
  ///
  /// What the table holds already needs no file: of a value that was not sent yet there may be none.
  ///
  /// - Parameters:
  ///   - name: The column.
  ///   - version: What the row is to be.
  ///   - values: What the table has of the row now.
  /// - Returns: The value; nil if the version has none, either.
  /// - Throws: As a broken constraint, that the file is not to be had.
  func stored(
    _ name: String,
    of version: RecordVersion,
    over values: [SQLiteValue]?
  ) throws(SQLiteError) -> SQLiteValue? {
    guard let value = version.value(of: name) else { return nil }
    if let place = places.number(of: name), let present = values?[place],
      Self.isContent(present, of: value)
    {
      return present
    }
    return try transport.stored(VersionedColumn(name: name, value: value, time: .zero))
  }

  /// Whether an asset is a value of a column.
  private static func isContent(_ present: SQLiteValue, of value: FieldValue) -> Bool {
    let text = value.textAsset
    guard let asset = text ?? value.assetValue else { return false }
    switch present {
    case .blob(let bytes): return text == nil && asset.holds(bytes)
    case .text(let string): return text != nil && asset.holds(string.utf8)
    case .malformedText(let bytes): return text != nil && asset.holds(bytes)
    case .null, .integer, .real: return false
    }
  }
}

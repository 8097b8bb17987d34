import CloudSyncCore
import CloudSyncSQLiteSupport

/// A foreign key that refers to the primary key of a synchronized table.
struct RecordReference: Sendable, Hashable {
  var columns: [String]
  /// The number of the table that it refers to.
  var parent: Int64
}

/// A synchronized table, as what travels sees it.
struct RecordTable: Sendable {
  /// Its number in the engine's tables.
  let id: Int64
  let name: String
  /// The columns that can be written, in the table's order.
  let columns: [String]
  /// These columns by their places.
  let places: ColumnNumbers
  /// The columns of the primary key, in the key's order.
  let key: [String]
  /// Its foreign keys that refer to primary keys of synchronized tables.
  let references: [RecordReference]
  let format: RecordFormat
  /// The numbers of the columns, and of those that there were.
  let numbers: ColumnNumbers
  /// How its rows are merged.
  var rules: RowRules
  /// A value as it travels.
  let fieldValue: @Sendable (SQLiteValue) -> FieldValue

  /// Creates a table.
  ///
  /// - Parameters:
  ///   - id: Its number in the engine's tables.
  ///   - name: Its name.
  ///   - columns: The columns that can be written, in the table's order.
  ///   - key: The columns of the primary key, in the key's order.
  ///   - references: Its foreign keys that refer to primary keys of synchronized tables.
  ///   - format: How its rows lie in records.
  ///   - numbers: The numbers of the columns, and of those that there were.
  ///   - rules: How its rows are merged.
  ///   - fieldValue: A value as it travels.
  init(
    id: Int64,
    name: String,
    columns: [String],
    key: [String],
    references: [RecordReference],
    format: RecordFormat,
    numbers: ColumnNumbers,
    rules: RowRules,
    fieldValue: @escaping @Sendable (SQLiteValue) -> FieldValue
  ) {
    self.id = id
    self.name = name
    self.columns = columns
    places = ColumnNumbers(columns)
    self.key = key
    self.references = references
    self.format = format
    self.numbers = numbers
    self.rules = rules
    self.fieldValue = fieldValue
  }

  func store(_ connection: SQLiteConnection) -> RecordStore {
    RecordStore(
      connection: connection,
      table: id,
      places: places,
      numbers: numbers,
      rules: rules,
      fieldValue: fieldValue
    )
  }

  func rows(_ connection: SQLiteConnection) -> TableRows {
    TableRows(connection: connection, name: name, columns: columns, key: key)
  }

  /// A key as the engine's tables have it: its one value, or the coded form of several.
  func rowKey(_ key: RecordKey) -> SQLiteValue {
    if key.values.count == 1, let value = key.values.first { return value }
    var writer = BinaryWriter(reserving: 64)
    for value in key.values { FieldValue(keyValue: value).write(to: &writer) }
    return .blob(writer.bytes)
  }

  /// The key that the engine's tables have so.
  func key(_ rowKey: SQLiteValue) throws(SQLiteError) -> RecordKey {
    if key.count == 1 { return format.key(spelled: [rowKey]) }
    guard case .blob(let bytes) = rowKey else { throw damaged(rowKey) }
    var values: [SQLiteValue] = []
    do throws(CodedError) {
      var reader = BinaryReader(bytes)
      for _ in key {
        guard case .value(let value)? = ValueCodec.decode(try FieldValue(from: &reader)) else {
          throw reader.failure("a value is no column's")
        }
        values.append(value)
      }
    } catch {
      throw damaged(rowKey)
    }
    return format.key(spelled: values)
  }

  private func damaged(_ rowKey: SQLiteValue) -> SQLiteError {
    SQLiteError(code: 11, message: "\(rowKey.literal) is no key of \(name)")
  }
}

extension FieldValue {
  /// A value of a key, which is never an asset.
  fileprivate init(keyValue: SQLiteValue) {
    if case .field(let value) = ValueCodec.encode(keyValue, assetThreshold: .max) {
      self = value
    } else {
      self = .null
    }
  }
}

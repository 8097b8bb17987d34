import CloudSyncCore
package import CloudSyncSQLiteSupport

/// How a row lies in a record: the format in the cloud.
///
/// A record's type is its table (see ``CloudName``), and its name is the row's key and the table
/// (see ``RecordName``). Its fields, for every column `title` that is known, as ``CloudName``
/// writes it:
///
/// | field | holds |
/// |---|---|
/// | `title` | the value, if it is of the column's own kind (see ``ColumnKind``) |
/// | `cloudsync_integer_title`, `…_real_…`, `…_text_…`, `…_blob_…` | a value of another kind |
/// | `cloudsync_asset_title` | a BLOB over the threshold, as an asset |
/// | `cloudsync_bytes_title` | TEXT that is no UTF-8 or holds a NUL, as bytes |
/// | `cloudsync_time_title` | when the value was set: the number of a ``HybridTime`` |
///
/// At most one of the fields for the value is there. NULL has a time and no value; a column that
/// the record does not know has neither. And for the whole row:
///
/// | field | holds |
/// |---|---|
/// | `cloudsync_time` | the latest of all times; a record without it is none of a row's |
/// | `cloudsync_created` | when the row was inserted last, if that is known |
/// | `cloudsync_writer` | a number of the database that wrote last: two never write the same bytes |
/// | `cloudsync_deleted` | when the row, or the one before it, was deleted, if it was |
///
/// A row is deleted if `cloudsync_deleted` is there and `cloudsync_created` is not later: so a
/// deletion can be taken back, or followed by a new row of the same key. Where deletions win, that row
/// begins with nothing: whatever the record says of columns that it does not set is taken away. All
/// other fields belong to others, and stay.
package struct RecordLayout: Sendable {
  /// A column that the table has.
  struct Column: Sendable {
    let name: String
    let field: String
    let timeField: String
    let kind: ColumnKind

    init(name: String, field: String, kind: ColumnKind) {
      self.name = name
      self.field = field
      self.kind = kind
      timeField = RecordLayout.timePrefix + field
    }
  }

  static let timeField = "cloudsync_time"
  static let timePrefix = "cloudsync_time_"
  static let createdField = "cloudsync_created"
  static let deletedField = "cloudsync_deleted"
  static let writerField = "cloudsync_writer"

  /// The type of the table's records.
  package let recordType: String
  /// Sorted by the bytes of the names, each once.
  private let columns: [Column]
  /// Sorted by the bytes of the fields.
  let slots: [Slot]
  let columnCount: Int

  /// A field that a record of the table's may have.
  struct Slot: Sendable {
    let field: String
    /// The column, counting from 0 in the order given; nil for what is told of the whole row.
    let column: Int?
    let isTime: Bool
    /// The column's own kind.
    var kind: ColumnKind?
  }

  /// Creates the layout of a table, or nothing if a name is too long for any name in the cloud.
  ///
  /// - Parameters:
  ///   - table: The table's name.
  ///   - columns: Its columns with the types that they were declared with.
  package init?(table: String, columns: [(name: String, declaredType: String)]) {
    guard let recordType = CloudName.recordType(ofTable: table) else { return nil }
    self.recordType = recordType
    var known: [Column] = []
    for column in columns {
      guard let field = CloudName.field(ofColumn: column.name) else { return nil }
      let kind = ColumnKind(declaredType: column.declaredType)
      known.append(Column(name: column.name, field: field, kind: kind))
    }
    self.columns = known.sorted { UTF8Bytes.order($0.name, $1.name) < 0 }
    columnCount = known.count
    var slots = [Self.timeField, Self.createdField, Self.deletedField, Self.writerField]
      .map { Slot(field: $0, column: nil, isTime: true) }
    for (place, column) in known.enumerated() {
      slots.append(Slot(field: column.field, column: place, isTime: false, kind: column.kind))
      slots.append(Slot(field: column.timeField, column: place, isTime: true))
    }
    self.slots = slots.sorted { UTF8Bytes.order($0.field, $1.field) < 0 }
  }

  /// The name of a row's record.
  package func recordName(key: [SQLiteValue]) -> String {
    RecordName.make(recordType: recordType, key: key)
  }

  /// Where a column lies; one that the table does not have keeps the value in its own field.
  func column(_ name: String, holding value: FieldValue) -> Column? {
    var (low, high) = (0, columns.count)
    while low < high {
      let middle = (low + high) / 2
      let order = UTF8Bytes.order(columns[middle].name, name)
      if order == 0 { return columns[middle] }
      if order < 0 { low = middle + 1 } else { high = middle }
    }
    guard let field = CloudName.field(ofColumn: name) else { return nil }
    return switch ColumnKind(of: value) {
    case nil, .asset?, .bytes?: Column(name: name, field: field, kind: .blob)
    case let kind?: Column(name: name, field: field, kind: kind)
    }
  }
}

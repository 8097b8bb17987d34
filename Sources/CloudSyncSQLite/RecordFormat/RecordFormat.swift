import CloudSyncCore
import CloudSyncSQLiteSupport

/// How a row's version lies in a record: the format in the cloud.
///
/// A record's type is its table (see ``CloudName``), and its name is the row's key and the table (see
/// ``RecordKey``). Its fields, for every column `title` that is known, as ``CloudName`` writes it:
///
/// | field | holds |
/// |---|---|
/// | `title` | the value, if it is of the column's own kind (see ``ColumnKind``); of a counter the sum |
/// | `cloudsync_value_title` | a value of another kind, as bytes (see ``AsideValue``) |
/// | `cloudsync_asset_title` | a BLOB over the threshold, as an asset |
/// | `cloudsync_textasset_title` | a text over its threshold, as an asset |
/// | `cloudsync_clock` | when what was set, as bytes (see ``ClockCoding``): only with it a record is a row's |
///
/// Columns of keys are never assets (see ``RecordTable/comparesValues``).
/// At most one of the fields for a value is there, and none for NULL: which columns are known, the clock tells.
/// A counter's field is for other readers: here its sum is made from the shares in the clock. All other fields
/// are foreign: they stay as long as the row lives. A tombstone has no columns where deletions win, so
/// its record has the clock alone; if the record's name is a digest, also the columns of the key.
struct RecordFormat: Sendable {
  /// A column of the primary key.
  struct KeyPlace: Sendable, Hashable {
    /// The column's place in the table.
    let place: Int
    let collation: KeyCollation
  }

  static let clockField = "cloudsync_clock"

  /// The type of the table's records.
  let recordType: String
  /// The table's columns, in the order in which they were given.
  let columns: [ColumnFields]
  /// Whether values of a column lie aside whatever their kind is.
  let hasDoubtedKinds: Bool
  /// The columns of the primary key, in the key's order.
  let key: [KeyPlace]
  /// The names of the fields that the cloud encrypts: own fields of columns, and where their values lie aside.
  let encryptedFields: Set<String>
  /// The size in bytes over which a BLOB is an asset.
  let assetThreshold: Int
  /// The size in bytes over which a text is an asset.
  let textThreshold: Int
  /// The fields of records out of nothing unusual, sorted by the bytes of their names.
  let slots: [Slot]
  /// The clocks of rows out of nothing unusual.
  let plainClock: PlainClock
  /// The places of the columns in the order of their names' bytes.
  private let places: [Int]

  /// A field of records that are out of nothing unusual.
  struct Slot: Sendable {
    let field: String
    /// The place of the column whose own field it is; nil for the clock's.
    let column: Int?
    let kind: ColumnKind
  }

  /// Creates the format of a table.
  ///
  /// - Parameters:
  ///   - table: The table's name.
  ///   - columns: Its writable columns with the types that they were declared with.
  ///   - kinds: The kinds of the own fields of columns whose type was another one when the cloud first got them.
  ///   - key: The columns of its primary key, in the key's order, with the names of their collations.
  ///   - encrypted: The own fields of columns that the cloud encrypts, and the names of foreign ones.
  ///   - numbers: The numbers by which stored clocks call columns.
  ///   - assetThreshold: The size in bytes over which a BLOB is an asset.
  ///   - textThreshold: The size in bytes over which a text is one.
  /// - Throws: Why the table has no format.
  init(
    table: String,
    columns: [(name: String, declaredType: String)],
    kinds: [String: ColumnKind] = [:],
    key: [(column: String, collation: String)],
    encrypted: Set<String> = [],
    numbers: ColumnNumbers,
    assetThreshold: Int,
    textThreshold: Int = .max
  ) throws(RecordFormatError) {
    guard let recordType = CloudName.recordType(ofTable: table) else { throw .nameTooLong(table) }
    self.recordType = recordType
    encryptedFields = encrypted.union(encrypted.map { ColumnFields.asidePrefix + $0 })
    self.assetThreshold = assetThreshold
    self.textThreshold = textThreshold
    var fields: [ColumnFields] = []
    for column in columns {
      let kind = kinds[column.name] ?? ColumnKind(declaredType: column.declaredType)
      guard let found = ColumnFields(column: column.name, kind: kind) else {
        throw .nameTooLong(column.name)
      }
      fields.append(found)
    }
    self.columns = fields
    hasDoubtedKinds = fields.contains { $0.kind == .bytes }
    places = fields.indices.sorted { UTF8Bytes.order(fields[$0].column, fields[$1].column) < 0 }
    var keyColumns: [KeyPlace] = []
    for (name, collationName) in key {
      guard let place = fields.firstIndex(where: { UTF8Bytes.equal($0.column, name) }) else {
        throw .missingKeyColumn(name)
      }
      guard let collation = KeyCollation(name: collationName) else {
        throw .unknownCollation(collationName)
      }
      keyColumns.append(KeyPlace(place: place, collation: collation))
    }
    self.key = keyColumns
    slots = Self.slots(of: fields)
    plainClock = PlainClock(places: places.map { ($0, fields[$0].column) }, numbers: numbers)
  }

  private static func slots(of fields: [ColumnFields]) -> [Slot] {
    var slots = [Slot(field: clockField, column: nil, kind: .blob)]
    for (place, field) in fields.enumerated() {
      slots.append(Slot(field: field.own, column: place, kind: field.kind ?? .blob))
    }
    return slots.sorted { UTF8Bytes.order($0.field, $1.field) < 0 }
  }

  /// The fields of a column, also of one that the table does not have; nil if the name is too long for any.
  func fields(of column: String) -> ColumnFields? {
    let place = places.indices.firstPlace {
      UTF8Bytes.order(columns[places[$0]].column, column) >= 0
    }
    if place < places.count {
      let found = columns[places[place]]
      if UTF8Bytes.equal(found.column, column) { return found }
    }
    return ColumnFields(column: column, kind: nil)
  }

  /// The field of a column of a version; nil for NULL, and if the version does not know the column.
  func field(of column: ColumnFields, in version: RecordVersion) -> RecordField? {
    let field =
      if let known = version[column.column] {
        column.field(for: known.value)
      } else {
        version.counterSum(of: column.column).flatMap { column.field(for: column.shown($0)) }
      }
    // What the cloud has in the column's own field is of another kind: it takes no other. One of the same kind is of who
    // has dropped the column, and does not know it any more.
    guard let field, UTF8Bytes.equal(field.name, column.own),
      version.foreignFields.contains(where: {
        UTF8Bytes.equal($0.name, column.own) && !column.isOwn($0.value)
      }),
      let bytes = AsideValue.bytes(of: field.value)
    else { return field }
    return RecordField(name: column.aside, value: .data(bytes))
  }
}

/// Why a table has no format in the cloud.
enum RecordFormatError: Error, Sendable, Hashable {
  /// The name of the table or of a column is too long for any name in the cloud.
  case nameTooLong(String)
  /// The key has a column that is none of the table's.
  case missingKeyColumn(String)
  /// The key has a collation that only the app knows.
  case unknownCollation(String)
}

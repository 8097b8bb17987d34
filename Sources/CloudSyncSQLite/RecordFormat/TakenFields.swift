import CloudSyncCore

/// The fields of a record that are taken, one after the other, for columns; the rest is foreign.
struct TakenFields {
  private let fields: [RecordField]
  private var isTaken: [Bool]
  /// Whether any value lies beside its column's own field.
  private let hasAside: Bool

  init(_ record: Record) {
    fields = record.fields
    isTaken = Array(repeating: false, count: fields.count)
    hasAside = [
      ColumnFields.asidePrefix, ColumnFields.assetPrefix, ColumnFields.textAssetPrefix,
    ]
    .contains { prefix in
      let place = Self.place(of: prefix, in: record.fields)
      return place < record.fields.count
        && record.fields[place].name.utf8.starts(with: prefix.utf8)
    }
  }

  /// The place of a name in fields that are sorted, or where it would be.
  private static func place(of name: String, in fields: [RecordField]) -> Int {
    fields.indices.firstPlace { UTF8Bytes.order(fields[$0].name, name) >= 0 }
  }

  /// The fields that nothing has taken.
  var rest: [RecordField] {
    fields.indices.filter { !isTaken[$0] && !fields[$0].value.isNull }.map { fields[$0] }
  }

  mutating func take(_ name: String) -> FieldValue? {
    let place = Self.place(of: name, in: fields)
    guard place < fields.count, UTF8Bytes.equal(fields[place].name, name) else { return nil }
    guard !fields[place].value.isNull else { return nil }
    isTaken[place] = true
    return fields[place].value
  }

  /// Takes the field that holds a column's value, and gives the value; null if there is none.
  ///
  /// A field in which the value would not lie here is one of the rest too: where it was written the column has
  /// another type, and an edit has to know what it does not write over.
  mutating func value(of column: ColumnFields) throws(CodedError) -> FieldValue {
    // What lies aside was put there by an engine; another writer sets the column's own field.
    if hasAside, let coded = take(column.aside) {
      guard case .data(let bytes) = coded else {
        throw CodedError(place: column.aside, reason: "the value is not in bytes")
      }
      let value = try AsideValue.value(of: bytes)
      if column.isOwn(value) { leave(column.aside) }
      return value
    }
    if hasAside, let asset = take(column.asset) { return asset }
    if hasAside, let field = take(column.textAsset) {
      guard let asset = field.assetValue else {
        throw CodedError(place: column.textAsset, reason: "the text is in no file")
      }
      return .textAsset(asset)
    }
    guard let value = take(column.own) else { return .null }
    if column.kind != nil, !column.isOwn(value) { leave(column.own) }
    return value
  }

  /// Counts a field to the rest though it was taken.
  private mutating func leave(_ name: String) { isTaken[Self.place(of: name, in: fields)] = false }

  /// Takes the field that holds a column's value, whatever it is.
  mutating func skip(_ column: ColumnFields) {
    for name in column.besides where take(name) != nil { return }
    _ = take(column.own)
  }
}

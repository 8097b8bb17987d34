package import CloudSyncCore

extension RowVersion {
  /// Reads a whole record of the cloud's, as ``RecordLayout`` describes it.
  ///
  /// What cannot be read, such as a time that is no number, belongs to the unknown fields.
  ///
  /// - Returns: Nil if the record is none of a row's, because it has no time.
  package init?(record: Record) {
    guard let time = record[RecordLayout.timeField], case .int64 = time else { return nil }
    var reading = RecordReading(record.fields)
    let columns = reading.columns()
    self.init(
      columns: columns,
      createdAt: record[RecordLayout.createdField]?.int64Value.map { HybridTime(rawValue: $0) },
      deletedAt: record[RecordLayout.deletedField]?.int64Value.map { HybridTime(rawValue: $0) },
      unknownFields: reading.unknownFields
    )
  }
}

extension Record {
  /// The record as a row's version; nil if it is none of a row's.
  var rowVersion: RowVersion? { RowVersion(record: self) }
}

/// Sorts the fields of a record into times, values and the rest.
private struct RecordReading {
  private let fields: [RecordField]
  /// The field of every column with a time, in order.
  private var times: [(field: Substring.UTF8View, time: HybridTime, place: Int)] = []
  /// Values that lie beside their columns' own fields.
  private var beside: [(field: Substring.UTF8View, kind: ColumnKind, place: Int)] = []
  /// Which fields belong to columns, or to the row.
  private var isKnown: [Bool]

  init(_ fields: [RecordField]) {
    self.fields = fields
    isKnown = Array(repeating: false, count: fields.count)
    for place in fields.indices {
      let name = fields[place].name
      guard name.utf8.first == 0x63, name.utf8.starts(with: CloudName.reservedPrefix.utf8) else {
        continue
      }
      sort(place, name)
    }
  }

  private mutating func sort(_ place: Int, _ name: String) {
    if name.utf8.starts(with: RecordLayout.timePrefix.utf8) {
      guard case .int64(let time) = fields[place].value else { return }
      let field = name.utf8.dropFirst(RecordLayout.timePrefix.utf8.count)
      times.append((Substring(field).utf8, HybridTime(rawValue: time), place))
      return
    }
    for life in [
      RecordLayout.timeField, RecordLayout.createdField, RecordLayout.deletedField,
      RecordLayout.writerField,
    ]
    where UTF8Bytes.equal(name, life) {
      if case .int64 = fields[place].value { isKnown[place] = true }
      return
    }
    for kind in ColumnKind.allCases where name.utf8.starts(with: kind.prefix.utf8) {
      let field = name.utf8.dropFirst(kind.prefix.utf8.count)
      beside.append((Substring(field).utf8, kind, place))
      return
    }
  }

  /// The columns that have a time, and marks what they use.
  mutating func columns() -> [VersionedColumn] {
    var columns: [VersionedColumn] = []
    columns.reserveCapacity(times.count)
    var next = 0
    for (field, time, place) in times {
      let text = String(Substring(field))
      guard let name = CloudName.column(ofField: text) else { continue }
      isKnown[place] = true
      var value = FieldValue.null
      while next < fields.count {
        let order = UTF8Bytes.order(fields[next].name, text)
        if order > 0 { break }
        if order == 0 {
          value = fields[next].value
          isKnown[next] = true
        }
        next += 1
      }
      if value.isNull, let found = beside.first(where: { $0.field.elementsEqual(field) }) {
        value = marked(fields[found.place].value, found.kind)
        isKnown[found.place] = true
      }
      columns.append(VersionedColumn(name: name, value: value, time: time))
    }
    return columns
  }

  private func marked(_ value: FieldValue, _ kind: ColumnKind) -> FieldValue {
    if kind == .bytes, case .data = value { .list([value]) } else { value }
  }

  var unknownFields: [RecordField] {
    isKnown.allSatisfy { $0 }
      ? [] : fields.indices.filter { !isKnown[$0] }.map { fields[$0] }
  }
}

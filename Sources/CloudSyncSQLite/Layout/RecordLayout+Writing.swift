package import CloudSyncCore

extension RecordLayout {
  /// Returns the whole record of a row that the cloud does not have, as an edit may follow another one.
  package func record(
    _ row: RowVersion,
    recordID: RecordID,
    mayFollow: Bool = false
  ) -> Record {
    let columns = edit(
      columns: row.columns,
      createdAt: row.createdAt,
      deletedAt: row.deletedAt,
      of: nil,
      recordID: recordID,
      mayFollow: mayFollow
    )
    guard !row.unknownFields.isEmpty else { return columns }
    let rest = Record(
      recordType: recordType,
      recordID: recordID,
      sortedFields: row.unknownFields
    )
    return rest.merging(later: columns)
  }

  /// Returns the edit that sets some columns of a record, and leaves all the rest as it is.
  ///
  /// - Parameters:
  ///   - columns: The columns to be set, with their times.
  ///   - endedColumns: Columns that the record is to know nothing of, and that are not among those.
  ///   - createdAt: When the row was inserted last; nil says nothing about it.
  ///   - deletedAt: When the row was deleted last; nil takes away what the record says.
  ///   - server: The whole record as the cloud has it, whose tag the edit gets; nil if it has none.
  ///   - recordID: The record's identity.
  ///   - mayFollow: Whether a session may still have an edit that went before and is not in the cloud:
  ///     whatever fields that one has set for these columns, this one clears them.
  /// - Returns: The edit, which may be saved as it is.
  package func edit(
    columns: [VersionedColumn],
    endedColumns: [String] = [],
    createdAt: HybridTime?,
    deletedAt: HybridTime?,
    of server: Record?,
    recordID: RecordID,
    mayFollow: Bool = false
  ) -> Record {
    var fields: [RecordField] = []
    fields.reserveCapacity(columns.count * 2 + 3)
    var latest = max(createdAt ?? .zero, deletedAt ?? .zero)
    for column in columns {
      latest = max(latest, column.time)
      append(column, to: &fields, of: server, mayFollow)
    }
    for name in endedColumns { clear(name, in: &fields, of: server) }
    if let known = server?[Self.timeField]?.int64Value {
      latest = max(latest, HybridTime(rawValue: known))
    }
    fields.append(RecordField(name: Self.timeField, value: .int64(latest.rawValue)))
    Self.append(createdAt, Self.createdField, to: &fields, of: server, removesIfNil: false)
    Self.append(deletedAt, Self.deletedField, to: &fields, of: server, removesIfNil: true)
    fields.sort { UTF8Bytes.order($0.name, $1.name) < 0 }
    return Record(
      recordType: recordType,
      recordID: recordID,
      sortedFields: fields,
      changeTag: server?.changeTag
    )
  }

  private func append(
    _ column: VersionedColumn,
    to fields: inout [RecordField],
    of server: Record?,
    _ mayFollow: Bool
  ) {
    guard let place = self.column(column.name, holding: column.value) else { return }
    fields.append(RecordField(name: place.timeField, value: .int64(column.time.rawValue)))
    var used: String?
    if let kind = ColumnKind(of: column.value) {
      let name = kind == place.kind ? place.field : kind.prefix + place.field
      used = name
      fields.append(RecordField(name: name, value: Self.carried(column.value)))
    }
    guard mayFollow || server?[place.timeField] != nil else {
      // Without a time the record says nothing about the column, unless somebody else wrote it.
      if used == nil, server?[place.field] != nil {
        fields.append(RecordField(name: place.field, value: .null))
      }
      return
    }
    for name in [place.field] + ColumnKind.allCases.map({ $0.prefix + place.field }) {
      if let used, UTF8Bytes.equal(name, used) { continue }
      let isSet = server?[name].map { !$0.isNull } ?? false
      if mayFollow || isSet {
        fields.append(RecordField(name: name, value: .null))
      }
    }
  }

  /// Takes away whatever a record says of a column.
  private func clear(_ column: String, in fields: inout [RecordField], of server: Record?) {
    guard let place = self.column(column, holding: .null) else { return }
    let names =
      [place.timeField, place.field] + ColumnKind.allCases.map { $0.prefix + place.field }
    for name in names where server?[name].map({ !$0.isNull }) ?? false {
      fields.append(RecordField(name: name, value: .null))
    }
  }

  /// A value as its field holds it: text that is mere bytes without the list that marks it.
  private static func carried(_ value: FieldValue) -> FieldValue {
    if case .list(let values) = value, let bytes = values.first { bytes } else { value }
  }

  private static func append(
    _ time: HybridTime?,
    _ name: String,
    to fields: inout [RecordField],
    of server: Record?,
    removesIfNil: Bool
  ) {
    let known = server?[name]
    if let time {
      let value = FieldValue.int64(time.rawValue)
      if known != value { fields.append(RecordField(name: name, value: value)) }
    } else if removesIfNil, let known, !known.isNull {
      fields.append(RecordField(name: name, value: .null))
    }
  }
}

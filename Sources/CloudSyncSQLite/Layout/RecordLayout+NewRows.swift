package import CloudSyncCore
package import CloudSyncSQLiteSupport

extension RecordLayout {
  /// What a row that the cloud does not have is made of, besides its values.
  package struct NewRow {
    package var editedAt: HybridTime
    package var createdAt: HybridTime?
    package var deletedAt: HybridTime?
    package var writer: Int64

    package init(
      editedAt: HybridTime,
      createdAt: HybridTime? = nil,
      deletedAt: HybridTime? = nil,
      writer: Int64
    ) {
      self.editedAt = editedAt
      self.createdAt = createdAt
      self.deletedAt = deletedAt
      self.writer = writer
    }
  }

  /// Returns the record of a new row whose columns were all set at once, as ``record(_:recordID:)`` does.
  ///
  /// - Parameters:
  ///   - values: The values of all columns, in the order in which the layout was given them.
  ///   - row: What else the record says.
  ///   - recordID: The record's identity.
  ///   - encode: How a value travels.
  /// - Returns: Nil if a value is of another kind than its column, so that it lies beside.
  package func newRecord(
    _ values: [SQLiteValue],
    _ row: NewRow,
    recordID: RecordID,
    _ encode: (SQLiteValue) -> FieldValue
  ) -> Record? {
    var fields: [RecordField] = []
    fields.reserveCapacity(slots.count)
    for slot in slots {
      let value: FieldValue
      switch (slot.column, slot.isTime) {
      case (let column?, false):
        if values[column] == .null { continue }
        value = encode(values[column])
        if ColumnKind(of: value) != slot.kind { return nil }
      case (_?, true): value = .int64(row.editedAt.rawValue)
      case (nil, _):
        guard let life = life(slot.field, row) else { continue }
        value = .int64(life)
      }
      fields.append(RecordField(name: slot.field, value: value))
    }
    return Record(recordType: recordType, recordID: recordID, sortedFields: fields)
  }

  /// The fields that tell of the whole row.
  private func life(_ field: String, _ row: NewRow) -> Int64? {
    switch field {
    case Self.timeField:
      max(row.editedAt, max(row.createdAt ?? .zero, row.deletedAt ?? .zero)).rawValue
    case Self.createdField: row.createdAt?.rawValue
    case Self.deletedField: row.deletedAt?.rawValue
    default: row.writer
    }
  }
}

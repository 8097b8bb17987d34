import CloudSyncCore
import CloudSyncSQLiteSupport

extension RecordLayout {
  /// The values of a record's columns, where all of them lie in the columns' own fields.
  struct PlainValues {
    /// A value for every column of the table, NULL for those that the record does not know.
    var values: [SQLiteValue]
    /// A bit for every column that the record knows.
    var known: UInt64
  }

  /// Reads a record the quick way; nil if it has anything out of the ordinary.
  func plainValues(of record: Record) -> PlainValues? {
    guard columnCount <= 64 else { return nil }
    var result = PlainValues(values: Array(repeating: .null, count: columnCount), known: 0)
    var next = 0
    for field in record.fields {
      var order = -1
      while next < slots.count {
        order = UTF8Bytes.order(slots[next].field, field.name)
        if order >= 0 { break }
        next += 1
      }
      guard order == 0 else {
        // A value of another kind, an asset, or something of a newer engine.
        if field.name.utf8.starts(with: CloudName.reservedPrefix.utf8) { return nil }
        continue
      }
      let slot = slots[next]
      next += 1
      if slot.isTime {
        guard case .int64 = field.value else { return nil }
        if let column = slot.column { result.known |= 1 << UInt64(column) }
      } else if let column = slot.column {
        guard case .value(let value)? = ValueCodec.decode(field.value) else { return nil }
        result.values[column] = value
      }
    }
    return result
  }
}

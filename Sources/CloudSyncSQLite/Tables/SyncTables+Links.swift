import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

extension SyncTables {
  /// Values that a foreign key refers to, in the one spelling that stands for all equal ones.
  func compared(_ values: [SQLiteValue], by link: TableLink) -> [SQLiteValue] {
    zip(link.collations, values).map { $0?.canonical($1) ?? $1 }
  }

  /// What a row waits for that refers to values of a key which is not the primary one: which record has them is not
  /// known.
  func name(of values: [SQLiteValue], by link: TableLink) -> String {
    let key = zip(link.referencedColumns, compared(values, by: link)).sorted { $0.0 < $1.0 }
    let columns = key.map(\.0).joined(separator: ",")
    let name = "*:\(self[link.parent].format.recordType):\(columns)"
    // What cannot be compared here may be any value.
    guard !link.collations.contains(nil),
      case .text(let text) = CompoundKey.text(of: key.map(\.1))
    else { return name }
    return "\(name):\(text)"
  }

  /// Whether a row as it is to be refers to values by a foreign key.
  func refers(_ version: RecordVersion, by link: TableLink, to values: [SQLiteValue]) -> Bool {
    guard let own = version.storedValues(of: link.columns) else { return false }
    return compared(own, by: link) == compared(values, by: link)
  }

  /// Whether a row as it is to be has the values that a foreign key refers to.
  func has(_ version: RecordVersion, values: [SQLiteValue], of link: TableLink) -> Bool {
    guard let own = version.storedValues(of: link.referencedColumns) else { return false }
    return compared(own, by: link) == compared(values, by: link)
  }
}

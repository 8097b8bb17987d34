import CloudSyncCore
import CloudSyncSQLiteSupport

/// A row's key as it is compared: two keys that are one for SQLite are equal here, and have one name.
///
/// How a key is spelled is told by its columns alone.
struct RecordKey: Sendable, Hashable {
  /// The values of the key's columns, each as the one spelling that stands for all equal ones.
  let values: [SQLiteValue]
  /// The name of the row's record.
  let name: String

  /// Creates the key of a row.
  ///
  /// - Parameters:
  ///   - spelled: The values of the key's columns, in the key's order.
  ///   - collations: How these columns are compared.
  ///   - recordType: The type of the table's records.
  init(spelled: [SQLiteValue], collations: [KeyCollation], recordType: String) {
    values = zip(spelled, collations).map { $1.canonical($0) }
    name = RecordName.make(recordType: recordType, key: values)
  }

  init(values: [SQLiteValue], name: String) {
    self.values = values
    self.name = name
  }

  static func == (lhs: RecordKey, rhs: RecordKey) -> Bool {
    UTF8Bytes.equal(lhs.name, rhs.name) && lhs.values == rhs.values
  }

  func hash(into hasher: inout Hasher) { UTF8Bytes.with(name) { hasher.combine(bytes: $0) } }
}

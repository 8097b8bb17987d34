import CloudSyncSQLiteSupport

/// Which fields of records the cloud keeps encrypted.
///
/// A cloud fixes that with a field's first value, for all devices. So a field that is encrypted stays so: where the app does
/// not say it any more, and where a version of the app that has never heard of the column makes a record anew.
struct EncryptedFields {
  let connection: SQLiteConnection

  private var facts: Facts { Facts(connection: connection) }

  /// The names of a type's encrypted fields, with some that are so from now on, for good.
  @discardableResult
  func names(
    ofType recordType: String,
    adding names: Set<String>
  ) throws(SQLiteError) -> Set<String> {
    var all = try facts.names(.encryptedFields)
    let known = all[recordType, default: [:]]
    let merged = known.merging(names.map { ($0, "") }) { known, _ in known }
    if merged.count > known.count {
      all[recordType] = merged
      try facts.set(.encryptedFields, toNames: all)
    }
    return Set(merged.keys)
  }
}

import CloudSyncCore

extension RecordFormat {
  /// Returns a save whose fields are marked that the cloud encrypts; those that it clears too, which are no others.
  func encrypted(_ record: Record) -> Record {
    if encryptedFields.isEmpty { return record }
    var record = record
    // Files and references are fields that no cloud takes as encrypted.
    record.encryptedKeys = record.fields
      .filter { field in
        switch field.value {
        case .asset, .reference: false
        default: encryptedFields.contains(field.name)
        }
      }
      .map(\.name)
    return record
  }

  /// The own fields of columns, and foreign ones, that a record of the cloud's shows to be encrypted, and that were not
  /// known to be.
  func newlyEncryptedFields(of record: Record) -> Set<String> {
    let new = record.encryptedKeys.filter { !encryptedFields.contains($0) }
    return Set(
      new.map { name in
        name.hasPrefix(ColumnFields.asidePrefix)
          ? String(name.dropFirst(ColumnFields.asidePrefix.count)) : name
      }
    )
  }
}

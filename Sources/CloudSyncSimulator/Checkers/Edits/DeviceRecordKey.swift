import CloudSyncCore

extension Record {
  /// The fields that edits of a simulation have set.
  var editValues: [(name: String, number: Int64)] {
    fields.compactMap { field in
      guard case .int64(let number) = field.value else { return nil }
      return (field.name, number)
    }
  }
}

/// A record of one device, as a key.
struct DeviceRecordKey: Hashable {
  var device: Int
  var name: String
}

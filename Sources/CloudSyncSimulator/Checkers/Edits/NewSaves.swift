import CloudSyncCore

/// Tells the saves that a request made from those that only a repeated response told of again.
struct NewSaves {
  private var versions: Set<RecordVersion> = []

  /// The records of a request that it saved, and no request before it, as they were sent.
  mutating func note(
    _ operation: ModifyOperation,
    _ response: ModifyOperation.Response
  ) -> [Record] {
    var saved: [String: String] = [:]
    for record in response.savedRecords { saved[record.recordID.name] = record.changeTag ?? "" }
    return operation.records.filter { record in
      let name = record.recordID.name
      return saved[name].map { versions.insert(RecordVersion(name: name, tag: $0)).inserted }
        ?? false
    }
  }
}

/// A version of a record in the cloud.
struct RecordVersion: Hashable {
  var name: String
  var tag: String
}

import CloudSyncCore

extension RecordVersion {
  /// The field of a tombstone that tells as which record its row goes on.
  private static let successorField = "cloudsync_successor"

  /// The name of the record as which a deleted row goes on, because its key was changed: whoever refers to it follows.
  var successor: String? {
    get {
      for field in foreignFields where UTF8Bytes.equal(field.name, Self.successorField) {
        if case .string(let name) = field.value { return name }
      }
      return nil
    }
    set {
      foreignFields =
        newValue.map { [RecordField(name: Self.successorField, value: .string($0))] } ?? []
    }
  }
}

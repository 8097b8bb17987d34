extension Record: Hashable, Codable, CodedValue {
  /// Tells whether two records have the same bytes.
  public static func == (lhs: Record, rhs: Record) -> Bool {
    let (left, right) = (lhs.storage, rhs.storage)
    if left === right { return true }
    return left.recordID == right.recordID
      && left.fields == right.fields
      && UTF8Bytes.equal(left.changeTag, right.changeTag)
      && UTF8Bytes.equal(left.recordType, right.recordType)
      && UTF8Bytes.equal(left.encryptedKeys, right.encryptedKeys)
      && left.parent == right.parent
      && left.share == right.share
      && left.creationDate == right.creationDate
      && left.modificationDate == right.modificationDate
  }

  /// Hashes the identity and the fields.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(storage.recordID)
    hasher.combine(storage.fields)
    if let changeTag = storage.changeTag {
      UTF8Bytes.with(changeTag) { hasher.combine(bytes: $0) }
    }
  }

  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.field("recordType", storage.recordType)
      $0.field("recordID", storage.recordID)
      $0.field("fields", storage.fields)
      $0.field("encryptedKeys", storage.encryptedKeys)
      $0.field("changeTag", storage.changeTag)
      $0.field("parent", storage.parent)
      $0.field("share", storage.share)
      $0.field("creationDate", storage.creationDate)
      $0.field("modificationDate", storage.modificationDate)
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    let storage = try reader.object { (reader) throws(CodedError) in
      let recordType: String = try reader.field("recordType")
      let recordID: RecordID = try reader.field("recordID")
      let fields: [RecordField] = try reader.field("fields")
      guard Storage.areSorted(fields) else { throw reader.failure("fields are not sorted") }
      let encryptedKeys: [String] = try reader.field("encryptedKeys")
      guard Storage.areSorted(encryptedKeys) else {
        throw reader.failure("encrypted keys are not sorted")
      }
      let storage = Storage(
        recordType: recordType,
        recordID: recordID,
        fields: fields,
        changeTag: try reader.field("changeTag")
      )
      storage.encryptedKeys = encryptedKeys
      storage.parent = try reader.field("parent")
      storage.share = try reader.field("share")
      storage.creationDate = try reader.field("creationDate")
      storage.modificationDate = try reader.field("modificationDate")
      return storage
    }
    self.init(storage: storage)
  }
}

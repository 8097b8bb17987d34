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
      storage.writeContents(to: &$0)
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    let storage = try reader.object { (reader) throws(CodedError) in
      let recordType: String = try reader.field("recordType")
      let recordID: RecordID = try reader.field("recordID")
      return try Storage(recordType: recordType, recordID: recordID, contentsFrom: &reader)
    }
    self.init(storage: storage)
  }
}

// The general ones cannot be specialized in other modules, and stores call these for every row.
extension Record {
  /// The record as the bytes that snapshots and journals hold.
  package var codedBytes: [UInt8] {
    var writer = BinaryWriter(reserving: 512)
    write(to: &writer)
    return writer.bytes
  }

  /// Reads a record from exactly these bytes.
  package init(codedBytes bytes: [UInt8]) throws(CodedError) {
    var reader = BinaryReader(bytes)
    try self.init(from: &reader)
    guard reader.isAtEnd else { throw reader.failure("bytes are left over") }
  }
}

extension Record.Storage {
  /// Writes everything but type and identity.
  package func writeContents<W: CodedWriter>(to writer: inout W) {
    if W.isCompact, let hidden = HiddenFields(fields, disclosed: { writer.disclosed($0, of: $1) }) {
      writer.field("hidden", hidden)
    } else {
      writer.field("fields", fields)
    }
    writer.field("encryptedKeys", encryptedKeys)
    writer.field("changeTag", changeTag)
    writer.field("parent", parent)
    writer.field("share", share)
    writer.field("creationDate", creationDate)
    writer.field("modificationDate", modificationDate)
  }

  /// Reads what ``writeContents(to:)`` wrote.
  package convenience init<R: CodedReader>(
    recordType: String,
    recordID: RecordID,
    contentsFrom reader: inout R
  ) throws(CodedError) {
    let hidden: HiddenFields? = R.isCompact ? try reader.field("hidden") : nil
    let fields: [RecordField] =
      if let hidden { hidden.fields } else { try reader.field("fields") }
    guard Self.areSorted(fields) else { throw reader.failure("fields are not sorted") }
    let encryptedKeys: [String] = try reader.field("encryptedKeys")
    guard Self.areSorted(encryptedKeys) else {
      throw reader.failure("encrypted keys are not sorted")
    }
    self.init(
      recordType: recordType,
      recordID: recordID,
      fields: fields,
      changeTag: try reader.field("changeTag")
    )
    self.encryptedKeys = encryptedKeys
    parent = try reader.field("parent")
    share = try reader.field("share")
    creationDate = try reader.field("creationDate")
    modificationDate = try reader.field("modificationDate")
  }
}

package import CloudSyncCore

/// Records as the API has them.
package enum WireRecord {
  /// Writes a record.
  ///
  /// - Parameters:
  ///   - record: The record.
  ///   - hasFields: Whether its fields are written: what was saved is known to who sent it.
  ///   - assets: What is said of an asset.
  ///   - writer: Where it is written.
  package static func write(
    _ record: Record,
    hasFields: Bool = true,
    with assets: (Asset) -> WireAsset = { WireAsset($0) },
    to writer: inout JSONWriter
  ) {
    writer.object { writer in
      writeHead(of: record, to: &writer)
      writeDate("created", record.creationDate, to: &writer)
      writeDate("modified", record.modificationDate, to: &writer)
      if hasFields { writeFields(of: record, with: { asset, _ in assets(asset) }, to: &writer) }
    }
  }

  /// Writes the edit of a record: without what only the service sets.
  ///
  /// - Parameters:
  ///   - record: The edit.
  ///   - assets: What is said of an asset in a field of that name.
  ///   - writer: Where it is written.
  static func write(
    edit record: Record,
    with assets: (Asset, _ field: String) -> WireAsset,
    to writer: inout JSONWriter
  ) {
    writer.object { writer in
      writeHead(of: record, to: &writer)
      writeFields(of: record, with: assets, to: &writer)
    }
  }

  private static func writeHead(of record: Record, to writer: inout JSONWriter) {
    writer.member("recordName", record.recordID.name)
    writer.member("recordType", record.recordType)
    writer.member("recordChangeTag", record.changeTag)
    if let parent = record.parent {
      writer.name("parent")
      writer.object { $0.member("recordName", parent.name) }
    }
    if let share = record.share {
      writer.name("share")
      writer.object { writer in
        writer.member("recordName", share.name)
        writer.name("zoneID")
        WireZone.write(share.zoneID, to: &writer)
      }
    }
  }

  private static func writeFields(
    of record: Record,
    with assets: (Asset, _ field: String) -> WireAsset,
    to writer: inout JSONWriter
  ) {
    writer.name("fields")
    writer.object { writer in
      for field in record.fields {
        writer.name(ofField: field.name)
        let isEncrypted = record.storage.isEncrypted(field.name)
        WireValue.write(
          field.value,
          isEncrypted: isEncrypted,
          with: { assets($0, field.name) },
          to: &writer
        )
      }
    }
  }

  private static func writeDate(
    _ name: StaticString,
    _ date: Timestamp?,
    to writer: inout JSONWriter
  ) {
    guard let date else { return }
    writer.name(name)
    writer.object { $0.member("timestamp", WireTime.milliseconds(date)) }
  }

  /// Writes that a record is gone.
  package static func writeDeletion(
    _ deleted: DeletedRecord,
    to writer: inout JSONWriter
  ) {
    writer.object { writer in
      writer.member("recordName", deleted.recordID.name)
      writer.name("recordType")
      if let type = deleted.recordType { writer.string(type) } else { writer.null() }
      writer.member("deleted", true)
    }
  }
}

/// One element of a list of records: a record, what is left of one, or why there is none.
package struct WireItem: Sendable {
  package var name: String?
  package var recordType: String?
  package var changeTag: String?
  package var isDeleted = false
  package var failure: WireFailure?
  package var creationDate: Timestamp?
  package var modificationDate: Timestamp?
  package var parent: String?
  package var share: RecordID?
  private var fields: [RecordField] = []
  private var encryptedKeys: [String] = []

  /// Reads an element.
  ///
  /// - Parameters:
  ///   - zoneID: The zone of the record.
  ///   - assets: Says where the file of an asset lies.
  ///   - reader: Stands before the element.
  /// - Throws: What is wrong with the bytes.
  package init(
    in zoneID: ZoneID,
    with assets: @escaping (WireAsset) -> Asset?,
    from reader: inout JSONReader
  ) throws(WireError) {
    var failure = WireFailure.Members()
    try reader.object { (reader, name) throws(WireError) in
      if try reader.isNull() { return }
      switch name {
      case "recordName": self.name = try reader.string()
      case "recordType": recordType = try reader.string()
      case "recordChangeTag": changeTag = try reader.string()
      case "deleted": isDeleted = try reader.bool()
      case "created": creationDate = try Self.date(from: &reader)
      case "modified": modificationDate = try Self.date(from: &reader)
      case "parent": parent = try Self.name(from: &reader)
      case "share": share = try Self.share(in: zoneID, from: &reader)
      case "fields": try readFields(in: zoneID, with: assets, from: &reader)
      default: try failure.take(name, in: zoneID, with: assets, from: &reader)
      }
    }
    self.failure = failure.failure
  }

  private mutating func readFields(
    in zoneID: ZoneID,
    with assets: @escaping (WireAsset) -> Asset?,
    from reader: inout JSONReader
  ) throws(WireError) {
    try reader.object { (reader, name) throws(WireError) in
      let field = try WireValue.field(in: zoneID, with: assets, from: &reader)
      // A type that a later version brings is nobody's to lose: it is not written back.
      guard let value = field.value else { return }
      fields.append(RecordField(name: name, value: value))
      if field.isEncrypted { encryptedKeys.append(name) }
    }
    for index in fields.indices.dropFirst()
    where UTF8Bytes.order(fields[index - 1].name, fields[index].name) >= 0 {
      return sortFields()
    }
  }

  /// Sorts the fields; of those that have one name, the last counts.
  private mutating func sortFields() {
    let order = fields.indices.sorted {
      let order = UTF8Bytes.order(fields[$0].name, fields[$1].name)
      return order < 0 || (order == 0 && $0 < $1)
    }
    var sorted: [RecordField] = []
    for index in order {
      if let last = sorted.last, UTF8Bytes.equal(last.name, fields[index].name) {
        sorted.removeLast()
      }
      sorted.append(fields[index])
    }
    fields = sorted
  }

  private static func date(from reader: inout JSONReader) throws(WireError) -> Timestamp? {
    var date: Timestamp?
    try reader.object { (reader, name) throws(WireError) in
      if name == "timestamp" { date = try reader.timestamp() } else { try reader.skipValue() }
    }
    return date
  }

  private static func name(from reader: inout JSONReader) throws(WireError) -> String? {
    var recordName: String?
    try reader.object { (reader, name) throws(WireError) in
      if name == "recordName" { recordName = try reader.string() } else { try reader.skipValue() }
    }
    return recordName
  }

  private static func share(
    in zoneID: ZoneID,
    from reader: inout JSONReader
  ) throws(WireError) -> RecordID? {
    var recordName: String?
    var zone = zoneID
    try reader.object { (reader, name) throws(WireError) in
      switch name {
      case "recordName": recordName = try reader.string()
      case "zoneID": zone = try WireZone.read(like: zoneID, from: &reader)
      default: try reader.skipValue()
      }
    }
    return recordName.map { RecordID(name: $0, zoneID: zone) }
  }

  /// The record; nil if the element is none, or has no type.
  package func record(in zoneID: ZoneID) -> Record? {
    guard failure == nil, !isDeleted, let name, let recordType else { return nil }
    var record = Record(
      recordType: recordType,
      recordID: RecordID(name: name, zoneID: zoneID),
      sortedFields: fields,
      changeTag: changeTag
    )
    if !encryptedKeys.isEmpty { record.encryptedKeys = encryptedKeys }
    if let parent { record.parent = RecordID(name: parent, zoneID: zoneID) }
    if let share { record.share = share }
    if let creationDate { record.creationDate = creationDate }
    if let modificationDate { record.modificationDate = modificationDate }
    return record
  }
}

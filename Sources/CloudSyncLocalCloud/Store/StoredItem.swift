public import CloudSyncCore

/// What a zone has under a name, and where it stands in the zone's feed.
public struct StoredItem: Sendable {
  /// A record, or what is left of one.
  public enum Content: Sendable {
    /// A record with its change tag and dates, whole.
    case record(Record)
    /// The record was deleted; its type is still known.
    case tombstone(RecordID, recordType: String)
  }

  /// The position in the feed, counted from 1.
  public let position: Int64
  /// The record, or what is left of it.
  public let content: Content

  /// Creates an item.
  public init(position: Int64, content: Content) {
    self.position = position
    self.content = content
  }

  /// The record, if it was not deleted.
  public var record: Record? { if case .record(let record) = content { record } else { nil } }

  /// The record's identity.
  public var recordID: RecordID {
    switch content {
    case .record(let record): record.recordID
    case .tombstone(let recordID, _): recordID
    }
  }
}

extension StoredItem {
  /// The content without the identity, as bytes to keep.
  public var bytes: [UInt8] {
    var writer = BinaryWriter()
    write(to: &writer)
    return writer.bytes
  }

  /// Reads what ``bytes`` gave.
  ///
  /// - Throws: A `damaged` error if the bytes are others.
  public init(
    position: Int64,
    recordID: RecordID,
    bytes: [UInt8]
  ) throws(LocalCloudStoreError) {
    do throws(CodedError) {
      var reader = BinaryReader(bytes)
      try self.init(position: position, recordID: recordID, from: &reader)
    } catch {
      throw LocalCloudStoreError(.damaged, "the record \(recordID) cannot be read: \(error)")
    }
  }

  func write(to writer: inout BinaryWriter) {
    switch content {
    case .tombstone(_, let recordType):
      writer.write(false)
      writer.write(recordType)
    case .record(let record):
      writer.write(true)
      writer.write(record.storage.recordType)
      record.storage.writeContents(to: &writer)
    }
  }

  private init(
    position: Int64,
    recordID: RecordID,
    from reader: inout BinaryReader
  ) throws(CodedError) {
    let isRecord = try reader.readBool()
    let recordType = try reader.readString()
    guard isRecord else {
      self.init(position: position, content: .tombstone(recordID, recordType: recordType))
      return
    }
    let storage = try Record.Storage(
      recordType: recordType,
      recordID: recordID,
      contentsFrom: &reader
    )
    guard reader.isAtEnd else { throw reader.failure("there is more than a record") }
    self.init(position: position, content: .record(Record(storage: storage)))
  }
}

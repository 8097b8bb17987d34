/// How much one request may hold.
public struct RequestLimits: Sendable {
  /// Saves and deletions together, at least 1.
  public var items: Int
  /// Bytes of the records without their assets, by ``Record/byteCount``; at least 1.
  public var bytes: Int

  /// Creates limits; by default CloudKit's: 400 items and 2 MB (CKError.h at `limitExceeded`).
  public init(items: Int = 400, bytes: Int = 2_000_000) {
    self.items = max(1, items)
    self.bytes = max(1, bytes)
  }
}

extension RequestLimits: CodedValue {
  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.field("items", items)
      $0.field("bytes", bytes)
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    items = max(1, try reader.field("items") as Int)
    bytes = max(1, try reader.field("bytes") as Int)
    try reader.endObject()
  }
}

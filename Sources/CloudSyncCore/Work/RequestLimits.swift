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

  /// The limits, so that one item fits: a request of nothing would be made for ever.
  var holdingOne: RequestLimits { RequestLimits(items: items, bytes: bytes) }
}

extension RequestLimits: CodedStruct {
  package init<C: FieldCoder<Self>>(fields coder: inout C) throws(C.Failure) {
    items = max(1, try coder.field("items") { $0.items })
    bytes = max(1, try coder.field("bytes") { $0.bytes })
  }
}

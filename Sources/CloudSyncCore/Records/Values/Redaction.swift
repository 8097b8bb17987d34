/// What stands in an event log for a value that must not be read there.
///
/// Within one log equal values have equal redactions and different ones different redactions.
public struct Redaction: Hashable, Codable, Sendable, CodedValue {
  /// The kind of the value, as `FieldValue.kind` names it.
  public var kind: String
  /// What the value counted for limits.
  public var byteCount: Int
  /// A keyed digest of the value.
  public var digest: String

  /// Creates a redaction.
  public init(kind: String, byteCount: Int, digest: String) {
    self.kind = kind
    self.byteCount = byteCount
    self.digest = digest
  }

  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.field("kind", kind)
      $0.field("byteCount", byteCount)
      $0.field("digest", digest)
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    self = try reader.object { (reader) throws(CodedError) in
      let kind: String = try reader.field("kind")
      let byteCount = try reader.amount("byteCount")
      guard byteCount >= 0 else { throw reader.failure("a length is not negative") }
      return Redaction(kind: kind, byteCount: byteCount, digest: try reader.field("digest"))
    }
  }
}

extension FieldValue: RedactableValue {
  package var skeleton: FieldValue {
    // Of what is hidden already, kind and size are left.
    let redaction = redactedValue
    return .redacted(
      Redaction(
        kind: redaction?.kind ?? kind,
        byteCount: redaction?.byteCount ?? byteCount,
        digest: ""
      )
    )
  }
}

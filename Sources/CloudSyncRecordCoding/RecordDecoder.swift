public import CloudSyncCore

/// Turns records into models that are `Decodable`: the mirror image of ``RecordEncoder``.
///
/// Only fields are read; the record's identity, tag and dates stay with the record. A field that
/// is absent or `FieldValue.null` is nil to an optional. A whole number is read as a `Double`
/// or `Float` where it is exact; nothing else is converted, and no number is cut to fit.
///
/// What a ``RecordEncoder`` wrote under the same ``keyEncoding`` is read back equal, within the
/// limits that are told there for dates. A `Float` reads a double of higher precision rounded.
public struct RecordDecoder: Sendable {
  /// How coding keys become the names of fields; the same as the encoder's.
  public var keyEncoding: RecordEncoder.KeyEncoding
  /// How many lists and structures may lie inside each other in the JSON of one field.
  public var maximumNesting: Int
  /// What models can read while they decode themselves.
  public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

  /// Creates a decoder.
  ///
  /// - Precondition: `maximumNesting` is not negative.
  public init(
    keyEncoding: RecordEncoder.KeyEncoding = .useDefaultKeys,
    maximumNesting: Int = 32
  ) {
    precondition(maximumNesting >= 0, "Give a RecordDecoder a nesting that is not negative.")
    self.keyEncoding = keyEncoding
    self.maximumNesting = maximumNesting
  }

  /// Makes a model of a record.
  ///
  /// - Throws: `DecodingError` with the path of the value: `keyNotFound` where a field is absent
  ///   or null, `typeMismatch` where it is of another kind, `dataCorrupted` where its content
  ///   does not fit; what the model itself throws.
  public func decode<T: Decodable>(_ type: T.Type, from record: Record) throws -> T {
    try T(from: NodeDecoder(node: .record(record), codingPath: [], options: self))
  }
}

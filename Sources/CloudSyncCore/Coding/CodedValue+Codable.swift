extension CodedValue {
  /// The value as the bytes that snapshots and journals hold.
  package var codedBytes: [UInt8] {
    var writer = BinaryWriter()
    write(to: &writer)
    return writer.bytes
  }

  /// Reads a value from exactly these bytes.
  package init(codedBytes bytes: [UInt8]) throws(CodedError) {
    var reader = BinaryReader(bytes)
    try self.init(from: &reader)
    guard reader.isAtEnd else { throw reader.failure("bytes are left over") }
  }

  /// Encodes the value field by field, with names.
  public func encode(to encoder: any Encoder) throws {
    var writer = TreeWriter()
    write(to: &writer)
    try writer.tree.encode(to: encoder)
  }

  /// Decodes a value, or throws an error that names the field that is wrong.
  public init(from decoder: any Decoder) throws {
    var reader = TreeReader(try CodedTree(from: decoder))
    do {
      try self.init(from: &reader)
    } catch {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(
          codingPath: decoder.codingPath,
          debugDescription: "\(Self.self): \(error)"
        )
      )
    }
  }

  /// Tells whether two values have the same bytes.
  public static func == (lhs: Self, rhs: Self) -> Bool { lhs.codedBytes == rhs.codedBytes }

  /// Hashes the value's bytes.
  public func hash(into hasher: inout Hasher) { hasher.combine(codedBytes) }
}

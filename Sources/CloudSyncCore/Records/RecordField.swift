/// A field of a record: a name and a value.
public struct RecordField: Hashable, Codable, Sendable, CodedValue {
  /// The field's name: an ASCII letter, then letters, digits and underscores.
  public let name: String
  /// The field's value.
  public var value: FieldValue

  /// Creates a field.
  public init(name: String, value: FieldValue) {
    self.name = name
    self.value = value
  }

  /// What the field counts for the limits: its name and its value.
  package var byteCount: Int { name.utf8.count + value.byteCount }

  /// Tells whether two fields have the same bytes.
  public static func == (lhs: RecordField, rhs: RecordField) -> Bool {
    UTF8Bytes.equal(lhs.name, rhs.name) && lhs.value == rhs.value
  }

  /// Hashes the bytes.
  public func hash(into hasher: inout Hasher) {
    UTF8Bytes.with(name) { hasher.combine(bytes: $0) }
    hasher.combine(value)
  }

  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.field("name", name)
      $0.field("value", $0.disclosed(value, of: name))
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    self = try reader.object { (reader) throws(CodedError) in
      RecordField(name: try reader.field("name"), value: try reader.field("value"))
    }
  }
}

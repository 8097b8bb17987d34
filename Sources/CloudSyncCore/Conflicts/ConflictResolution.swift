/// What is to be done about a conflict.
public enum ConflictResolution: Hashable, Codable, Sendable, CodedValue {
  /// Save this edit of the cloud's present version.
  ///
  /// A whole record will do as well: fields that are the cloud's already are not sent, and if
  /// nothing is left the edit counts as saved without a request.
  case save(Record)
  /// Park the edit: the state shows it until the app retries or drops it.
  case park
  /// Park the edit until the app submits an edit of its own for the record.
  case later
  /// Stop the session and keep all its work.
  case halt

  private static let names: [StaticString] = ["save", "park", "later", "halt"]

  package func write<W: CodedWriter>(to writer: inout W) {
    writer.beginObject()
    writer.key("kind")
    switch self {
    case .save(let record):
      writer.tag(0, of: Self.names)
      writer.field("record", record)
    case .park: writer.tag(1, of: Self.names)
    case .later: writer.tag(2, of: Self.names)
    case .halt: writer.tag(3, of: Self.names)
    }
    writer.endObject()
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    try reader.key("kind")
    switch try reader.tag(of: Self.names) {
    case 0: self = .save(try reader.field("record"))
    case 1: self = .park
    case 2: self = .later
    default: self = .halt
    }
    try reader.endObject()
  }
}

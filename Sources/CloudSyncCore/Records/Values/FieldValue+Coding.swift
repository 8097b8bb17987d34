extension FieldValue {
  package func write<W: CodedWriter>(to writer: inout W) {
    writer.beginObject()
    writer.key("kind")
    writer.tag(kindIndex, of: Self.kinds)
    switch self {
    case .null: break
    case .string(let value): writer.field("value", value)
    case .int64(let value): writer.field("value", value)
    case .double(let value): writer.field("value", value)
    case .timestamp(let value): writer.field("value", value)
    case .data(let value): writer.field("value", value)
    case .reference(let value): writer.field("value", value)
    case .asset(let value): writer.field("value", value)
    case .location(let value): writer.field("value", value)
    case .list(let values): writer.field("value", values)
    case .redacted(let value): writer.field("value", value)
    }
    writer.endObject()
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    try reader.key("kind")
    let kind = try reader.tag(of: Self.kinds)
    self = try Self.payload(of: kind, from: &reader)
    try reader.endObject()
  }

  private static func payload<R: CodedReader>(
    of kind: Int,
    from reader: inout R
  ) throws(CodedError) -> FieldValue {
    switch kind {
    case 0: .null
    case 1: .string(try reader.field("value"))
    case 2: .int64(try reader.field("value"))
    case 3: .double(try reader.field("value"))
    case 4: .timestamp(try reader.field("value"))
    case 5: .data(try reader.field("value"))
    case 6: .reference(try reader.field("value"))
    case 7: .asset(try reader.field("value"))
    case 8: .location(try reader.field("value"))
    case 9: .list(try reader.field("value"))
    default: .redacted(try reader.field("value"))
    }
  }
}

extension FieldValue: CustomStringConvertible, CustomDebugStringConvertible {
  /// The value for people: text and numbers as they are, `NULL` for none, and the length of bytes and files.
  public var description: String {
    switch self {
    case .null: "NULL"
    case .string(let text): text
    case .int64(let number): "\(number)"
    case .double(let number): "\(number)"
    case .timestamp(let time): "\(time.date)"
    case .data(let data): Self.size(of: Int64(data.count))
    case .reference(let reference): "\(reference.recordID)"
    case .asset(let asset): Self.size(of: asset.byteCount)
    case .location(let place): "\(place.latitude), \(place.longitude)"
    case .list(let values): "\(values)"
    case .redacted: "(redacted)"
    }
  }

  private static func size(of count: Int64) -> String {
    "(\(count) \(count == 1 ? "byte" : "bytes"))"
  }

  /// The value as ``description`` has it, text in quotes: so it is told from a number in a printed array.
  public var debugDescription: String {
    if case .string(let text) = self { text.debugDescription } else { description }
  }
}

extension FieldValue {
  /// Tells whether two values are of the same kind and have the same bytes.
  public static func == (lhs: FieldValue, rhs: FieldValue) -> Bool {
    switch (lhs, rhs) {
    case (.null, .null): true
    case (.string(let lhs), .string(let rhs)): UTF8Bytes.equal(lhs, rhs)
    case (.int64(let lhs), .int64(let rhs)): lhs == rhs
    case (.double(let lhs), .double(let rhs)): lhs.bitPattern == rhs.bitPattern
    case (.timestamp(let lhs), .timestamp(let rhs)): lhs == rhs
    case (.data(let lhs), .data(let rhs)): lhs == rhs
    case (.reference(let lhs), .reference(let rhs)): lhs == rhs
    case (.asset(let lhs), .asset(let rhs)): lhs == rhs
    case (.location(let lhs), .location(let rhs)): lhs == rhs
    case (.list(let lhs), .list(let rhs)): areEqual(lhs, rhs)
    case (.redacted(let lhs), .redacted(let rhs)): lhs == rhs
    default: false
    }
  }

  /// Tells whether two values say the same: as `==`, but that the files of assets may lie anywhere.
  package func hasSameContent(as other: FieldValue) -> Bool {
    switch (self, other) {
    case (.asset(let lhs), .asset(let rhs)):
      lhs.byteCount == rhs.byteCount && lhs.sha256 == rhs.sha256
    case (.list(let lhs), .list(let rhs)):
      lhs.count == rhs.count && lhs.indices.allSatisfy { lhs[$0].hasSameContent(as: rhs[$0]) }
    default: self == other
    }
  }

  private static func areEqual(_ lhs: [FieldValue], _ rhs: [FieldValue]) -> Bool {
    guard lhs.count == rhs.count else { return false }
    for index in lhs.indices where lhs[index] != rhs[index] { return false }
    return true
  }

  /// Hashes the kind and the bytes.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(kindIndex)
    switch self {
    case .null: break
    case .string(let value): UTF8Bytes.with(value) { hasher.combine(bytes: $0) }
    case .int64(let value): hasher.combine(value)
    case .double(let value): hasher.combine(value.bitPattern)
    case .timestamp(let value): hasher.combine(value)
    case .data(let value): hasher.combine(value)
    case .reference(let value): hasher.combine(value)
    case .asset(let value): hasher.combine(value)
    case .location(let value): hasher.combine(value)
    case .list(let values):
      hasher.combine(values.count)
      for value in values { value.hash(into: &hasher) }
    case .redacted(let value): hasher.combine(value)
    }
  }
}

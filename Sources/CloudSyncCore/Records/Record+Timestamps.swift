extension Record {
  /// The record with its timestamps as coarse as those of a cloud, each rounded down.
  package func roundingTimestamps(to unit: Int64) -> Record {
    var record = self
    for field in fields {
      if let value = field.value.roundingTimestamps(to: unit) { record[field.name] = value }
    }
    return record
  }
}

extension FieldValue {
  /// The value with its timestamps rounded down; nil if that is no change.
  fileprivate func roundingTimestamps(to unit: Int64) -> FieldValue? {
    switch self {
    case .timestamp(let timestamp):
      let rounded = timestamp.rounded(toMultipleOf: unit)
      return rounded == timestamp ? nil : .timestamp(rounded)
    case .location(var location):
      let rounded = location.timestamp?.rounded(toMultipleOf: unit)
      guard rounded != location.timestamp else { return nil }
      location.timestamp = rounded
      return .location(location)
    case .list(let values):
      let rounded = values.map { $0.roundingTimestamps(to: unit) }
      guard rounded.contains(where: { $0 != nil }) else { return nil }
      return .list(zip(values, rounded).map { $1 ?? $0 })
    default: return nil
    }
  }
}

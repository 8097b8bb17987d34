extension FieldValue {
  /// The value with its assets replaced; nil if it has none.
  fileprivate func replacingAssets(_ replace: (Asset) -> Asset) -> FieldValue? {
    switch self {
    case .asset(let asset): return .asset(replace(asset))
    case .list(let values):
      let replaced = values.map { $0.replacingAssets(replace) }
      guard replaced.contains(where: { $0 != nil }) else { return nil }
      return .list(zip(values, replaced).map { $1 ?? $0 })
    default: return nil
    }
  }
}

extension Record {
  /// The record with its assets replaced.
  package func replacingAssets(_ replace: (Asset) -> Asset) -> Record {
    var record = self
    for field in fields {
      if let value = field.value.replacingAssets(replace) { record[field.name] = value }
    }
    return record
  }
}

package import CloudSyncCore

extension MergePolicy {
  /// The merged value of a column that both sides have changed.
  package func merge(_ conflict: ColumnConflict) -> FieldValue {
    let fitting: FieldValue? =
      switch kind {
      case .newest: nil
      case .client: conflict.local
      case .server: conflict.server
      case .maximum: Self.maximum(local: conflict.local, server: conflict.server)
      case .counter:
        Self.sum(
          local: conflict.local,
          server: conflict.server,
          ancestor: conflict.ancestor ?? .null
        )
      case .setUnion:
        Self.union(
          local: conflict.local,
          server: conflict.server,
          ancestor: conflict.ancestor ?? .null
        )
      case .custom(let merge): Self.storable(merge(conflict))
      }
    return fitting ?? conflict.newest
  }

  /// Whether it adds up what both sides have added.
  package var isSum: Bool { if case .counter = kind { true } else { false } }

  /// Whether the merged value has what both sides have set, so that nothing is lost.
  package func keepsBoth(of conflict: ColumnConflict) -> Bool {
    let (local, server) = (conflict.local, conflict.server)
    return switch kind {
    case .counter:
      Self.sum(local: local, server: server, ancestor: conflict.ancestor ?? .null) != nil
    case .setUnion: Self.set(local) != nil && Self.set(server) != nil
    case .newest, .client, .server, .maximum, .custom: false
    }
  }

  private static func storable(_ value: FieldValue) -> FieldValue? {
    ValueCodec.decode(value) == nil ? nil : value
  }

  private static func maximum(local: FieldValue, server: FieldValue) -> FieldValue? {
    guard let order = ValueContent.order(local, server) else { return nil }
    if order != 0 { return order > 0 ? local : server }
    // 1 and 1.0: equal in order, and every device must choose the same.
    return ValueContent.precedes(server, local) ? local : server
  }

  private static func sum(
    local: FieldValue,
    server: FieldValue,
    ancestor: FieldValue
  ) -> FieldValue? {
    if let mine = whole(local), let theirs = whole(server), let base = whole(ancestor) {
      return .int64(sum(theirs, plus: mine, minus: base))
    }
    guard let mine = real(local), let theirs = real(server), let base = real(ancestor) else {
      return nil
    }
    let result = theirs + (mine - base)
    return result.isNaN ? nil : .double(result)
  }

  private static func whole(_ value: FieldValue) -> Int64? {
    value.isNull ? 0 : value.int64Value
  }

  private static func real(_ value: FieldValue) -> Double? {
    whole(value).map { Double($0) } ?? value.doubleValue
  }

  /// The exact sum and difference, brought into range at the end only.
  private static func sum(_ first: Int64, plus second: Int64, minus third: Int64) -> Int64 {
    let (change, changeIsOut) = second.subtractingReportingOverflow(third)
    let (result, resultIsOut) = first.addingReportingOverflow(change)
    // Each overflow is off by 2⁶⁴ one way or the other; two of them may cancel out.
    var turns = 0
    if changeIsOut { turns += third < 0 ? 1 : -1 }
    if resultIsOut { turns += change > 0 ? 1 : -1 }
    return turns == 0 ? result : turns > 0 ? .max : .min
  }

  private static func union(
    local: FieldValue,
    server: FieldValue,
    ancestor: FieldValue
  ) -> FieldValue? {
    guard let mine = set(local), let theirs = set(server) else { return nil }
    // What is no set has no elements that could have been removed.
    let base = set(ancestor) ?? .empty
    return .string(theirs.merging(mine, from: base).json)
  }

  private static func set(_ value: FieldValue) -> ScalarSet? {
    switch value {
    case .null: .empty
    case .string(let text): ScalarSet(json: text)
    default: nil
    }
  }
}

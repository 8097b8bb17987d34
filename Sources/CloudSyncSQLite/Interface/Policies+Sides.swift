package import CloudSyncCore

extension MergePolicy {
  /// Whether it takes the value of a side for being that side, which a merge of equals has not.
  package var isOneSided: Bool {
    switch kind {
    case .client, .server: true
    case .newest, .maximum, .counter, .setUnion, .custom: false
    }
  }
}

extension UniqueKeyPolicy {
  /// Whether two rows become one.
  package var isMerge: Bool { if case .merge = kind { true } else { false } }
}

extension UniqueKeyPolicy {
  /// What the app's closure says of a conflict; nil if it has none, or no answer.
  package func renamed(_ conflict: UniqueKeyConflict) -> [FieldValue]? {
    if case .rename(let rename) = kind { rename(conflict) } else { nil }
  }
}

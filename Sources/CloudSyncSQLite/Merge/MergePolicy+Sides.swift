extension MergePolicy {
  /// Whether it takes the value of a side for being that side, which a merge of equals has not.
  package var isOneSided: Bool {
    switch kind {
    case .client, .server: true
    case .newest, .maximum, .counter, .setUnion, .custom: false
    }
  }
}

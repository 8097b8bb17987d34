import CloudSyncCore

extension LoadedRow {
  /// Whether it waits for a row that it refers to.
  var waitsForParent: Bool {
    if case .awaitsParent = state.placement { true } else { false }
  }

  /// Whether it is to have other values than the table has of it.
  var isStale: Bool {
    switch state.placement {
    case .inTable: needsWrite
    case .awaitsParent: true
    case .violates, .heldBy: state.placement.isOfUniqueKey
    case .deletionDeferred: false
    }
  }
}

import CloudSyncLocalCloud

/// Why PostgreSQL did not do what it was asked for.
enum PostgresFailure: Error, Sendable {
  /// There is no connection, and none can be made.
  case cannotConnect(String)
  /// The connection is gone, or nothing came for too long.
  case lost(String)
  /// The server refused a statement, with a state of five characters.
  case refused(state: String, message: String)

  /// Whether the same transaction may pass when it runs again: others were in its way.
  var isCollision: Bool {
    if case .refused(let state, _) = self { ["40001", "40P01"].contains(state) } else { false }
  }

  /// Whether the connection is to blame, and another one may do.
  var isLoss: Bool { if case .lost = self { true } else { false } }

  /// What it means for a store, for its owner's eyes: requests do not repeat the text.
  var storeError: LocalCloudStoreError {
    switch self {
    case .cannotConnect(let message):
      LocalCloudStoreError(
        .cannotAccess,
        "PostgreSQL cannot be reached (\(message)); see that it runs and that the connection string is right"
      )
    case .lost(let message):
      LocalCloudStoreError(
        .cannotAccess,
        "the connection to PostgreSQL was lost (\(message)); it is made again by the next request"
      )
    case .refused(let state, let message):
      LocalCloudStoreError(Self.code(state: state), "\(message) (PostgreSQL \(state))")
    }
  }

  private static func code(state: String) -> LocalCloudStoreError.Code {
    switch state {
    // Locks and statements that took too long, and transactions that were in each other's way.
    case "55P03", "57014", "40001", "40P01": .busy
    case "53100": .full
    // What the store writes fits its tables, unless they are no longer what they were.
    case "XX001", "XX002": .damaged
    case _ where state.hasPrefix("22") || state.hasPrefix("23"): .damaged
    case _ where state.hasPrefix("54"): .limitReached
    default: .cannotAccess
    }
  }
}

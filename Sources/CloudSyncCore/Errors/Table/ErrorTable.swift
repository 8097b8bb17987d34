/// What a session does about every error, for every kind of work: one table that drives the code.
///
/// The rows follow CloudKit's documentation of its codes (CKError.h, TN3162) and the audited
/// behaviour of earlier clients. No row drops work, and every row that repeats has a wait or a
/// budget.
public enum ErrorTable {
  /// Where an error was found.
  public enum Place: String, Sendable, Hashable, CaseIterable {
    /// It is the response to the whole request.
    case request
    /// It belongs to one item inside a partial failure.
    case item
  }

  /// Says what happens.
  ///
  /// - Parameters:
  ///   - code: The error's code; any number is accepted.
  ///   - kind: The kind of work that failed.
  ///   - place: Whether the whole request or one item of it has the error.
  /// - Returns: The table's entry; there is one for every combination.
  public static func disposition(
    of code: SyncError.Code,
    for kind: OperationMode,
    in place: Place
  ) -> ErrorDisposition {
    if let common = commonDisposition(of: code, for: kind, in: place) { return common }
    switch kind {
    case .modify: return modifyDisposition(of: code, in: place)
    case .fetch: return code == .changeTokenExpired ? .startOver : .failFetch
    case .createSubscription: return .giveUpSubscription
    case .createZone: return .halt
    }
  }

  /// The rows that read the same, or nearly so, for all kinds of work.
  private static func commonDisposition(
    of code: SyncError.Code,
    for kind: OperationMode,
    in place: Place
  ) -> ErrorDisposition? {
    switch code {
    case .networkUnavailable, .networkFailure: return .retryNetwork
    case .serviceUnavailable, .requestRateLimited, .zoneBusy: return .retryService
    case .operationCancelled, .assetFileModified: return .retryTransient
    case .serverResponseLost, .timedOut:
      if kind == .modify { return place == .request ? .resendUnchanged : .retryTransient }
      return .retryNetwork
    case .notAuthenticated, .accountTemporarilyUnavailable: return .waitForAccount
    case .zoneNotFound: return .createZone
    case .userDeletedZone: return .askAboutZone
    case .partialFailure: return place == .request ? .unwrap : nil
    case .internalError, .badContainer, .missingEntitlement, .incompatibleVersion, .badDatabase,
      .managedAccountRestricted:
      return kind == .modify && place == .item ? .park : .halt
    default:
      guard code.isUnknown || code.isSessionCode else { return nil }
      return kind == .modify && place == .item ? .park : .halt
    }
  }

  private static func modifyDisposition(
    of code: SyncError.Code,
    in place: Place
  ) -> ErrorDisposition {
    switch (code, place) {
    case (.limitExceeded, _): .split
    case (.quotaExceeded, _): .waitForQuota
    case (.serverRecordChanged, .item): .resolveConflict
    case (.unknownItem, .item): .recordMissing
    case (.batchRequestFailed, .item): .stay
    case (_, .item): .park
    case (_, .request): .isolate
    }
  }
}

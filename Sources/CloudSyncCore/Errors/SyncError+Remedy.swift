extension SyncError {
  /// Who can do something about an error.
  public enum Remedy: String, Sendable, Hashable, CaseIterable {
    /// It passes by itself; the session tries again.
    case wait
    /// The user can: sign in, free storage, update the app, decide about a zone or a conflict.
    case userCan
    /// The app's developer must: the request, the record or the configuration is wrong.
    case developerMust
  }

  /// Who can do something about this error.
  public var remedy: Remedy {
    switch code {
    case .networkUnavailable, .networkFailure, .serviceUnavailable, .requestRateLimited, .zoneBusy,
      .serverResponseLost, .operationCancelled, .assetFileModified, .changeTokenExpired,
      .batchRequestFailed, .accountTemporarilyUnavailable, .timedOut, .serverRecordChanged,
      .limitExceeded, .zoneNotFound, .partialFailure, .stopped, .reset, .cancelled,
      .sessionReleased, .outcomeUnknown, .awaitsAppEdit, .referenceViolation, .conflictBudgetSpent:
      .wait
    case .notAuthenticated, .quotaExceeded, .userDeletedZone, .incompatibleVersion,
      .managedAccountRestricted, .participantMayNeedVerification, .tooManyParticipants,
      .alreadyShared, .participantAlreadyInvited, .accountSwitched, .zoneAbandoned,
      .conflictUnresolved, .parkedByResolver, .assetNotAvailable, .permissionFailure,
      .droppedByApp:
      .userCan
    default:
      .developerMust
    }
  }

  /// Whether what was wrong with a single record is not the record's fault: out of its budget it is
  /// parked, and tried again by itself.
  package var mayPass: Bool {
    switch code {
    case .networkUnavailable, .networkFailure, .serviceUnavailable, .requestRateLimited, .zoneBusy,
      .serverResponseLost, .timedOut:
      true
    default: false
    }
  }
}

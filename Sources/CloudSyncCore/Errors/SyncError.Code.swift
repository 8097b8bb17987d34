extension SyncError {
  /// What kind of failure an error is.
  ///
  /// The codes 1 to 37 are CloudKit's, with CloudKit's raw values. Codes from 1,001 on are the
  /// session's own endings; a cloud never answers them. Any other number is unknown: the session
  /// keeps the work and halts. New codes come in minor releases, so switch with a `default`.
  public struct Code: RawRepresentable, Sendable, Hashable, Comparable {
    /// CloudKit's number, or the session's own.
    public let rawValue: Int

    /// Creates a code from its number; every number is a code.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// A code that this version does not know.
    public static func unknown(_ rawValue: Int) -> Code { Code(rawValue: rawValue) }

    /// Whether the code is one of CloudKit's 37.
    public var isCloudCode: Bool { (1...Self.cloudNames.count).contains(rawValue) }

    /// Whether the session itself ended the work.
    public var isSessionCode: Bool { Self.sessionNames.contains { $0.code == self } }

    /// Whether neither CloudKit's list nor the session's has the code.
    public var isUnknown: Bool { !isCloudCode && !isSessionCode }

    /// Orders codes by number.
    public static func < (lhs: Code, rhs: Code) -> Bool { lhs.rawValue < rhs.rawValue }

    /// The 37 codes of CloudKit in the order of their numbers.
    public static var cloudCodes: [Code] { (1...cloudNames.count).map(Code.init(rawValue:)) }
  }
}

extension SyncError.Code {
  // CloudKit's codes: CKError.h of the macOS 26 SDK.

  /// The cloud failed in a way that cannot be repaired.
  public static let internalError = Self(rawValue: 1)
  /// Some items failed; each has an error of its own.
  public static let partialFailure = Self(rawValue: 2)
  /// There is no network.
  public static let networkUnavailable = Self(rawValue: 3)
  /// There is a network, but the cloud cannot be reached.
  public static let networkFailure = Self(rawValue: 4)
  /// The container is unknown or not permitted.
  public static let badContainer = Self(rawValue: 5)
  /// The cloud refuses work for now.
  public static let serviceUnavailable = Self(rawValue: 6)
  /// The device is asked to slow down.
  public static let requestRateLimited = Self(rawValue: 7)
  /// The app lacks an entitlement.
  public static let missingEntitlement = Self(rawValue: 8)
  /// Nobody is signed in.
  public static let notAuthenticated = Self(rawValue: 9)
  /// The user may not do this.
  public static let permissionFailure = Self(rawValue: 10)
  /// The record does not exist.
  public static let unknownItem = Self(rawValue: 11)
  /// The request is malformed.
  public static let invalidArguments = Self(rawValue: 12)
  /// A query was cut short; no longer answered.
  public static let resultsTruncated = Self(rawValue: 13)
  /// The record was changed by somebody else.
  public static let serverRecordChanged = Self(rawValue: 14)
  /// The cloud refuses the request for good.
  public static let serverRejectedRequest = Self(rawValue: 15)
  /// The file of an asset is missing.
  public static let assetFileNotFound = Self(rawValue: 16)
  /// The file of an asset changed while it was saved.
  public static let assetFileModified = Self(rawValue: 17)
  /// The app is older than the cloud allows.
  public static let incompatibleVersion = Self(rawValue: 18)
  /// A unique field has this value already.
  public static let constraintViolation = Self(rawValue: 19)
  /// The operation was cancelled.
  public static let operationCancelled = Self(rawValue: 20)
  /// The change token is too old.
  public static let changeTokenExpired = Self(rawValue: 21)
  /// Another item of an atomic batch failed.
  public static let batchRequestFailed = Self(rawValue: 22)
  /// The zone is too busy.
  public static let zoneBusy = Self(rawValue: 23)
  /// The operation does not fit the database.
  public static let badDatabase = Self(rawValue: 24)
  /// The storage is full.
  public static let quotaExceeded = Self(rawValue: 25)
  /// The zone does not exist.
  public static let zoneNotFound = Self(rawValue: 26)
  /// The request is too large.
  public static let limitExceeded = Self(rawValue: 27)
  /// The user deleted the zone's data in the settings.
  public static let userDeletedZone = Self(rawValue: 28)
  /// A share has too many participants.
  public static let tooManyParticipants = Self(rawValue: 29)
  /// The record is in a share already.
  public static let alreadyShared = Self(rawValue: 30)
  /// The target of a reference is missing.
  public static let referenceViolation = Self(rawValue: 31)
  /// The account is managed and restricted.
  public static let managedAccountRestricted = Self(rawValue: 32)
  /// The participant has to verify the identity.
  public static let participantMayNeedVerification = Self(rawValue: 33)
  /// The response was lost; the request may have been carried out.
  public static let serverResponseLost = Self(rawValue: 34)
  /// The asset cannot be read.
  public static let assetNotAvailable = Self(rawValue: 35)
  /// The account is signed in but not ready.
  public static let accountTemporarilyUnavailable = Self(rawValue: 36)
  /// The participant has been invited already.
  public static let participantAlreadyInvited = Self(rawValue: 37)

  // The session's own endings.

  /// The work was given up by `reset()`.
  public static let reset = Self(rawValue: 1001)
  /// The work was given up by `cancel(_:)`.
  public static let cancelled = Self(rawValue: 1002)
  /// The work was given up because another account signed in.
  public static let accountSwitched = Self(rawValue: 1003)
  /// The session was stopped by `stop()`.
  public static let stopped = Self(rawValue: 1004)
  /// The work was given up with its zone.
  public static let zoneAbandoned = Self(rawValue: 1005)
  /// The conflict resolver asked to halt.
  public static let conflictUnresolved = Self(rawValue: 1006)
  /// The record conflicted too often in a row.
  public static let conflictBudgetSpent = Self(rawValue: 1007)
  /// The conflict resolver parked the record.
  public static let parkedByResolver = Self(rawValue: 1008)
  /// The record waits for the app's own merged edit.
  public static let awaitsAppEdit = Self(rawValue: 1009)
  /// Too many records in a row were refused.
  public static let tooManyParked = Self(rawValue: 1010)
  /// The cloud's change token does not advance although more is said to come.
  public static let tokenStuck = Self(rawValue: 1011)
  /// A fetch ran over its budget of pages.
  public static let tooManyPages = Self(rawValue: 1012)
  /// The zone was created repeatedly and is still said to be missing.
  public static let zoneBudgetSpent = Self(rawValue: 1013)
  /// The handler did not answer before the deadline.
  public static let timedOut = Self(rawValue: 1014)
  /// The handler's response does not fit the request.
  public static let invalidResponse = Self(rawValue: 1015)
  /// A record from the cloud breaks a rule.
  public static let invalidRecord = Self(rawValue: 1016)
  /// The session was released while the work was waiting.
  public static let sessionReleased = Self(rawValue: 1017)
  /// A record was dropped by the app.
  public static let droppedByApp = Self(rawValue: 1018)

  /// The work was given up after its response had been lost, or its change had been merged with another one: it may be done.
  public static let outcomeUnknown = Self(rawValue: 1019)

  static let cloudNames: [String] = [
    "internalError", "partialFailure", "networkUnavailable", "networkFailure", "badContainer",
    "serviceUnavailable", "requestRateLimited", "missingEntitlement", "notAuthenticated",
    "permissionFailure", "unknownItem", "invalidArguments", "resultsTruncated",
    "serverRecordChanged", "serverRejectedRequest", "assetFileNotFound", "assetFileModified",
    "incompatibleVersion", "constraintViolation", "operationCancelled", "changeTokenExpired",
    "batchRequestFailed", "zoneBusy", "badDatabase", "quotaExceeded", "zoneNotFound",
    "limitExceeded", "userDeletedZone", "tooManyParticipants", "alreadyShared",
    "referenceViolation", "managedAccountRestricted", "participantMayNeedVerification",
    "serverResponseLost", "assetNotAvailable", "accountTemporarilyUnavailable",
    "participantAlreadyInvited",
  ]

  static let sessionNames: [(code: Self, name: String)] = [
    (.reset, "reset"), (.cancelled, "cancelled"), (.accountSwitched, "accountSwitched"),
    (.stopped, "stopped"), (.zoneAbandoned, "zoneAbandoned"),
    (.conflictUnresolved, "conflictUnresolved"), (.conflictBudgetSpent, "conflictBudgetSpent"),
    (.parkedByResolver, "parkedByResolver"), (.awaitsAppEdit, "awaitsAppEdit"),
    (.tooManyParked, "tooManyParked"), (.tokenStuck, "tokenStuck"),
    (.tooManyPages, "tooManyPages"), (.zoneBudgetSpent, "zoneBudgetSpent"),
    (.timedOut, "timedOut"), (.invalidResponse, "invalidResponse"),
    (.invalidRecord, "invalidRecord"), (.sessionReleased, "sessionReleased"),
    (.droppedByApp, "droppedByApp"), (.outcomeUnknown, "outcomeUnknown"),
  ]
}

extension SyncError.Code: CustomStringConvertible {
  /// The code's name, or `unknown(n)`.
  public var description: String {
    if isCloudCode { return Self.cloudNames[rawValue - 1] }
    return Self.sessionNames.first { $0.code == self }?.name ?? "unknown(\(rawValue))"
  }
}

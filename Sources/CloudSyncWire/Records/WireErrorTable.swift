package import CloudSyncCore

/// What the API's error codes and statuses mean, in both directions.
package enum WireErrorTable {
  /// One code of the API.
  private struct Row {
    var code: SyncError.Code
    var name: String
    var status: Int
  }

  /// In the order in which a name is looked for; of a code, the first row is written.
  private static let rows: [Row] = [
    Row(code: .permissionFailure, name: "ACCESS_DENIED", status: 403),
    Row(code: .batchRequestFailed, name: "ATOMIC_ERROR", status: 400),
    Row(code: .partialFailure, name: "ATOMIC_ERROR", status: 400),
    Row(code: .notAuthenticated, name: "AUTHENTICATION_FAILED", status: 401),
    Row(code: .notAuthenticated, name: "AUTHENTICATION_REQUIRED", status: 421),
    Row(code: .invalidArguments, name: "BAD_REQUEST", status: 400),
    Row(code: .changeTokenExpired, name: "CHANGE_TOKEN_EXPIRED", status: 400),
    Row(code: .serverRecordChanged, name: "CONFLICT", status: 409),
    Row(code: .serverRecordChanged, name: "EXISTS", status: 409),
    Row(code: .internalError, name: "INTERNAL_ERROR", status: 500),
    Row(code: .unknownItem, name: "NOT_FOUND", status: 404),
    Row(code: .quotaExceeded, name: "QUOTA_EXCEEDED", status: 413),
    Row(code: .requestRateLimited, name: "THROTTLED", status: 429),
    Row(code: .serviceUnavailable, name: "TRY_AGAIN_LATER", status: 503),
    Row(code: .serviceUnavailable, name: "SERVICE_UNAVAILABLE", status: 503),
    Row(code: .referenceViolation, name: "VALIDATING_REFERENCE_ERROR", status: 412),
    Row(code: .zoneNotFound, name: "ZONE_NOT_FOUND", status: 404),
    Row(code: .userDeletedZone, name: "ZONE_NOT_FOUND", status: 404),
    Row(code: .constraintViolation, name: "UNIQUE_FIELD_ERROR", status: 409),
    Row(code: .limitExceeded, name: "BAD_REQUEST", status: 413),
    Row(code: .serverResponseLost, name: "TRY_AGAIN_LATER", status: 504),
  ]

  /// Why a token is refused that belongs to no feed any more.
  package static let expiredToken = "Unknown sync continuation type"

  // MARK: Writing

  /// The error as the project's server tells it, and the status of a response that is one.
  package static func failure(of error: SyncError) -> (failure: WireFailure, status: Int) {
    let row = rows.first { $0.code == error.code }
    let isWithoutTag = error.code == .serverRecordChanged && error.clientRecord?.changeTag == nil
    var failure = WireFailure(
      code: isWithoutTag ? "EXISTS" : row?.name ?? "INTERNAL_ERROR",
      reason: error.code == .changeTokenExpired ? expiredToken : error.message
    )
    // CloudKit's table has fewer names than errors.
    failure.number = error.code.rawValue
    failure.retryAfter = error.retryAfterNanoseconds
    failure.isReset = error.isEncryptedDataReset
    failure.serverRecord = error.serverRecord
    return (failure, row?.status ?? 500)
  }

  // MARK: Reading

  /// What an error means.
  ///
  /// - Parameters:
  ///   - failure: The error.
  ///   - edit: What was sent, if it is that of a record.
  /// - Returns: The session's error.
  package static func error(of failure: WireFailure, edit: Record? = nil) -> SyncError {
    var error = SyncError(code(of: failure), message(of: failure))
    error.retryAfterNanoseconds = failure.retryAfter
    error.isEncryptedDataReset = failure.isReset
    if error.code == .serverRecordChanged {
      error.clientRecord = edit
      error.serverRecord = failure.serverRecord
    }
    return error
  }

  private static func code(of failure: WireFailure) -> SyncError.Code {
    // The session's own endings are nothing that a cloud answers.
    if let number = failure.number, !SyncError.Code(rawValue: number).isSessionCode {
      return SyncError.Code(rawValue: number)
    }
    if failure.code == "BAD_REQUEST",
      [expiredToken, "Invalid continuation format"].contains(where: failure.reason.contains)
    {
      return .changeTokenExpired
    }
    return rows.first { $0.name == failure.code }?.code ?? .unknown(0)
  }

  private static func message(of failure: WireFailure) -> String {
    rows.contains { $0.name == failure.code }
      ? failure.reason : "\(failure.code): \(failure.reason)"
  }

  /// What a response means that is no success: by the error in its body, or else by its status; and how
  /// long to wait, by the larger of what body and header say.
  ///
  /// - Parameters:
  ///   - response: The response.
  ///   - zoneID: The zone that the request was for.
  ///   - isModification: Whether the request may have changed something.
  ///   - now: The time, which a wait may be told as a date of.
  /// - Returns: The session's error.
  package static func error(
    of response: HTTPResponse,
    zoneID: ZoneID,
    isModification: Bool,
    now: Timestamp
  ) -> SyncError {
    var error =
      WireFailure.read(response.body, zoneID: zoneID).map { Self.error(of: $0) }
      ?? Self.error(status: response.status, isModification: isModification)
    if let text = response.headers["Retry-After"],
      let wait = RetryAfter.nanoseconds(text, now: now)
    {
      error.retryAfterNanoseconds = max(error.retryAfterNanoseconds ?? 0, wait)
    }
    return error
  }

  /// What a response means that is neither a success nor an error of the API's.
  ///
  /// - Parameters:
  ///   - status: The status.
  ///   - isModification: Whether the request may have changed something.
  /// - Returns: The session's error.
  package static func error(status: Int, isModification: Bool) -> SyncError {
    let message = "the server answered with the status \(status)"
    switch status {
    case 401: return SyncError(.notAuthenticated, message)
    case 403: return SyncError(.permissionFailure, message)
    case 404: return SyncError(.badContainer, message)
    case 412: return SyncError(.referenceViolation, message)
    case 413: return SyncError(.limitExceeded, message)
    // Connections to several hosts that share a certificate meet it in passing.
    case 421: return SyncError(.networkFailure, message)
    case 429: return SyncError(.requestRateLimited, message)
    case 500: return SyncError(.internalError, message)
    case 503: return SyncError(.serviceUnavailable, message)
    case 400, 405..<408, 409..<412, 414..<421, 422..<429, 430..<500:
      return SyncError(.invalidArguments, message)
    default:
      return SyncError(isModification ? .serverResponseLost : .networkFailure, message)
    }
  }
}

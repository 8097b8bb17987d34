#if canImport(CloudKit)
import CloudKit
import CloudSyncCore
import Foundation

/// Reads errors by their domain, code and details, never by their text.
struct CloudKitErrorReader: Sendable {
  let records: CloudKitRecordReader
  /// Whether something was to be saved or deleted: then a response that is missing may have been lost.
  let isModification: Bool

  /// The domain of the errors inside CloudKit, which has no constant.
  private static let internalDomain = "CKInternalErrorDomain"
  /// Longer waits are as good as for ever.
  private static let longestWait = 1e9

  /// The error of a call.
  func read(_ error: any Error) -> CloudKitFailure {
    let error = error as NSError
    switch error.domain {
    case CKErrorDomain: return readCloudKit(error: error)
    case Self.internalDomain:
      if let inner = error.userInfo[NSUnderlyingErrorKey] as? NSError, inner.domain == CKErrorDomain
      {
        return readCloudKit(error: inner)
      }
      return CloudKitFailure(foreign(error: error))
    case NSURLErrorDomain:
      return CloudKitFailure(SyncError(networkCode(code: error.code), error.localizedDescription))
    case NSCocoaErrorDomain where Self.missingFileCodes.contains(error.code):
      return CloudKitFailure(SyncError(.assetFileNotFound, error.localizedDescription))
    default: return CloudKitFailure(foreign(error: error))
    }
  }

  /// The error of one record, whose details are kept.
  func readItem(
    _ error: any Error,
    keeping systemFields: inout [SystemFields]
  ) -> SyncError {
    let failure = read(error)
    systemFields += failure.systemFields
    return failure.error
  }

  // MARK: CloudKit's own

  private func readCloudKit(error: NSError) -> CloudKitFailure {
    var failure = CloudKitFailure(plain(error: error))
    if let partial = error.userInfo[CKPartialErrorsByItemIDKey] as? [AnyHashable: Any] {
      readItems(of: partial, into: &failure)
    }
    if failure.error.code == .serverRecordChanged { readConflict(of: error, into: &failure) }
    return failure
  }

  /// The error without what it says of records.
  private func plain(error: NSError) -> SyncError {
    var code = SyncError.Code(rawValue: error.code)
    var message = error.localizedDescription
    if code.isSessionCode {
      // The session gives these numbers a meaning that no cloud can give them.
      code = .internalError
      message = "CloudKit answered with the unknown code \(error.code): \(message)"
    }
    var result = SyncError(code, message)
    if let seconds = error.userInfo[CKErrorRetryAfterKey] as? NSNumber {
      result.retryAfter = Self.wait(seconds: seconds.doubleValue)
    }
    if let isReset = error.userInfo[CKErrorUserDidResetEncryptedDataKey] as? NSNumber {
      result.isEncryptedDataReset = isReset.boolValue
    }
    return result
  }

  private func readItems(of partial: [AnyHashable: Any], into failure: inout CloudKitFailure) {
    // Of zones and subscriptions there is one in a request; the name settles which comes first.
    var whole: [(name: String, error: SyncError)] = []
    var longestWait = failure.error.retryAfter
    for (key, value) in partial {
      guard let inner = value as? any Error else { continue }
      let item = read(inner)
      if let wait = item.error.retryAfter { longestWait = max(longestWait ?? .zero, wait) }
      if let recordID = key.base as? CKRecord.ID {
        failure.items[records.identifiers.recordID(recordID)] = item.error
        failure.systemFields += item.systemFields
      } else if let zoneID = key.base as? CKRecordZone.ID {
        whole.append((zoneID.zoneName, item.error))
      } else if let subscriptionID = key.base as? String {
        whole.append((subscriptionID, item.error))
      }
    }
    failure.systemFields.sort { $0.recordID < $1.recordID }
    if let first = whole.min(by: { UTF8Bytes.order($0.name, $1.name) < 0 }) {
      failure.error = first.error
    }
    failure.error.retryAfter = longestWait
  }

  private func readConflict(of error: NSError, into failure: inout CloudKitFailure) {
    if let record = error.userInfo[CKRecordChangedErrorServerRecordKey] as? CKRecord {
      // Without its files it would not be whole: the session looks it up.
      failure.error.serverRecord = try? records.read(record)
      if let known = records.systemFields(of: record) { failure.systemFields.append(known) }
    }
    // What a handler makes its records of has no values: such an ancestor would only be taken for empty.
    if let record = error.userInfo[CKRecordChangedErrorAncestorRecordKey] as? CKRecord,
      !record.allKeys().isEmpty
    {
      // It helps to merge; the session has one of its own.
      failure.error.ancestorRecord = try? records.read(record)
    }
  }

  /// How long the server asks to wait, at least a millisecond; nil if it is no time to wait.
  private static func wait(seconds: Double) -> Duration? {
    guard seconds.isFinite, seconds >= 0 else { return nil }
    let milliseconds = (min(seconds, longestWait) * 1_000).rounded(.up)
    return .milliseconds(max(1, Int64(milliseconds)))
  }

  // MARK: Others'

  /// No such file, by two numbers of Foundation's: `NSFileNoSuchFileError`, `NSFileReadNoSuchFileError`.
  private static let missingFileCodes = [4, 260]

  private func networkCode(code: Int) -> SyncError.Code {
    switch code {
    case NSURLErrorNotConnectedToInternet, NSURLErrorInternationalRoamingOff,
      NSURLErrorDataNotAllowed:
      .networkUnavailable
    case NSURLErrorTimedOut, NSURLErrorNetworkConnectionLost:
      isModification ? .serverResponseLost : .networkFailure
    case NSURLErrorCancelled: .operationCancelled
    default: .networkFailure
    }
  }

  private func foreign(error: NSError) -> SyncError {
    var message = "\(error.domain) \(error.code): \(error.localizedDescription)"
    if let inner = error.userInfo[NSUnderlyingErrorKey] as? NSError {
      message += " (\(inner.domain) \(inner.code))"
    }
    return SyncError(.internalError, message)
  }
}

extension SyncError.Code {
  /// Whether it holds for every record of a zone.
  var isOfZoneOrAccount: Bool {
    [.zoneNotFound, .userDeletedZone, .notAuthenticated, .accountTemporarilyUnavailable]
      .contains(self)
  }

  /// Whether it says that the network failed: nobody knows then what the server has done.
  var isOfNetwork: Bool {
    [.networkUnavailable, .networkFailure, .serverResponseLost].contains(self)
  }
}
#endif

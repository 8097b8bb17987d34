@_spi(Stub) import CloudKit
import CloudSyncSession
public import Foundation

/// Makes errors as CloudKit gives them.
public enum StubErrors {
  /// An error of CloudKit's.
  public static func error(
    _ code: Int,
    _ text: String = "",
    userInfo: [String: Any] = [:]
  ) -> NSError {
    var userInfo = userInfo
    userInfo[NSLocalizedDescriptionKey] = text
    return NSError(domain: CKErrorDomain, code: code, userInfo: userInfo)
  }

  /// An error of the network's.
  public static func network(_ code: Int) -> NSError {
    NSError(domain: NSURLErrorDomain, code: code, userInfo: [:])
  }

  /// A partial failure whose items have IDs of records, zones or subscriptions as keys.
  static func partial(
    _ items: [AnyHashable: NSError],
    retryAfter: Any? = nil
  ) -> NSError {
    var userInfo: [String: Any] = [CKPartialErrorsByItemIDKey: items]
    userInfo[CKErrorRetryAfterKey] = retryAfter
    return error(2, "some items failed", userInfo: userInfo)
  }

  /// The local cloud's error, with the records of a conflict.
  static func error(_ error: SyncError, server: CKRecord?, client: CKRecord?) -> NSError {
    var userInfo: [String: Any] = [:]
    if let wait = error.retryAfter {
      let (seconds, attoseconds) = wait.components
      userInfo[CKErrorRetryAfterKey] = Double(seconds) + Double(attoseconds) / 1e18
    }
    if error.isEncryptedDataReset { userInfo[CKErrorUserDidResetEncryptedDataKey] = true }
    userInfo[CKRecordChangedErrorServerRecordKey] = server
    userInfo[CKRecordChangedErrorClientRecordKey] = server == nil ? nil : client
    return self.error(error.code.rawValue, error.message, userInfo: userInfo)
  }
}

// Apple documents these declarations; Declarations.md names the pages.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import Foundation

/// What the stub hands everything to: the framework and the server behind it.
///
/// It is no part of CloudKit: who wants it has to ask for it by its name.
@_spi(Stub)
public protocol CloudStubBackend: AnyObject, Sendable {
  /// Runs an operation: calls its blocks, each on whichever thread it likes.
  func run(_ operation: CKDatabaseOperation, in scope: CKDatabase.Scope)
  /// Tells the account's status.
  func accountStatus(_ completion: @escaping (CKAccountStatus, (any Error)?) -> Void)
  /// Tells whose account it is.
  func userRecordID(_ completion: @escaping (CKRecord.ID?, (any Error)?) -> Void)
}

/// The backends, by the identifiers of their containers.
@_spi(Stub)
public enum CloudStub {
  private static let lock = NSLock()
  // nonisolated(unsafe) because every access is under the lock.
  nonisolated(unsafe) private static var backends: [String: any CloudStubBackend] = [:]

  /// Has containers of an identifier use a backend.
  public static func install(_ backend: any CloudStubBackend, for identifier: String) {
    lock.withLock { backends[identifier] = backend }
  }

  /// Has an identifier mean nothing any more.
  public static func remove(_ identifier: String) {
    lock.withLock { _ = backends.removeValue(forKey: identifier) }
  }

  static func backend(of identifier: String) -> (any CloudStubBackend)? {
    lock.withLock { backends[identifier] }
  }
}

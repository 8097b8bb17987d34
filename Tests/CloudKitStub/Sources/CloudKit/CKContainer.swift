// Apple documents these declarations; Declarations.md names the pages.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Foundation

public class CKContainer: NSObject {
  private let backend: any CloudStubBackend

  /// The container of a backend that was installed under this identifier.
  public init(identifier containerIdentifier: String) {
    guard let backend = CloudStub.backend(of: containerIdentifier) else {
      preconditionFailure("Install a CloudStubBackend for \(containerIdentifier) first.")
    }
    self.backend = backend
  }

  public var privateCloudDatabase: CKDatabase { CKDatabase(.private, backend: backend) }
  public var sharedCloudDatabase: CKDatabase { CKDatabase(.shared, backend: backend) }

  #if CLOUDKIT_STUB_SENDABLE
  public func accountStatus(
    completionHandler: @escaping @Sendable (CKAccountStatus, (any Error)?) -> Void
  ) {
    backend.accountStatus { completionHandler($0, $1) }
  }

  public func fetchUserRecordID(
    completionHandler: @escaping @Sendable (CKRecord.ID?, (any Error)?) -> Void
  ) {
    backend.userRecordID { completionHandler($0, $1) }
  }
  #else
  public func accountStatus(
    completionHandler: @escaping (CKAccountStatus, (any Error)?) -> Void
  ) {
    backend.accountStatus { completionHandler($0, $1) }
  }

  public func fetchUserRecordID(
    completionHandler: @escaping (CKRecord.ID?, (any Error)?) -> Void
  ) {
    backend.userRecordID { completionHandler($0, $1) }
  }
  #endif
}

public enum CKAccountStatus: Int, Sendable {
  case couldNotDetermine = 0
  case available = 1
  case restricted = 2
  case noAccount = 3
  case temporarilyUnavailable = 4
}

extension Notification.Name {
  public static let CKAccountChanged = Notification.Name("CKAccountChanged")
}

public class CKDatabase: NSObject {
  public enum Scope: Int, Sendable {
    case `public` = 1
    case `private` = 2
    case shared = 3
  }

  public let databaseScope: CKDatabase.Scope
  private let backend: any CloudStubBackend

  init(_ scope: Scope, backend: any CloudStubBackend) {
    databaseScope = scope
    self.backend = backend
  }

  public func add(_ operation: CKDatabaseOperation) { backend.run(operation, in: databaseScope) }
}

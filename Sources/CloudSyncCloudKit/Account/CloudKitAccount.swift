#if canImport(CloudKit)
public import CloudKit
public import CloudSyncCore
import Foundation

/// The user's iCloud account, as sessions ask about it.
///
/// Keep it for as long as the sessions: CloudKit tells of changes of the account only while a container exists.
///
/// ```swift
/// let account = CloudKitAccount(container: container)
/// session.appendMiddleware(AccountStatusMiddleware(provider: account.provider))
/// account.follow(session)
/// ```
public final class CloudKitAccount: Sendable {
  private let container: UncheckedBox<CKContainer>
  private let observers = Locked<[UncheckedBox<any NSObjectProtocol>]>([])

  /// Keeps a container.
  public init(container: CKContainer) { self.container = UncheckedBox(container) }

  deinit {
    for observer in observers.withLock({ $0 }) {
      NotificationCenter.default.removeObserver(observer.value)
    }
  }

  /// Tells the status, and while the account is available the name of the user's record.
  public var provider: AccountStatusProvider {
    let container = container
    return AccountStatusProvider { completion in
      container.value.accountStatus { status, error in
        let status = AccountStatus(rawValue: status.rawValue) ?? .couldNotDetermine
        guard error == nil, status == .available else {
          return completion(error == nil ? status : .couldNotDetermine, nil)
        }
        container.value.fetchUserRecordID { recordID, error in
          // An account of which nobody knows whose it is must not be taken for the last one.
          guard let recordID, error == nil else { return completion(.couldNotDetermine, nil) }
          completion(.available, AccountIdentity(recordID.recordName))
        }
      }
    }
  }

  /// Tells a session whenever the account has changed, for as long as both exist.
  public func follow(_ session: CloudSyncSession) {
    let observer = NotificationCenter.default.addObserver(
      forName: .CKAccountChanged,
      object: nil,
      queue: nil
    ) { [weak session] _ in
      session?.accountDidChange()
    }
    let box = UncheckedBox<any NSObjectProtocol>(observer)
    observers.withLock { $0.append(box) }
  }
}
#endif

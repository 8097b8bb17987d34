// Apple documents these declarations; Declarations.md names the pages.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Foundation

public class CKSubscription: NSObject {
  public typealias ID = String

  @_spi(Stub) public let _subscriptionID: CKSubscription.ID
  public var notificationInfo: CKSubscription.NotificationInfo?

  init(_ subscriptionID: CKSubscription.ID) { _subscriptionID = subscriptionID }

  public class NotificationInfo: NSObject {
    public var shouldSendContentAvailable: Bool = false

    override public init() {}
  }
}

public class CKDatabaseSubscription: CKSubscription {
  public init(subscriptionID: CKSubscription.ID) { super.init(subscriptionID) }
}

public class CKRecordZoneSubscription: CKSubscription {
  @_spi(Stub) public let _zoneID: CKRecordZone.ID

  public init(zoneID: CKRecordZone.ID, subscriptionID: CKSubscription.ID) {
    _zoneID = zoneID
    super.init(subscriptionID)
  }
}

public class CKModifySubscriptionsOperation: CKDatabaseOperation {
  @_spi(Stub) public let _subscriptionsToSave: [CKSubscription]

  public init(
    subscriptionsToSave: [CKSubscription]? = nil,
    subscriptionIDsToDelete: [CKSubscription.ID]? = nil
  ) {
    _subscriptionsToSave = subscriptionsToSave ?? []
    precondition(subscriptionIDsToDelete == nil, "The stub deletes no subscriptions.")
    super.init()
  }

  #if CLOUDKIT_STUB_SENDABLE
  public var perSubscriptionSaveBlock:
    (@Sendable (CKSubscription.ID, Result<CKSubscription, any Error>) -> Void)?
  public var modifySubscriptionsResultBlock: (@Sendable (Result<Void, any Error>) -> Void)?
  #else
  public var perSubscriptionSaveBlock:
    ((CKSubscription.ID, Result<CKSubscription, any Error>) -> Void)?
  public var modifySubscriptionsResultBlock: ((Result<Void, any Error>) -> Void)?
  #endif
}

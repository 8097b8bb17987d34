// Apple documents these declarations; Declarations.md names the pages.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Foundation

/// Has an initializer give an object of a subclass, as CloudKit's does.
public protocol _CKNotificationMaking {}

extension _CKNotificationMaking {
  public init?(fromRemoteNotificationDictionary notificationDictionary: [AnyHashable: Any]) {
    guard let made = CKNotification._made(of: notificationDictionary) as? Self else { return nil }
    self = made
  }
}

public class CKNotification: NSObject, _CKNotificationMaking {
  public private(set) var subscriptionID: CKSubscription.ID?

  init(subscriptionID: CKSubscription.ID?) { self.subscriptionID = subscriptionID }

  /// What a dictionary says, whose form is that which was seen on devices: `ck` with `met` for a database, `fet` for
  /// a zone.
  static func _made(of dictionary: [AnyHashable: Any]) -> CKNotification? {
    guard let content = dictionary["ck"] as? [String: Any] else { return nil }
    if let database = content["met"] as? [String: Any] {
      guard let number = database["dbs"] as? Int, let scope = CKDatabase.Scope(rawValue: number)
      else { return nil }
      return CKDatabaseNotification(database["sid"] as? String, scope)
    }
    guard let zone = content["fet"] as? [String: Any] else {
      return CKNotification(subscriptionID: nil)
    }
    let zoneID = (zone["zid"] as? String)
      .map {
        CKRecordZone.ID(
          zoneName: $0,
          ownerName: zone["zoid"] as? String ?? CKCurrentUserDefaultName
        )
      }
    return CKRecordZoneNotification(zone["sid"] as? String, zoneID)
  }
}

public class CKDatabaseNotification: CKNotification {
  public let databaseScope: CKDatabase.Scope

  init(_ subscriptionID: CKSubscription.ID?, _ scope: CKDatabase.Scope) {
    databaseScope = scope
    super.init(subscriptionID: subscriptionID)
  }
}

public class CKRecordZoneNotification: CKNotification {
  public let recordZoneID: CKRecordZone.ID?

  init(_ subscriptionID: CKSubscription.ID?, _ zoneID: CKRecordZone.ID?) {
    recordZoneID = zoneID
    super.init(subscriptionID: subscriptionID)
  }
}

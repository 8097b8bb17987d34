public import CloudSyncCore

/// Why a zone is gone.
public enum ZoneDeletionReason: Int, Sendable, CaseIterable {
  /// An app deleted it.
  case deleted
  /// The user deleted its data in the settings: nothing may be sent again.
  case purged
  /// The user reset the encrypted data: what devices have should be sent again.
  case encryptedDataReset
}

/// A zone that is gone.
public struct DeletedZone: Sendable, Hashable {
  /// The zone.
  public var zoneID: ZoneID
  /// Why it is gone.
  public var reason: ZoneDeletionReason

  /// Creates a deletion.
  public init(zoneID: ZoneID, reason: ZoneDeletionReason) {
    self.zoneID = zoneID
    self.reason = reason
  }
}

/// One page of what happened in an account's database.
public struct DatabaseChanges: Sendable {
  /// The zones that are new, or in which something changed.
  public var changedZoneIDs: [ZoneID]
  /// The zones that are gone.
  public var deletedZones: [DeletedZone]
  /// Where the next page begins; it means nothing to the feed of a zone.
  public var changeToken: ChangeToken
  /// Whether more pages follow.
  public var hasMore: Bool
}

/// A change of a zone that was made through a cloud of this process.
public struct LocalCloudChange: Sendable, Hashable {
  /// The account whose zone it is.
  public var account: AccountIdentity
  /// The zone.
  public var zoneID: ZoneID
  /// The device that made the change; empty if none did.
  public var device: String

  /// Creates a change, as another process tells of one.
  public init(account: AccountIdentity, zoneID: ZoneID, device: String) {
    self.account = account
    self.zoneID = zoneID
    self.device = device
  }
}

/// A hint that something changed in a zone; it may be missed, so nothing may depend on it.
public struct LocalCloudPush: Sendable, Hashable {
  /// The device that is told.
  public var device: String
  /// The account whose zone it is.
  public var account: AccountIdentity
  /// The zone.
  public var zoneID: ZoneID
}

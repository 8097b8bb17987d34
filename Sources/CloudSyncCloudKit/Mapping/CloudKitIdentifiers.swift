#if canImport(CloudKit)
import CloudKit
import CloudSyncCore

/// Translates the IDs of zones and records, both ways.
struct CloudKitIdentifiers: Sendable {
  /// The session's zone, as the core names it.
  let zoneID: ZoneID

  /// Takes over a zone of a database.
  init(zoneID: CKRecordZone.ID, scope: DatabaseScope) {
    self.zoneID = Self.zoneID(of: zoneID, scope: scope)
  }

  /// The zone as CloudKit names it.
  var cloudKitZoneID: CKRecordZone.ID { cloudKitID(zoneID) }

  /// The core's ID of a zone of the same database.
  func zoneID(_ id: CKRecordZone.ID) -> ZoneID {
    // Most are the session's own: then all records share one value.
    if UTF8Bytes.equal(id.zoneName, zoneID.name),
      zoneID.scope == .private || UTF8Bytes.equal(id.ownerName, zoneID.owner)
    {
      return zoneID
    }
    return Self.zoneID(of: id, scope: zoneID.scope)
  }

  /// The core's ID of a record.
  func recordID(_ id: CKRecord.ID) -> RecordID {
    RecordID(name: id.recordName, zoneID: zoneID(id.zoneID))
  }

  /// CloudKit's ID of a zone.
  func cloudKitID(_ zoneID: ZoneID) -> CKRecordZone.ID {
    let isOwn = UTF8Bytes.equal(zoneID.owner, ZoneID.currentUser)
    return CKRecordZone.ID(
      zoneName: zoneID.name,
      ownerName: isOwn ? CKCurrentUserDefaultName : zoneID.owner
    )
  }

  /// CloudKit's ID of a record.
  func cloudKitID(_ recordID: RecordID) -> CKRecord.ID {
    CKRecord.ID(recordName: recordID.name, zoneID: cloudKitID(recordID.zoneID))
  }

  private static func zoneID(of id: CKRecordZone.ID, scope: DatabaseScope) -> ZoneID {
    // In the private database every zone is the user's, whichever of two names CloudKit writes.
    let isOwn =
      scope != .shared || UTF8Bytes.equal(id.ownerName, CKCurrentUserDefaultName)
    return ZoneID(
      name: id.zoneName,
      owner: isOwn ? ZoneID.currentUser : id.ownerName,
      scope: scope
    )
  }
}

extension DatabaseScope {
  /// The scope of a database.
  init(_ scope: CKDatabase.Scope) {
    self = scope == .shared ? .shared : scope == .public ? .public : .private
  }
}
#endif

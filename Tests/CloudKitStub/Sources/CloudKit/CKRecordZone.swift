// Apple documents these declarations; Declarations.md names the pages.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Foundation

public let CKCurrentUserDefaultName = "__defaultOwner__"

public class CKRecordZone: NSObject {
  public let zoneID: CKRecordZone.ID

  public init(zoneID: CKRecordZone.ID) { self.zoneID = zoneID }

  public class ID: NSObject {
    public let zoneName: String
    public let ownerName: String

    public init(zoneName: String, ownerName: String = CKCurrentUserDefaultName) {
      precondition(
        !zoneName.isEmpty && zoneName.utf8.count <= 255,
        "CloudKit raises an exception for the zone name “\(zoneName)”."
      )
      self.zoneName = zoneName
      self.ownerName = ownerName
    }

    override public var hash: Int { zoneName.hashValue ^ ownerName.hashValue }

    override public func isEqual(_ object: Any?) -> Bool {
      guard let other = object as? CKRecordZone.ID else { return false }
      return zoneName == other.zoneName && ownerName == other.ownerName
    }
  }
}

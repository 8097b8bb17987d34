package import CloudSyncCore

/// Zones as the API has them: `{"zoneName": …, "ownerRecordName": …}`.
package enum WireZone {
  package static func write(_ zoneID: ZoneID, to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("zoneName", zoneID.name)
      if !UTF8Bytes.equal(zoneID.owner, ZoneID.currentUser) {
        writer.member("ownerRecordName", zoneID.owner)
      }
    }
  }

  /// Reads a zone of the database that another one lies in.
  ///
  /// In a private database every zone is the user's own, whatever name the service has for the user.
  package static func read(
    like other: ZoneID,
    from reader: inout JSONReader
  ) throws(WireError) -> ZoneID {
    try read(scope: other.scope, from: &reader)
  }

  package static func read(
    scope: DatabaseScope,
    from reader: inout JSONReader
  ) throws(WireError) -> ZoneID {
    var zoneName: String?
    var owner = ZoneID.currentUser
    try reader.object { (reader, name) throws(WireError) in
      switch name {
      case "zoneName": zoneName = try reader.string()
      case "ownerRecordName":
        if let name = try reader.optionalString(), scope == .shared { owner = name }
      default: try reader.skipValue()
      }
    }
    guard let zoneName else { throw reader.failure("a zone has no name") }
    return ZoneID(name: zoneName, owner: owner, scope: scope)
  }
}

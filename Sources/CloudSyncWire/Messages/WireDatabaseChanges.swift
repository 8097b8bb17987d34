package import CloudSyncCore

/// `changes/database`: which zones changed.
package struct WireDatabaseChanges: Sendable {
  package var changed: [ZoneID]
  package var deleted: [ZoneID]
  package var syncToken: String
  package var hasMore: Bool

  package init(changed: [ZoneID], deleted: [ZoneID], syncToken: String, hasMore: Bool) {
    self.changed = changed
    self.deleted = deleted
    self.syncToken = syncToken
    self.hasMore = hasMore
  }

  /// Reads the body of a request: where to begin, or nil.
  package static func syncToken(reading bytes: [UInt8]) throws(WireError) -> String? {
    var reader = JSONReader(bytes)
    var token: String?
    try reader.object { (reader, name) throws(WireError) in
      if name == "syncToken" { token = try reader.optionalString() } else { try reader.skipValue() }
    }
    try reader.end()
    return token
  }

  /// The body of the response.
  package var body: [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("syncToken", syncToken)
      writer.member("moreComing", hasMore)
      writer.name("zones")
      let zones = changed.map { ($0, false) } + deleted.map { ($0, true) }
      writer.array(zones) { writer, zone in
        writer.object { writer in
          writer.name("zoneID")
          WireZone.write(zone.0, to: &writer)
          if zone.1 { writer.member("deleted", true) }
        }
      }
    }
    return writer.bytes
  }
}

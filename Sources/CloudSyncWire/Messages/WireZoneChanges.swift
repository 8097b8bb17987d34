package import CloudSyncCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// `changes/zone`: one page of the feed of one zone.
package struct WireZoneChanges: Sendable {
  package var zoneID: ZoneID
  /// Where to begin, as the service gave it; nil for the beginning.
  package var syncToken: String?
  package var resultsLimit: Int?

  package init(zoneID: ZoneID, syncToken: String?, resultsLimit: Int? = nil) {
    self.zoneID = zoneID
    self.syncToken = syncToken
    self.resultsLimit = resultsLimit
  }

  /// The body of the request.
  package var body: [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.name("zones")
      writer.array([self]) { writer, zone in
        writer.object { writer in
          writer.name("zoneID")
          WireZone.write(zone.zoneID, to: &writer)
          // An empty one means two things, depending on whom one asks.
          if let syncToken = zone.syncToken, !syncToken.isEmpty {
            writer.member("syncToken", syncToken)
          }
          if let limit = zone.resultsLimit { writer.member("resultsLimit", Int64(limit)) }
        }
      }
      writer.member("numbersAsStrings", true)
    }
    return writer.bytes
  }

  /// Reads the body of a request, which asks for one zone.
  package init(reading bytes: [UInt8], scope: DatabaseScope) throws(WireError) {
    var reader = JSONReader(bytes)
    var zones: [WireZoneChanges] = []
    try reader.object { (reader, name) throws(WireError) in
      guard name == "zones" else { return try reader.skipValue() }
      try reader.array { (reader) throws(WireError) in
        zones.append(try Self.zone(from: &reader, scope: scope))
        guard zones.count == 1 else { throw reader.failure("one zone at a time is served") }
      }
    }
    try reader.end()
    guard let zone = zones.first else { throw reader.failure("no zone is asked for") }
    self = zone
  }

  private static func zone(
    from reader: inout JSONReader,
    scope: DatabaseScope
  ) throws(WireError) -> WireZoneChanges {
    var zoneID: ZoneID?
    var changes = WireZoneChanges(zoneID: ZoneID(name: ""), syncToken: nil)
    try reader.object { (reader, name) throws(WireError) in
      switch name {
      case "zoneID": zoneID = try WireZone.read(scope: scope, from: &reader)
      case "syncToken": changes.syncToken = try reader.optionalString()
      case "resultsLimit":
        changes.resultsLimit = try reader.isNull() ? nil : Int(clamping: try reader.int64())
      default: try reader.skipValue()
      }
    }
    guard let zoneID else { throw reader.failure("a zone has no name") }
    changes.zoneID = zoneID
    return changes
  }
}

/// Change tokens as the project's server writes them.
package enum WireToken {
  package static func text(_ token: ChangeToken) -> String { token.bytes.base64EncodedString() }

  /// Reads a token of the project's server; nil if the text is none.
  package static func token(_ text: String) -> ChangeToken? {
    Data(base64Encoded: text).flatMap(ChangeToken.init)
  }

  // MARK: The client's side, to which the text is all there is

  package static func token(syncToken: String) -> ChangeToken? {
    ChangeToken(Data(syncToken.utf8))
  }

  /// The text that a token came as; nil if no service of the API gave it.
  package static func syncToken(_ token: ChangeToken) -> String? {
    let bytes = [UInt8](token.bytes)
    return bytes.withUnsafeBytes { UTF8Bytes.text($0) }
  }
}

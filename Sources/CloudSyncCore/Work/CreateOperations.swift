/// A wish for the zone to exist.
public struct CreateZoneOperation: Sendable {
  /// The zone to create; creating one that exists succeeds.
  public var zoneID: ZoneID

  /// Creates an operation.
  public init(zoneID: ZoneID) { self.zoneID = zoneID }
}

/// A wish for the subscription that brings pushes about a zone.
public struct CreateSubscriptionOperation: Sendable {
  /// The zone to hear about.
  public var zoneID: ZoneID

  /// Creates an operation.
  public init(zoneID: ZoneID) { self.zoneID = zoneID }
}

extension CreateZoneOperation: CodedValue {
  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object { $0.field("zoneID", zoneID) }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    zoneID = try reader.object { (reader) throws(CodedError) in try reader.field("zoneID") }
  }
}

extension CreateSubscriptionOperation: CodedValue {
  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object { $0.field("zoneID", zoneID) }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    zoneID = try reader.object { (reader) throws(CodedError) in try reader.field("zoneID") }
  }
}

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

extension CreateZoneOperation: CodedStruct {
  package init<C: FieldCoder<Self>>(fields coder: inout C) throws(C.Failure) {
    zoneID = try coder.field("zoneID") { $0.zoneID }
  }
}

extension CreateSubscriptionOperation: CodedStruct {
  package init<C: FieldCoder<Self>>(fields coder: inout C) throws(C.Failure) {
    zoneID = try coder.field("zoneID") { $0.zoneID }
  }
}

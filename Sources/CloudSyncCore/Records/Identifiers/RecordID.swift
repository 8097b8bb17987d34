/// The identity of a record: its name, unique within its zone.
public struct RecordID: Hashable, Codable, Sendable, CodedValue {
  /// The record's name: 1 to 255 ASCII characters, the first no underscore.
  public let name: String
  /// The zone that the record lies in.
  public let zoneID: ZoneID

  /// Creates a record ID, whose name is checked when the record is given to a session.
  public init(name: String, zoneID: ZoneID) {
    var name = name
    name.makeContiguousUTF8()
    self.name = name
    self.zoneID = zoneID
  }

  /// A hash of the bytes that is the same in every process, so that it may shape a state.
  package var stableHash: UInt64 { UTF8Bytes.stableHash(text: name, seed: zoneID.stableHash) }

  /// Orders two IDs by zone (scope, owner, name) and then by name: negative, zero or positive.
  package static func order(_ lhs: RecordID, _ rhs: RecordID) -> Int {
    let zones = ZoneID.order(lhs.zoneID, rhs.zoneID)
    return zones != 0 ? zones : UTF8Bytes.order(lhs.name, rhs.name)
  }

  /// Tells whether one ID comes before another, by zone and then by name.
  package static func precedes(_ lhs: RecordID, _ rhs: RecordID) -> Bool { order(lhs, rhs) < 0 }

  /// Tells whether two IDs have the same bytes.
  public static func == (lhs: RecordID, rhs: RecordID) -> Bool {
    UTF8Bytes.equal(lhs.name, rhs.name) && lhs.zoneID == rhs.zoneID
  }

  /// Hashes the bytes.
  public func hash(into hasher: inout Hasher) {
    UTF8Bytes.with(name) { hasher.combine(bytes: $0) }
    hasher.combine(zoneID.stableHash)
  }

  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.field("name", name)
      $0.sharedField("zone", zoneID)
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    self = try reader.object { (reader) throws(CodedError) in
      RecordID(name: try reader.field("name"), zoneID: try reader.sharedField("zone"))
    }
  }
}

extension RecordID: Comparable {
  /// Orders IDs by zone (scope, owner, name) and then by name, all by their bytes.
  public static func < (lhs: RecordID, rhs: RecordID) -> Bool { precedes(lhs, rhs) }
}

extension RecordID: CustomStringConvertible {
  /// The zone and the name.
  public var description: String { "\(zoneID)/\(name)" }
}

extension RecordID: StableHashable {}

/// The identity of a record zone: its name, its owner, and the database it lies in.
///
/// A copy costs one retain, and two copies of the same value are compared by identity, since every
/// record ID carries one.
public struct ZoneID: Hashable, Codable, Sendable, CodedValue {
  private final class Storage: Sendable {
    let name: String
    let owner: String
    let scope: DatabaseScope
    let stableHash: UInt64

    init(name: String, owner: String, scope: DatabaseScope) {
      var (name, owner) = (name, owner)
      name.makeContiguousUTF8()
      owner.makeContiguousUTF8()
      self.name = name
      self.owner = owner
      self.scope = scope
      let seed = UTF8Bytes.stableHash(text: owner, seed: UInt64(scope.index))
      stableHash = UTF8Bytes.stableHash(text: name, seed: seed)
    }
  }

  /// The owner name that stands for whoever is signed in.
  public static let currentUser = "__defaultOwner__"
  /// The name of the zone that every database has from the start.
  public static let defaultZoneName = "_defaultZone"

  private let storage: Storage

  /// Creates a zone ID.
  public init(
    name: String,
    owner: String = ZoneID.currentUser,
    scope: DatabaseScope = .private
  ) {
    storage = Storage(name: name, owner: owner, scope: scope)
  }

  /// The zone's name.
  public var name: String { storage.name }
  /// The record name of the user whom the zone belongs to.
  public var owner: String { storage.owner }
  /// The database that the zone lies in.
  public var scope: DatabaseScope { storage.scope }
  /// A hash of the bytes that is the same in every process.
  package var stableHash: UInt64 { storage.stableHash }

  /// Orders two zones by scope, owner and name: negative, zero or positive.
  package static func order(_ lhs: ZoneID, _ rhs: ZoneID) -> Int {
    if lhs.storage === rhs.storage { return 0 }
    if lhs.scope != rhs.scope { return lhs.scope.index - rhs.scope.index }
    let owners = UTF8Bytes.order(lhs.owner, rhs.owner)
    return owners != 0 ? owners : UTF8Bytes.order(lhs.name, rhs.name)
  }

  /// Tells whether two zones have the same scope, and owners and names of the same bytes.
  public static func == (lhs: ZoneID, rhs: ZoneID) -> Bool {
    if lhs.storage === rhs.storage { return true }
    guard lhs.stableHash == rhs.stableHash else { return false }
    return lhs.scope == rhs.scope && UTF8Bytes.equal(lhs.owner, rhs.owner)
      && UTF8Bytes.equal(lhs.name, rhs.name)
  }

  /// Hashes the bytes.
  public func hash(into hasher: inout Hasher) { hasher.combine(stableHash) }

  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.field("name", name)
      $0.field("owner", $0.disclosed(owner, as: .zoneOwner))
      $0.field("scope", scope)
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    self = try reader.object { (reader) throws(CodedError) in
      ZoneID(
        name: try reader.field("name"),
        owner: try reader.field("owner"),
        scope: try reader.field("scope")
      )
    }
  }
}

extension ZoneID: Comparable {
  /// Orders zones by scope (private, shared, public), then by the bytes of owner and name.
  public static func < (lhs: ZoneID, rhs: ZoneID) -> Bool { order(lhs, rhs) < 0 }
}

extension ZoneID: CustomStringConvertible {
  /// The name, with the owner and the database where they are not the user's own.
  public var description: String {
    let owned = UTF8Bytes.equal(owner, Self.currentUser) ? name : "\(owner)/\(name)"
    return scope == .private ? owned : "\(scope):\(owned)"
  }
}

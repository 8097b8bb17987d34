// Apple documents these declarations; Declarations.md names the pages.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Foundation

public class CKRecord: NSObject, NSSecureCoding {
  public typealias RecordType = String
  public typealias FieldKey = String

  public let recordType: CKRecord.RecordType
  public let recordID: CKRecord.ID
  public private(set) var recordChangeTag: String?
  public private(set) var creationDate: Date?
  public private(set) var modificationDate: Date?
  public private(set) var parent: CKRecord.Reference?
  public private(set) var share: CKRecord.Reference?

  /// The values that are not encrypted.
  private let plain = RecordValues()
  /// The encrypted ones.
  private let secret = RecordValues()
  /// Whether all keys include those of encrypted values: it is not documented.
  @_spi(Stub) public var _listsEncryptedKeys = false
  /// A number that tells the archives of equal versions apart; 0 where they are to have equal bytes.
  @_spi(Stub) public var _salt = 0
  /// Whether the parent was set since the record came.
  @_spi(Stub) public private(set) var _hasNewParent = false

  public init(recordType: CKRecord.RecordType, recordID: CKRecord.ID) {
    precondition(!recordType.isEmpty, "CloudKit raises an exception for an empty record type.")
    self.recordType = recordType
    self.recordID = recordID
  }

  // MARK: Values

  public func allKeys() -> [CKRecord.FieldKey] {
    plain.allKeys() + (_listsEncryptedKeys ? secret.allKeys() : [])
  }

  public func changedKeys() -> [CKRecord.FieldKey] { plain.changedKeys() }

  public var encryptedValues: any CKRecordKeyValueSetting & Sendable { secret }

  public func setParent(_ parentRecordID: CKRecord.ID?) {
    parent = parentRecordID.map { CKRecord.Reference(recordID: $0, action: .none) }
    _hasNewParent = true
  }

  // MARK: System fields

  public static var supportsSecureCoding: Bool { true }

  public func encodeSystemFields(with coder: NSCoder) {
    let text = [
      recordType, recordID.recordName, recordID.zoneID.zoneName, recordID.zoneID.ownerName,
      recordChangeTag, creationDate.map { "\($0.timeIntervalSinceReferenceDate)" },
      modificationDate.map { "\($0.timeIntervalSinceReferenceDate)" },
      parent?.recordID.recordName, share?.recordID.recordName, "\(_salt)",
    ]
    // One value, as Foundation's archiver is slow here.
    let bytes = text.map { $0.map { Data($0.utf8).base64EncodedString() } ?? "-" }
    let data = NSData(data: Data(bytes.joined(separator: " ").utf8))
    coder.encode(data, forKey: "SystemFields")
  }

  public func encode(with coder: NSCoder) { encodeSystemFields(with: coder) }

  public required init?(coder: NSCoder) {
    guard let data = coder.decodeObject(of: NSData.self, forKey: "SystemFields") else { return nil }
    let parts = String(decoding: Data(referencing: data), as: UTF8.self).split(separator: " ")
      .map { Data(base64Encoded: String($0)).map { String(decoding: $0, as: UTF8.self) } }
    guard parts.count == 10, let type = parts[0], let name = parts[1], let zone = parts[2],
      let owner = parts[3]
    else { return nil }
    let zoneID = CKRecordZone.ID(zoneName: zone, ownerName: owner)
    recordType = type
    recordID = CKRecord.ID(recordName: name, zoneID: zoneID)
    recordChangeTag = parts[4]
    creationDate = parts[5].flatMap(Double.init).map(Date.init(timeIntervalSinceReferenceDate:))
    modificationDate = parts[6].flatMap(Double.init).map(Date.init(timeIntervalSinceReferenceDate:))
    parent = parts[7]
      .map {
        CKRecord.Reference(recordID: CKRecord.ID(recordName: $0, zoneID: zoneID), action: .none)
      }
    share = parts[8]
      .map {
        CKRecord.Reference(recordID: CKRecord.ID(recordName: $0, zoneID: zoneID), action: .none)
      }
    _salt = parts[9].flatMap { Int($0) } ?? 0
  }

  // MARK: What the server sets

  /// Gives the record what only a server can give it.
  @_spi(Stub)
  public func _setSystemFields(
    changeTag: String?,
    creationDate: Date?,
    modificationDate: Date?,
    parent: CKRecord.ID?,
    share: CKRecord.ID?
  ) {
    recordChangeTag = changeTag
    self.creationDate = creationDate
    self.modificationDate = modificationDate
    self.parent = parent.map { CKRecord.Reference(recordID: $0, action: .none) }
    self.share = share.map { CKRecord.Reference(recordID: $0, action: .none) }
    _hasNewParent = false
    plain.forgetChanges()
    secret.forgetChanges()
  }
}

extension CKRecord: CKRecordKeyValueSetting {
  public func _value(forKey key: String) -> (any CKRecordValueProtocol)? {
    plain._value(forKey: key)
  }

  public func _setValue(_ value: (any CKRecordValueProtocol)?, forKey key: String) {
    plain._setValue(value, forKey: key)
  }
}

extension CKRecord {
  public class ID: NSObject {
    public let recordName: String
    public let zoneID: CKRecordZone.ID

    public init(recordName: String, zoneID: CKRecordZone.ID) {
      precondition(
        !recordName.isEmpty && recordName.utf8.count <= 255 && recordName.utf8.first != 0x5f,
        "CloudKit raises an exception for the record name “\(recordName)”."
      )
      self.recordName = recordName
      self.zoneID = zoneID
    }

    override public var hash: Int { recordName.hashValue }

    override public func isEqual(_ object: Any?) -> Bool {
      guard let other = object as? CKRecord.ID else { return false }
      return recordName == other.recordName && zoneID == other.zoneID
    }
  }

  public enum ReferenceAction: UInt, Sendable {
    case none = 0
    case deleteSelf = 1
  }

  public class Reference: NSObject {
    public let recordID: CKRecord.ID
    public let action: CKRecord.ReferenceAction

    public init(recordID: CKRecord.ID, action: CKRecord.ReferenceAction) {
      self.recordID = recordID
      self.action = action
    }
  }
}

/// Values by their keys, with the keys of those that were set.
///
/// `@unchecked Sendable` because CloudKit declares its like so; records go from thread to thread, one at a time.
final class RecordValues: NSObject, CKRecordKeyValueSetting, @unchecked Sendable {
  private var values: [String: any CKRecordValueProtocol] = [:]
  private var changed: Set<String> = []

  func allKeys() -> [String] { Array(values.keys) }
  func changedKeys() -> [String] { Array(changed) }
  func forgetChanges() { changed = [] }
  func _value(forKey key: String) -> (any CKRecordValueProtocol)? { values[key] }

  func _setValue(_ value: (any CKRecordValueProtocol)?, forKey key: String) {
    precondition(
      key.utf8.first.map { ($0 | 0x20) &- 0x61 < 26 } ?? false,
      "CloudKit raises an exception for the key “\(key)”."
    )
    values[key] = value
    changed.insert(key)
  }
}

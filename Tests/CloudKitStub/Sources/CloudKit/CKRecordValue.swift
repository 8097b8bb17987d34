// Apple documents these declarations; Declarations.md names the pages.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CoreLocation
public import Foundation

public protocol CKRecordValueProtocol {}

extension String: CKRecordValueProtocol {}
extension NSNumber: CKRecordValueProtocol {}
extension Date: CKRecordValueProtocol {}
extension Data: CKRecordValueProtocol {}
extension CKRecord.Reference: CKRecordValueProtocol {}
extension CKAsset: CKRecordValueProtocol {}
extension CLLocation: CKRecordValueProtocol {}
extension Array: CKRecordValueProtocol where Element: CKRecordValueProtocol {}

public protocol CKRecordKeyValueSetting: NSObjectProtocol {
  func allKeys() -> [CKRecord.FieldKey]
  func changedKeys() -> [CKRecord.FieldKey]
  func _value(forKey key: String) -> (any CKRecordValueProtocol)?
  func _setValue(_ value: (any CKRecordValueProtocol)?, forKey key: String)
}

extension CKRecordKeyValueSetting {
  public subscript(key: CKRecord.FieldKey) -> (any CKRecordValueProtocol)? {
    get { _value(forKey: key) }
    set { _setValue(newValue, forKey: key) }
  }

  public subscript<T>(key: CKRecord.FieldKey) -> T? where T: CKRecordValueProtocol {
    get { _value(forKey: key) as? T }
    set { _setValue(newValue, forKey: key) }
  }
}

public class CKAsset: NSObject {
  public private(set) var fileURL: URL?

  public init(fileURL: URL) { self.fileURL = fileURL }

  /// An asset whose file was not downloaded.
  @_spi(Stub) public static var _withoutFile: CKAsset {
    let asset = CKAsset(fileURL: URL(filePath: "/"))
    asset.fileURL = nil
    return asset
  }
}

public class CKServerChangeToken: NSObject, NSSecureCoding {
  @_spi(Stub) public let _bytes: Data

  @_spi(Stub) public init(_bytes bytes: Data) { _bytes = bytes }

  public static var supportsSecureCoding: Bool { true }
  public func encode(with coder: NSCoder) { coder.encode(NSData(data: _bytes), forKey: "Token") }

  public required init?(coder: NSCoder) {
    guard let bytes = coder.decodeObject(of: NSData.self, forKey: "Token") else { return nil }
    _bytes = Data(referencing: bytes)
  }
}

@_spi(Stub) import CloudKit
import CloudSyncSession
import CoreLocation
import Foundation

/// Translates between CloudKit's records and the local cloud's; it knows nothing of the adapter, and is written
/// apart from it.
struct StubValues: Sendable {
  /// The names of zones, as the framework writes them.
  let zoneID: @Sendable (ZoneID) -> CKRecordZone.ID
  /// Takes a file over, as an upload does.
  let upload: @Sendable (Data) throws -> Asset
  /// A folder for files that are deleted after the callback.
  let staging: String

  // MARK: From records

  /// What is to be saved of a record.
  ///
  /// - Throws: The error of the record.
  func edit(_ record: CKRecord, in zone: ZoneID) throws -> Record {
    var edit = Record(
      recordType: record.recordType,
      recordID: RecordID(name: record.recordID.recordName, zoneID: zone),
      changeTag: record.recordChangeTag
    )
    for key in record.changedKeys() {
      let value: (any CKRecordValueProtocol)? = record[key]
      edit[key] = try value.map { try field($0, in: zone) } ?? .null
    }
    let encrypted = record.encryptedValues
    for key in encrypted.changedKeys() {
      let value: (any CKRecordValueProtocol)? = encrypted[key]
      edit[key] = try value.map { try field($0, in: zone) } ?? .null
    }
    edit.encryptedKeys = encrypted.changedKeys()
    if record._hasNewParent {
      edit.parent = record.parent.map { RecordID(name: $0.recordID.recordName, zoneID: zone) }
    }
    return edit
  }

  private func field(_ value: Any, in zone: ZoneID) throws -> FieldValue {
    switch value {
    case let text as String: return .string(text)
    case let date as Date: return .timestamp(Timestamp(date))
    case let data as Data: return .data(data)
    case let reference as CKRecord.Reference:
      return .reference(
        Reference(
          recordID: RecordID(name: reference.recordID.recordName, zoneID: zone),
          action: reference.action == .deleteSelf ? .deleteSelf : .none
        )
      )
    case let asset as CKAsset: return .asset(try file(asset))
    case let place as CLLocation:
      return .location(
        Location(
          latitude: place.coordinate.latitude,
          longitude: place.coordinate.longitude,
          altitude: place.altitude,
          horizontalAccuracy: place.horizontalAccuracy,
          verticalAccuracy: place.verticalAccuracy,
          course: place.course,
          speed: place.speed,
          timestamp: place.timestamp == .distantPast ? nil : Timestamp(place.timestamp)
        )
      )
    case let number as NSNumber:
      return ["d", "f"].contains(String(cString: number.objCType))
        ? .double(number.doubleValue) : .int64(number.int64Value)
    case let list as [Any]: return .list(try list.map { try field($0, in: zone) })
    default: throw StubErrors.error(12, "a value of an unknown class")
    }
  }

  private func file(_ asset: CKAsset) throws -> Asset {
    guard let path = asset.fileURL?.path, let data = FileManager.default.contents(atPath: path)
    else { throw StubErrors.error(16, "there is no file") }
    return try upload(data)
  }

  // MARK: To records

  /// A record as the framework gives it to a callback, and the files that are gone after it.
  func record(_ record: Record, ways: StubWays, salt: Int) -> (record: CKRecord, files: [String]) {
    let zone = zoneID(record.recordID.zoneID)
    let id = { (recordID: RecordID) in CKRecord.ID(recordName: recordID.name, zoneID: zone) }
    let result = CKRecord(recordType: record.recordType, recordID: id(record.recordID))
    var files: [String] = []
    let secret = Set(record.encryptedKeys)
    let encrypted = result.encryptedValues
    for field in record.fields {
      let value = held(field.value, zone: zone, files: &files)
      if secret.contains(field.name) {
        encrypted[field.name] = value
      } else {
        result[field.name] = value
      }
    }
    result._setSystemFields(
      changeTag: record.changeTag,
      creationDate: record.creationDate?.date,
      modificationDate: record.modificationDate?.date,
      parent: record.parent.map(id),
      share: record.share.map(id)
    )
    result._listsEncryptedKeys = ways.listsEncryptedKeys
    result._salt = salt
    return (result, files)
  }

  private func held(
    _ value: FieldValue,
    zone: CKRecordZone.ID,
    files: inout [String]
  ) -> (any CKRecordValueProtocol)? {
    switch value {
    case .null, .redacted: return nil
    case .string(let text): return text
    case .int64(let number): return NSNumber(value: number)
    case .double(let number): return NSNumber(value: number)
    case .timestamp(let time): return time.date
    case .data(let data): return data
    case .reference(let reference):
      return CKRecord.Reference(
        recordID: CKRecord.ID(recordName: reference.recordID.name, zoneID: zone),
        action: reference.action == .deleteSelf ? .deleteSelf : .none
      )
    case .asset(let asset): return staged(asset, files: &files)
    case .location(let place):
      return CLLocation(
        coordinate: CLLocationCoordinate2D(
          latitude: place.latitude,
          longitude: place.longitude
        ),
        altitude: place.altitude ?? 0,
        horizontalAccuracy: place.horizontalAccuracy ?? -1,
        verticalAccuracy: place.verticalAccuracy ?? -1,
        course: place.course ?? -1,
        speed: place.speed ?? -1,
        timestamp: place.timestamp?.date ?? .distantPast
      )
    case .list(let values):
      let list = values.compactMap { held($0, zone: zone, files: &files) }
      if let list = list as? [String] { return list }
      if let list = list as? [NSNumber] { return list }
      if let list = list as? [Date] { return list }
      if let list = list as? [Data] { return list }
      if let list = list as? [CKRecord.Reference] { return list }
      if let list = list as? [CKAsset] { return list }
      return list as? [CLLocation]
    }
  }

  /// An asset whose file is a copy that goes away.
  private func staged(_ asset: Asset, files: inout [String]) -> CKAsset {
    let path = "\(staging)/\(StubNames.name())"
    let manager = FileManager.default
    guard
      (try? manager.createDirectory(atPath: staging, withIntermediateDirectories: true)) != nil,
      (try? manager.copyItem(atPath: asset.location, toPath: path)) != nil
    else { return CKAsset._withoutFile }
    files.append(path)
    return CKAsset(fileURL: URL(filePath: path))
  }
}

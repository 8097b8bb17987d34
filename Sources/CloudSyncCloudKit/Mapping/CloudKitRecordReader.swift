#if canImport(CloudKit)
import CloudKit
import CloudSyncAssets
import CloudSyncCore
import Foundation

/// Reads records that CloudKit gives a callback: none of them leaves it.
struct CloudKitRecordReader: Sendable {
  let identifiers: CloudKitIdentifiers
  private let values: CloudKitValueReader

  init(identifiers: CloudKitIdentifiers, assets: AssetCache?) {
    self.identifiers = identifiers
    values = CloudKitValueReader(identifiers: identifiers) { (path) throws(SyncError) in
      guard let path else {
        throw SyncError(.assetNotAvailable, "CloudKit has not downloaded the file of an asset")
      }
      guard let assets else {
        throw SyncError(.assetNotAvailable, "give the handler an AssetCache to keep files in")
      }
      do throws(AssetCacheError) { return try assets.keep(copyOf: path) } catch {
        throw SyncError(.assetNotAvailable, "the file of an asset cannot be kept: \(error.reason)")
      }
    }
  }

  /// The record, whole.
  ///
  /// Fields of kinds that this version does not know are left out, and so never written back.
  ///
  /// - Throws: `assetNotAvailable` if a file of the record cannot be had.
  func read(_ record: CKRecord) throws(SyncError) -> Record {
    let encrypted = record.encryptedValues
    let encryptedNames = encrypted.allKeys().sorted { UTF8Bytes.order($0, $1) < 0 }
    let secret = Set(encryptedNames)
    var fields: [RecordField] = []
    // Whether all names include the encrypted ones is not documented.
    for name in record.allKeys() where !secret.contains(name) {
      let held: (any CKRecordValueProtocol)? = record[name]
      guard let held, let value = try values.read(held) else { continue }
      fields.append(RecordField(name: name, value: value))
    }
    for name in encryptedNames {
      let held: (any CKRecordValueProtocol)? = encrypted[name]
      guard let held, let value = try values.read(held) else { continue }
      fields.append(RecordField(name: name, value: value))
    }
    fields.sort { UTF8Bytes.order($0.name, $1.name) < 0 }
    var result = Record(
      recordType: record.recordType,
      recordID: identifiers.recordID(record.recordID),
      sortedFields: fields,
      changeTag: record.recordChangeTag
    )
    result.encryptedKeys = encryptedNames
    result.parent = record.parent.map { identifiers.recordID($0.recordID) }
    result.share = record.share.map { identifiers.recordID($0.recordID) }
    result.creationDate = record.creationDate.map { Timestamp(inMicrosecondsOf: $0) }
    result.modificationDate = record.modificationDate.map { Timestamp(inMicrosecondsOf: $0) }
    return result
  }

  /// What is to be kept of the record for its next edit; nil if it was never saved.
  func systemFields(of record: CKRecord) -> SystemFields? {
    SystemFieldsCoding.bytes(of: record)
      .map {
        SystemFields(recordID: identifiers.recordID(record.recordID), bytes: $0)
      }
  }
}
#endif

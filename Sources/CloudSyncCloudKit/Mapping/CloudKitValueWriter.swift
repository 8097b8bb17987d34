#if canImport(CloudKit)
import CloudKit
import CloudSyncCore
import CoreLocation
import Foundation

/// Writes values as CloudKit holds them.
struct CloudKitValueWriter: Sendable {
  let identifiers: CloudKitIdentifiers

  /// The value as CloudKit holds it; nil takes the field away.
  ///
  /// - Precondition: ``problem(with:isEncrypted:)`` finds nothing in the value.
  func write(_ value: FieldValue) -> (any CKRecordValueProtocol)? {
    switch value {
    case .null, .redacted: nil
    case .string(let value): value
    case .int64(let value): NSNumber(value: value)
    case .double(let value): NSNumber(value: value)
    case .timestamp(let value): value.date
    case .data(let value): value
    case .reference(let value): write(reference: value)
    case .asset(let value): CKAsset(fileURL: URL(filePath: value.location))
    case .location(let value): CLLocation(value)
    case .list(let values): write(list: values)
    }
  }

  private func write(reference: Reference) -> CKRecord.Reference {
    CKRecord.Reference(
      recordID: identifiers.cloudKitID(reference.recordID),
      action: reference.action == .deleteSelf ? .deleteSelf : .none
    )
  }

  /// A list, whose elements are all of the kind of its first.
  private func write(list values: [FieldValue]) -> any CKRecordValueProtocol {
    switch values.first {
    case .int64: values.compactMap(\.int64Value).map { NSNumber(value: $0) }
    case .double: values.compactMap(\.doubleValue).map { NSNumber(value: $0) }
    case .timestamp: values.compactMap(\.timestampValue).map(\.date)
    case .data: values.compactMap(\.dataValue)
    case .reference: values.compactMap(\.referenceValue).map { write(reference: $0) }
    case .asset:
      values.compactMap(\.assetValue).map { CKAsset(fileURL: URL(filePath: $0.location)) }
    case .location: values.compactMap(\.locationValue).map { CLLocation($0) }
    default: values.compactMap(\.stringValue)
    }
  }
}
#endif

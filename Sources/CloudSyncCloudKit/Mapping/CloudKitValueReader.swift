#if canImport(CloudKit)
import CloudKit
import CloudSyncCore
import CoreLocation
import Foundation

/// Reads values that CloudKit holds.
struct CloudKitValueReader: Sendable {
  let identifiers: CloudKitIdentifiers
  /// Takes over the file of an asset, which the system deletes after the callback.
  let keep: @Sendable (_ path: String?) throws(SyncError) -> Asset

  /// The value; nil if it is of a kind that this version does not know.
  func read(_ value: Any) throws(SyncError) -> FieldValue? {
    if let value = value as? NSNumber { return .number(value) }
    if let value = value as? String { return .string(value) }
    if let value = value as? Date { return .timestamp(Timestamp(inMicrosecondsOf: value)) }
    if let value = value as? Data { return .data(value) }
    if let value = value as? CKRecord.Reference { return .reference(read(reference: value)) }
    if let value = value as? CKAsset { return .asset(try keep(value.fileURL?.path)) }
    if let value = value as? CLLocation { return .location(Location(value)) }
    guard let values = value as? [Any] else { return nil }
    var list: [FieldValue] = []
    list.reserveCapacity(values.count)
    for element in values {
      guard let value = try read(element) else { return nil }
      list.append(value)
    }
    return .list(list)
  }

  private func read(reference: CKRecord.Reference) -> Reference {
    Reference(
      recordID: identifiers.recordID(reference.recordID),
      // What is neither is read as none and, as a value that was not edited, never written back.
      action: reference.action == .deleteSelf ? .deleteSelf : .none
    )
  }
}

extension FieldValue {
  /// A number of the kind that it was made as.
  fileprivate static func number(_ number: NSNumber) -> FieldValue {
    let kind = number.objCType.pointee
    let isDouble = kind == CChar(UInt8(ascii: "d")) || kind == CChar(UInt8(ascii: "f"))
    return isDouble ? .double(number.doubleValue) : .int64(number.int64Value)
  }
}

extension Timestamp {
  /// The microsecond that is nearest to a date: a `Date` has no exact finer parts.
  init(inMicrosecondsOf date: Date) {
    self = Timestamp(date).advanced(byNanoseconds: 500).rounded(toMultipleOf: 1_000)
  }
}
#endif

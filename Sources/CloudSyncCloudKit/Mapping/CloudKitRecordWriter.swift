#if canImport(CloudKit)
import CloudKit
import CloudSyncCore
import Foundation

/// Makes the records that CloudKit is to save: each has the fields of an edit set, and no others, so that its
/// changed keys are the edit.
struct CloudKitRecordWriter: Sendable {
  let identifiers: CloudKitIdentifiers
  private var values: CloudKitValueWriter { CloudKitValueWriter(identifiers: identifiers) }

  /// Why CloudKit cannot take an edit; nil if it can.
  func problem(with edit: Record) -> SyncError? {
    do throws(RecordRuleViolation) {
      try RecordRules.check(edit, zone: identifiers.zoneID)
    } catch {
      if case .size = error.rule { return SyncError(.limitExceeded, "\(error)") }
      return SyncError(.invalidArguments, "\(error)")
    }
    if UTF8Bytes.equal(edit.recordType, RecordRules.shareRecordType) {
      return SyncError(.invalidArguments, "a share is saved by CloudKit's own calls")
    }
    for field in edit.fields {
      let isEncrypted = edit.storage.isEncrypted(field.name)
      if let problem = values.problem(with: field.value, isEncrypted: isEncrypted) {
        return SyncError(.invalidArguments, "\(field.name): \(problem)")
      }
    }
    return nil
  }

  /// A record that is new.
  func newRecord(_ edit: Record) -> CKRecord {
    let record = CKRecord(
      recordType: edit.recordType,
      recordID: identifiers.cloudKitID(edit.recordID)
    )
    apply(edit, to: record)
    return record
  }

  /// Sets an edit's fields in a record.
  func apply(_ edit: Record, to record: CKRecord) {
    let encrypted = record.encryptedValues
    for field in edit.fields {
      let value = values.write(field.value)
      if edit.storage.isEncrypted(field.name) {
        encrypted[field.name] = value
      } else {
        record[field.name] = value
      }
    }
    if let parent = edit.parent { record.setParent(identifiers.cloudKitID(parent)) }
  }
}
#endif

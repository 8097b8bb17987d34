#if canImport(CloudKit)
import CloudKit
import CloudSyncAssets
import CloudSyncCore
import Foundation

/// A modification before it is sent: what can be sent of it, and how.
struct ModifyPlan: Sendable {
  let operation: ModifyOperation
  /// Why items are not sent; looked into, never iterated.
  private(set) var errors: [RecordID: SyncError] = [:]
  /// The system fields of records that have a change tag; looked into, never iterated.
  private(set) var systemFields: [RecordID: Data] = [:]
  /// Records whose system fields are missing, in the order of the request.
  private(set) var unknown: [Record] = []
  /// Those of which the server has told what it knows.
  private var lookedUp: Set<RecordID> = []

  /// Examines a modification.
  ///
  /// - Throws: Why none of it can be sent.
  init(operation: ModifyOperation, writer: CloudKitRecordWriter) throws(SyncError) {
    self.operation = operation
    var names: Set<RecordID> = []
    names.reserveCapacity(operation.itemCount)
    for recordID in operation.itemIDs where !names.insert(recordID).inserted {
      throw SyncError(.invalidArguments, "\(recordID) is in the request twice")
    }
    for record in operation.records {
      errors[record.recordID] = writer.problem(with: record) ?? Self.problem(withFilesOf: record)
    }
    for recordID in operation.recordIDsToDelete {
      do throws(RecordRuleViolation) {
        try RecordRules.check(recordID, zone: writer.identifiers.zoneID)
      } catch { errors[recordID] = SyncError(.invalidArguments, "\(error)") }
    }
  }

  /// The edits that need the system fields of the version they were made from.
  var taggedRecords: [Record] {
    operation.records.filter { $0.changeTag != nil && errors[$0.recordID] == nil }
  }

  /// Takes what a store knows of ``taggedRecords``, in their order.
  mutating func take(stored: [Data?]) {
    for (record, bytes) in zip(taggedRecords, stored) {
      if let bytes, UTF8Bytes.equal(SystemFieldsCoding.changeTag(in: bytes), record.changeTag) {
        systemFields[record.recordID] = bytes
      } else {
        unknown.append(record)
      }
    }
  }

  /// Takes what the server knows of the ``unknown`` records.
  mutating func take(found: [RecordID: CloudKitLookup.Finding]) {
    for record in unknown {
      switch found[record.recordID] {
      case .current(let bytes)?: systemFields[record.recordID] = bytes
      case .other(let server)?:
        errors[record.recordID] = SyncError(
          .serverRecordChanged,
          "the record was changed meanwhile",
          clientRecord: record,
          serverRecord: server
        )
      case .failed(let error)?: errors[record.recordID] = error
      case nil:
        errors[record.recordID] = SyncError(.networkFailure, "CloudKit did not tell of the record")
      }
    }
    lookedUp.formUnion(unknown.map(\.recordID))
    unknown = []
  }

  /// Forgets system fields that cannot be read, or are of another record: they are as good as missing.
  mutating func forget(systemFieldsOf records: [Record]) {
    for record in records {
      systemFields[record.recordID] = nil
      if lookedUp.contains(record.recordID) {
        errors[record.recordID] = SyncError(
          .internalError,
          "what CloudKit gave for \(record.recordID) cannot be read"
        )
      } else {
        unknown.append(record)
      }
    }
  }

  /// What is to be sent: nothing where the request is all or nothing and something is wrong.
  func sendable(isAtomic: Bool) -> ModifyOperation? {
    if errors.isEmpty { return operation }
    if isAtomic { return nil }
    let part = ModifyOperation(
      records: operation.records.filter { errors[$0.recordID] == nil },
      recordIDsToDelete: operation.recordIDsToDelete.filter { errors[$0] == nil }
    )
    return part.itemCount == 0 ? nil : part
  }

  /// What a request is answered with of which nothing was sent.
  func refusal(isAtomic: Bool) -> SyncError {
    let failures = operation.itemIDs.map { recordID in
      ItemFailure(
        recordID,
        errors[recordID]
          ?? SyncError(.batchRequestFailed, "another item of the request cannot be sent")
      )
    }
    return SyncError(.partialFailure, "nothing of the request was sent", itemErrors: failures)
  }

  /// What is wrong with the files of a record's assets.
  private static func problem(withFilesOf record: Record) -> SyncError? {
    for (field, asset) in record.assets {
      let facts = try? FileManager.default.attributesOfItem(atPath: asset.location)
      guard let facts, facts[.type] as? FileAttributeType == .typeRegular else {
        return SyncError(.assetFileNotFound, "the file in \(field) is not at \(asset.location)")
      }
      // The length first: most files that were changed need not be read.
      guard (facts[.size] as? NSNumber)?.int64Value == asset.byteCount,
        let found = try? AssetCache.digest(ofFile: asset.location), found.sha256 == asset.sha256
      else {
        return SyncError(.assetFileModified, "the file in \(field) is not what it was")
      }
    }
    return nil
  }
}

extension ModifyOperation {
  /// The records that are saved and deleted, in the order of the request.
  var itemIDs: [RecordID] { records.map(\.recordID) + recordIDsToDelete }
}
#endif

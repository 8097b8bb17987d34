@_spi(Stub) import CloudKit
import CloudSyncSession
import Foundation

/// What becomes of the items of a modification, and how it is told.
struct StubModification {
  let operation: CKModifyRecordsOperation
  private let ways: StubWays
  private var saved: [String: CKRecord] = [:]
  private var deleted: Set<String> = []
  private var failures: [String: NSError] = [:]

  init(_ operation: CKModifyRecordsOperation, _ ways: StubWays) {
    self.operation = operation
    self.ways = ways
  }

  var hasFailures: Bool { !failures.isEmpty }

  func isOpen(_ id: CKRecord.ID) -> Bool { failures[id.recordName] == nil }

  /// Has items fail.
  mutating func refuse(_ errors: [String: NSError]) {
    for (name, error) in errors { failures[name] = error }
  }

  /// Has all items fail with one error.
  mutating func refuseAll(_ error: NSError) {
    for id in ids { failures[id.recordName] = error }
  }

  private var ids: [CKRecord.ID] {
    operation._recordsToSave.map(\.recordID) + operation._recordIDsToDelete
  }

  /// Takes what the server did.
  mutating func take(
    _ response: ModifyOperation.Response,
    salt: Int,
    zoneID: CKRecordZone.ID,
    server: (Record) -> CKRecord?
  ) {
    var sent: [String: CKRecord] = [:]
    for record in operation._recordsToSave { sent[record.recordID.recordName] = record }
    for record in response.savedRecords {
      guard let original = sent[record.recordID.name] else { continue }
      saved[record.recordID.name] = original.saved(
        as: record,
        ways: ways,
        salt: salt,
        zoneID: zoneID
      )
    }
    deleted.formUnion(response.deletedRecordIDs.map(\.name))
    for failure in response.failures {
      let name = failure.recordID.name
      failures[name] = StubErrors.error(
        failure.error,
        server: failure.error.serverRecord.flatMap(server),
        client: sent[name]
      )
    }
  }

  /// Calls the operation's blocks.
  func tell(fault: StubFault?) {
    var failures = failures
    if operation.isAtomic, !failures.isEmpty {
      for id in ids where failures[id.recordName] == nil {
        failures[id.recordName] = StubErrors.error(22, "another item failed")
      }
    }
    var told = 0
    var limit = Int.max
    if case .failAfter(let items, _)? = fault { limit = items }
    for record in ways.isReversed ? operation._recordsToSave.reversed() : operation._recordsToSave {
      guard told < limit else { break }
      if let saved = saved[record.recordID.recordName] {
        told += 1
        operation.perRecordSaveBlock?(saved.recordID, .success(saved))
      } else if ways.tellsFailuresByItem, let error = failures[record.recordID.recordName] {
        told += 1
        operation.perRecordSaveBlock?(record.recordID, .failure(error))
      }
    }
    for id in operation._recordIDsToDelete {
      guard told < limit else { break }
      if deleted.contains(id.recordName) {
        told += 1
        operation.perRecordDeleteBlock?(id, .success(()))
      } else if ways.tellsFailuresByItem, let error = failures[id.recordName] {
        told += 1
        operation.perRecordDeleteBlock?(id, .failure(error))
      }
    }
    switch fault {
    case .failAfter(_, let error)?, .itemsThenFail(_, let error)?:
      return operation.end(.failure(error))
    default: break
    }
    if failures.isEmpty { return operation.end(.success(())) }
    var items: [AnyHashable: NSError] = [:]
    for id in ids { items[id] = failures[id.recordName] }
    operation.end(.failure(StubErrors.partial(items)))
  }
}

extension CKRecord {
  /// The record as it is after it was saved.
  fileprivate func saved(
    as record: Record,
    ways: StubWays,
    salt: Int,
    zoneID: CKRecordZone.ID
  ) -> CKRecord {
    let result = CKRecord(
      recordType: recordType,
      recordID: CKRecord.ID(recordName: recordID.recordName, zoneID: zoneID)
    )
    for key in allKeys() {
      let value: (any CKRecordValueProtocol)? = self[key]
      result[key] = value
    }
    for key in encryptedValues.allKeys() {
      let value: (any CKRecordValueProtocol)? = encryptedValues[key]
      result.encryptedValues[key] = value
    }
    result._setSystemFields(
      changeTag: record.changeTag,
      creationDate: record.creationDate?.date,
      modificationDate: record.modificationDate?.date,
      parent: parent?.recordID,
      share: share?.recordID
    )
    result._listsEncryptedKeys = ways.listsEncryptedKeys
    result._salt = salt
    return result
  }
}

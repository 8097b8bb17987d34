@_spi(Stub) import CloudKit
import Foundation

extension StubRequest {
  /// What an operation asks for.
  init(_ operation: CKDatabaseOperation) {
    kind = .fetch
    requestTimeout = operation.configuration.timeoutIntervalForRequest
    resourceTimeout = operation.configuration.timeoutIntervalForResource
    qualityOfService = operation.configuration.qualityOfService
    groupName = operation.group?.name
    switch operation {
    case let operation as CKModifyRecordZonesOperation:
      kind = .createZone
      names = operation._zonesToSave.map(\.zoneID.zoneName)
      owner = operation._zonesToSave.first?.zoneID.ownerName
    case let operation as CKFetchRecordZonesOperation:
      kind = .fetchZone
      names = operation._zoneIDs.map(\.zoneName)
      owner = operation._zoneIDs.first?.ownerName
    case let operation as CKModifySubscriptionsOperation:
      kind = .createSubscription
      subscriptionID = operation._subscriptionsToSave.first?._subscriptionID
    case let operation as CKModifyRecordsOperation:
      kind = .modify
      isAtomic = operation.isAtomic
      clientToken = operation.clientChangeTokenData
      names = operation._recordIDsToDelete.map(\.recordName)
      let first = operation._recordsToSave.first?.recordID ?? operation._recordIDsToDelete.first
      owner = first?.zoneID.ownerName
      saves = operation._recordsToSave.map { record in
        Save(
          name: record.recordID.recordName,
          changeTag: record.recordChangeTag,
          changedKeys: (record.changedKeys() + record.encryptedValues.changedKeys()).sorted()
        )
      }
    case let operation as CKFetchRecordsOperation:
      kind = .lookUp
      names = operation._recordIDs.map(\.recordName)
      owner = operation._recordIDs.first?.zoneID.ownerName
    case let operation as CKFetchRecordZoneChangesOperation:
      owner = operation._zoneIDs.first?.ownerName
    default: break
    }
  }
}

extension CKDatabaseOperation {
  /// Calls the block that ends the operation.
  func end(_ result: Result<Void, any Error>) {
    switch self {
    case let operation as CKModifyRecordZonesOperation:
      operation.modifyRecordZonesResultBlock?(result)
    case let operation as CKFetchRecordZonesOperation:
      operation.fetchRecordZonesResultBlock?(result)
    case let operation as CKModifySubscriptionsOperation:
      operation.modifySubscriptionsResultBlock?(result)
    case let operation as CKModifyRecordsOperation: operation.modifyRecordsResultBlock?(result)
    case let operation as CKFetchRecordsOperation: operation.fetchRecordsResultBlock?(result)
    case let operation as CKFetchRecordZoneChangesOperation:
      operation.fetchRecordZoneChangesResultBlock?(result)
    default: preconditionFailure("The stub does not know \(type(of: self)).")
    }
  }
}

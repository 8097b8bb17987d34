import CloudKit
import CoreLocation
import Foundation

// Every declaration that the adapter uses, once, with its type written out. On Linux it compiles against the stub,
// on a Mac against the real frameworks: where the stub is wrong about one, it does not.

/// Containers, databases, zones and accounts.
func containers(_ identifier: String) {
  let container: CKContainer = CKContainer(identifier: identifier)
  let database: CKDatabase = container.privateCloudDatabase
  let shared: CKDatabase = container.sharedCloudDatabase
  let scope: CKDatabase.Scope = database.databaseScope
  let scopes: [CKDatabase.Scope] = [.public, .private, .shared]
  let numbers: [Int] = scopes.map(\.rawValue) + [scope.rawValue, shared.databaseScope.rawValue]
  container.accountStatus { (status: CKAccountStatus, error: (any Error)?) in
    _ = (status.rawValue as Int, error)
  }
  container.fetchUserRecordID { (recordID: CKRecord.ID?, error: (any Error)?) in
    _ = (recordID?.recordName as String?, error)
  }
  let statuses: [CKAccountStatus] = [
    .couldNotDetermine, .available, .restricted, .noAccount, .temporarilyUnavailable,
  ]
  let name: Notification.Name = .CKAccountChanged
  let zoneID: CKRecordZone.ID = CKRecordZone.ID(
    zoneName: "Notes",
    ownerName: CKCurrentUserDefaultName
  )
  let zone: CKRecordZone = CKRecordZone(zoneID: zoneID)
  let texts: [String] = [zone.zoneID.zoneName, zone.zoneID.ownerName]
  _ = (numbers, statuses, name, texts)
}

/// Records and their values.
func records(_ zoneID: CKRecordZone.ID, coder: NSKeyedUnarchiver, archiver: NSKeyedArchiver) {
  let recordID: CKRecord.ID = CKRecord.ID(recordName: "a", zoneID: zoneID)
  let type: CKRecord.RecordType = "Note"
  let key: CKRecord.FieldKey = "title"
  let record: CKRecord = CKRecord(recordType: type, recordID: recordID)
  let decoded: CKRecord? = CKRecord(coder: coder)
  record.encodeSystemFields(with: archiver)
  let names: [String] = [record.recordType, record.recordID.recordName, recordID.zoneID.zoneName]
  let tag: String? = record.recordChangeTag
  let dates: [Date?] = [record.creationDate, record.modificationDate]
  let parent: CKRecord.Reference? = record.parent
  let share: CKRecord.Reference? = record.share
  record.setParent(recordID as CKRecord.ID?)
  let keys: [CKRecord.FieldKey] = record.allKeys() + record.changedKeys()
  let encrypted: any CKRecordKeyValueSetting = record.encryptedValues
  let value: (any CKRecordValueProtocol)? = record[key]
  let text: String? = record[key]
  encrypted[key] = value
  let encryptedKeys: [CKRecord.FieldKey] = encrypted.allKeys() + encrypted.changedKeys()
  let link: CKRecord.Reference = CKRecord.Reference(
    recordID: recordID,
    action: CKRecord.ReferenceAction.none
  )
  let actions: [CKRecord.ReferenceAction] = [link.action, .deleteSelf]
  let target: CKRecord.ID = link.recordID
  let asset: CKAsset = CKAsset(fileURL: URL(filePath: "/a"))
  let file: URL? = asset.fileURL
  let token: CKServerChangeToken? = nil
  let archived: (any NSSecureCoding)? = token
  _ = (decoded, names, tag, dates, parent, share, keys, text, encryptedKeys, actions, target)
  _ = (file, archived)
}

/// Every kind of value, alone and in a list.
func values(_ record: CKRecord, link: CKRecord.Reference, asset: CKAsset, place: CLLocation) {
  let all: [any CKRecordValueProtocol] = [
    "text", NSNumber(value: Int64(1)), NSNumber(value: 1.5), Date.distantPast, Data(), link, asset,
    place, ["text"], [NSNumber(value: 1.5)], [Date.distantPast], [Data()], [link], [asset], [place],
  ]
  for value in all { record["value"] = value }
}

/// Places.
func places() {
  let coordinate: CLLocationCoordinate2D = CLLocationCoordinate2D(
    latitude: 1 as CLLocationDegrees,
    longitude: 2
  )
  let place: CLLocation = CLLocation(
    coordinate: coordinate,
    altitude: 3 as CLLocationDistance,
    horizontalAccuracy: 4 as CLLocationAccuracy,
    verticalAccuracy: 5,
    course: 6 as CLLocationDirection,
    speed: 7 as CLLocationSpeed,
    timestamp: Date.distantPast
  )
  let numbers: [Double] = [
    place.coordinate.latitude, place.coordinate.longitude, place.altitude,
    place.horizontalAccuracy, place.verticalAccuracy, place.course, place.speed,
  ]
  let date: Date = place.timestamp
  _ = (numbers, date)
}

/// What all operations have.
func operations(_ operation: CKDatabaseOperation, database: CKDatabase) {
  let configuration: CKOperation.Configuration = CKOperation.Configuration()
  configuration.qualityOfService = QualityOfService.userInitiated
  configuration.timeoutIntervalForRequest = 60 as TimeInterval
  configuration.timeoutIntervalForResource = 60 as TimeInterval
  configuration.allowsCellularAccess = true
  let plain: CKOperation = operation
  plain.configuration = configuration
  let group: CKOperationGroup = CKOperationGroup()
  group.name = "group" as String?
  plain.group = group as CKOperationGroup?
  database.add(operation)
  plain.cancel()
}

/// Operations on records.
func recordOperations(_ record: CKRecord, zoneID: CKRecordZone.ID, token: CKServerChangeToken?) {
  let modify: CKModifyRecordsOperation = CKModifyRecordsOperation(
    recordsToSave: [record],
    recordIDsToDelete: [record.recordID]
  )
  modify.savePolicy = CKModifyRecordsOperation.RecordSavePolicy.ifServerRecordUnchanged
  modify.isAtomic = false
  modify.clientChangeTokenData = Data() as Data?
  modify.perRecordSaveBlock = { (_: CKRecord.ID, _: Result<CKRecord, any Error>) in }
  modify.perRecordDeleteBlock = { (_: CKRecord.ID, _: Result<Void, any Error>) in }
  modify.modifyRecordsResultBlock = { (_: Result<Void, any Error>) in }
  let lookUp: CKFetchRecordsOperation = CKFetchRecordsOperation(recordIDs: [record.recordID])
  lookUp.perRecordResultBlock = { (_: CKRecord.ID, _: Result<CKRecord, any Error>) in }
  lookUp.fetchRecordsResultBlock = { (_: Result<Void, any Error>) in }
  let configuration: CKFetchRecordZoneChangesOperation.ZoneConfiguration =
    CKFetchRecordZoneChangesOperation.ZoneConfiguration(
      previousServerChangeToken: token,
      resultsLimit: 1 as Int?,
      desiredKeys: nil as [CKRecord.FieldKey]?
    )
  let fetch: CKFetchRecordZoneChangesOperation = CKFetchRecordZoneChangesOperation(
    recordZoneIDs: [zoneID],
    configurationsByRecordZoneID: [zoneID: configuration]
  )
  fetch.fetchAllChanges = false
  fetch.recordWasChangedBlock = { (_: CKRecord.ID, _: Result<CKRecord, any Error>) in }
  fetch.recordWithIDWasDeletedBlock = { (_: CKRecord.ID, _: CKRecord.RecordType) in }
  fetch.recordZoneFetchResultBlock = { (_: CKRecordZone.ID, result) in
    guard let end = try? result.get() else { return }
    let token: CKServerChangeToken = end.serverChangeToken
    let data: Data? = end.clientChangeTokenData
    let hasMore: Bool = end.moreComing
    _ = (token, data, hasMore)
  }
  fetch.fetchRecordZoneChangesResultBlock = { (_: Result<Void, any Error>) in }
}

/// Operations on zones and subscriptions.
func zoneOperations(_ zone: CKRecordZone) {
  let create: CKModifyRecordZonesOperation = CKModifyRecordZonesOperation(
    recordZonesToSave: [zone],
    recordZoneIDsToDelete: nil
  )
  create.perRecordZoneSaveBlock = { (_: CKRecordZone.ID, _: Result<CKRecordZone, any Error>) in }
  create.modifyRecordZonesResultBlock = { (_: Result<Void, any Error>) in }
  let fetch: CKFetchRecordZonesOperation = CKFetchRecordZonesOperation(recordZoneIDs: [zone.zoneID])
  fetch.perRecordZoneResultBlock = { (_: CKRecordZone.ID, _: Result<CKRecordZone, any Error>) in }
  fetch.fetchRecordZonesResultBlock = { (_: Result<Void, any Error>) in }
  let database: CKSubscription = CKDatabaseSubscription(subscriptionID: "a" as CKSubscription.ID)
  let one: CKSubscription = CKRecordZoneSubscription(zoneID: zone.zoneID, subscriptionID: "b")
  let information: CKSubscription.NotificationInfo = CKSubscription.NotificationInfo()
  information.shouldSendContentAvailable = true
  database.notificationInfo = information as CKSubscription.NotificationInfo?
  let subscribe: CKModifySubscriptionsOperation = CKModifySubscriptionsOperation(
    subscriptionsToSave: [database, one],
    subscriptionIDsToDelete: nil
  )
  subscribe.perSubscriptionSaveBlock = {
    (_: CKSubscription.ID, _: Result<CKSubscription, any Error>) in
  }
  subscribe.modifySubscriptionsResultBlock = { (_: Result<Void, any Error>) in }
}

/// Pushes.
func pushes(_ userInfo: [AnyHashable: Any]) {
  let push: CKNotification? = CKNotification(fromRemoteNotificationDictionary: userInfo)
  let subscriptionID: CKSubscription.ID? = push?.subscriptionID
  let scope: CKDatabase.Scope? = (push as? CKDatabaseNotification)?.databaseScope
  let zoneID: CKRecordZone.ID? = (push as? CKRecordZoneNotification)?.recordZoneID
  _ = (subscriptionID, scope, zoneID)
}

/// The names of errors and of what they carry.
func errorNames() -> [String] {
  [
    CKErrorDomain, CKPartialErrorsByItemIDKey, CKErrorRetryAfterKey,
    CKRecordChangedErrorServerRecordKey, CKRecordChangedErrorClientRecordKey,
    CKRecordChangedErrorAncestorRecordKey, CKErrorUserDidResetEncryptedDataKey,
  ]
}

/// CloudKit's codes in the order of their numbers, from 1 on; the last one, 37, needs the systems of 2025.
public func errorCodes() -> [Int] {
  let codes: [CKError.Code] = [
    .internalError, .partialFailure, .networkUnavailable, .networkFailure, .badContainer,
    .serviceUnavailable, .requestRateLimited, .missingEntitlement, .notAuthenticated,
    .permissionFailure, .unknownItem, .invalidArguments, .resultsTruncated, .serverRecordChanged,
    .serverRejectedRequest, .assetFileNotFound, .assetFileModified, .incompatibleVersion,
    .constraintViolation, .operationCancelled, .changeTokenExpired, .batchRequestFailed, .zoneBusy,
    .badDatabase, .quotaExceeded, .zoneNotFound, .limitExceeded, .userDeletedZone,
    .tooManyParticipants, .alreadyShared, .referenceViolation, .managedAccountRestricted,
    .participantMayNeedVerification, .serverResponseLost, .assetNotAvailable,
    .accountTemporarilyUnavailable,
  ]
  return codes.map(\.rawValue)
}

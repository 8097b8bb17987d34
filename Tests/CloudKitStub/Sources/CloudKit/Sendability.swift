// Apple documents these declarations; Declarations.md names the pages.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

#if CLOUDKIT_STUB_SENDABLE
// All of these are @unchecked Sendable because the variant of the stub stands for an SDK that declares them so.
extension CKContainer: @unchecked Sendable {}
// Because of the same.
extension CKDatabase: @unchecked Sendable {}
// Because of the same.
extension CKOperation: @unchecked Sendable {}
// Because of the same.
extension CKOperation.Configuration: @unchecked Sendable {}
// Because of the same.
extension CKOperationGroup: @unchecked Sendable {}
// Because of the same.
extension CKRecordZone: @unchecked Sendable {}
// Because of the same.
extension CKRecordZone.ID: @unchecked Sendable {}
// Because of the same.
extension CKRecord: @unchecked Sendable {}
// Because of the same.
extension CKRecord.ID: @unchecked Sendable {}
// Because of the same.
extension CKRecord.Reference: @unchecked Sendable {}
// Because of the same.
extension CKAsset: @unchecked Sendable {}
// Because of the same.
extension CKServerChangeToken: @unchecked Sendable {}
// Because of the same.
extension CKFetchRecordZoneChangesOperation.ZoneConfiguration: @unchecked Sendable {}
// Because of the same.
extension CKSubscription: @unchecked Sendable {}
// Because of the same.
extension CKSubscription.NotificationInfo: @unchecked Sendable {}
// Because of the same.
extension CKNotification: @unchecked Sendable {}
// Because of the same.
extension CKDatabaseOperation: @unchecked Sendable {}
// Because of the same.
extension CKModifyRecordsOperation: @unchecked Sendable {}
// Because of the same.
extension CKFetchRecordsOperation: @unchecked Sendable {}
// Because of the same.
extension CKFetchRecordZoneChangesOperation: @unchecked Sendable {}
// Because of the same.
extension CKModifyRecordZonesOperation: @unchecked Sendable {}
// Because of the same.
extension CKFetchRecordZonesOperation: @unchecked Sendable {}
// Because of the same.
extension CKModifySubscriptionsOperation: @unchecked Sendable {}
// Because of the same.
extension CKDatabaseSubscription: @unchecked Sendable {}
// Because of the same.
extension CKRecordZoneSubscription: @unchecked Sendable {}
// Because of the same.
extension CKDatabaseNotification: @unchecked Sendable {}
// Because of the same.
extension CKRecordZoneNotification: @unchecked Sendable {}
#endif

// Apple documents these declarations; Declarations.md names the pages.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Foundation

public class CKModifyRecordsOperation: CKDatabaseOperation {
  public enum RecordSavePolicy: Int, Sendable {
    case ifServerRecordUnchanged = 0
    case changedKeys = 1
    case allKeys = 2
  }

  @_spi(Stub) public let _recordsToSave: [CKRecord]
  @_spi(Stub) public let _recordIDsToDelete: [CKRecord.ID]
  public var savePolicy: CKModifyRecordsOperation.RecordSavePolicy = .ifServerRecordUnchanged
  public var isAtomic: Bool = true
  public var clientChangeTokenData: Data?

  public init(recordsToSave: [CKRecord]? = nil, recordIDsToDelete: [CKRecord.ID]? = nil) {
    _recordsToSave = recordsToSave ?? []
    _recordIDsToDelete = recordIDsToDelete ?? []
    super.init()
  }

  #if CLOUDKIT_STUB_SENDABLE
  public var perRecordSaveBlock: (@Sendable (CKRecord.ID, Result<CKRecord, any Error>) -> Void)?
  public var perRecordDeleteBlock: (@Sendable (CKRecord.ID, Result<Void, any Error>) -> Void)?
  public var modifyRecordsResultBlock: (@Sendable (Result<Void, any Error>) -> Void)?
  #else
  public var perRecordSaveBlock: ((CKRecord.ID, Result<CKRecord, any Error>) -> Void)?
  public var perRecordDeleteBlock: ((CKRecord.ID, Result<Void, any Error>) -> Void)?
  public var modifyRecordsResultBlock: ((Result<Void, any Error>) -> Void)?
  #endif
}

public class CKFetchRecordsOperation: CKDatabaseOperation {
  @_spi(Stub) public let _recordIDs: [CKRecord.ID]

  public init(recordIDs: [CKRecord.ID]) {
    _recordIDs = recordIDs
    super.init()
  }

  #if CLOUDKIT_STUB_SENDABLE
  public var perRecordResultBlock: (@Sendable (CKRecord.ID, Result<CKRecord, any Error>) -> Void)?
  public var fetchRecordsResultBlock: (@Sendable (Result<Void, any Error>) -> Void)?
  #else
  public var perRecordResultBlock: ((CKRecord.ID, Result<CKRecord, any Error>) -> Void)?
  public var fetchRecordsResultBlock: ((Result<Void, any Error>) -> Void)?
  #endif
}

public class CKFetchRecordZoneChangesOperation: CKDatabaseOperation {
  public class ZoneConfiguration: NSObject {
    @_spi(Stub) public let _token: CKServerChangeToken?
    @_spi(Stub) public let _limit: Int?

    public init(
      previousServerChangeToken: CKServerChangeToken? = nil,
      resultsLimit: Int? = nil,
      desiredKeys: [CKRecord.FieldKey]? = nil
    ) {
      _token = previousServerChangeToken
      _limit = resultsLimit
      precondition(desiredKeys == nil, "The stub brings whole records.")
    }
  }

  @_spi(Stub) public let _zoneIDs: [CKRecordZone.ID]
  @_spi(Stub) public let _configurations: [CKRecordZone.ID: ZoneConfiguration]
  public var fetchAllChanges: Bool = true

  public init(
    recordZoneIDs: [CKRecordZone.ID]? = nil,
    configurationsByRecordZoneID: [CKRecordZone.ID: CKFetchRecordZoneChangesOperation
      .ZoneConfiguration]? =
      nil
  ) {
    _zoneIDs = recordZoneIDs ?? []
    _configurations = configurationsByRecordZoneID ?? [:]
    super.init()
  }

  #if CLOUDKIT_STUB_SENDABLE
  public var recordWasChangedBlock: (@Sendable (CKRecord.ID, Result<CKRecord, any Error>) -> Void)?
  public var recordWithIDWasDeletedBlock: (@Sendable (CKRecord.ID, CKRecord.RecordType) -> Void)?
  public var recordZoneFetchResultBlock:
    (
      @Sendable (
        CKRecordZone.ID,
        Result<
          (
            serverChangeToken: CKServerChangeToken, clientChangeTokenData: Data?, moreComing: Bool
          ),
          any Error
        >
      ) -> Void
    )?
  public var fetchRecordZoneChangesResultBlock: (@Sendable (Result<Void, any Error>) -> Void)?
  #else
  public var recordWasChangedBlock: ((CKRecord.ID, Result<CKRecord, any Error>) -> Void)?
  public var recordWithIDWasDeletedBlock: ((CKRecord.ID, CKRecord.RecordType) -> Void)?
  public var recordZoneFetchResultBlock:
    (
      (
        CKRecordZone.ID,
        Result<
          (
            serverChangeToken: CKServerChangeToken, clientChangeTokenData: Data?, moreComing: Bool
          ),
          any Error
        >
      ) -> Void
    )?
  public var fetchRecordZoneChangesResultBlock: ((Result<Void, any Error>) -> Void)?
  #endif
}

// Apple documents these declarations; Declarations.md names the pages.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import Foundation

public class CKModifyRecordZonesOperation: CKDatabaseOperation {
  @_spi(Stub) public let _zonesToSave: [CKRecordZone]

  public init(
    recordZonesToSave: [CKRecordZone]? = nil,
    recordZoneIDsToDelete: [CKRecordZone.ID]? = nil
  ) {
    _zonesToSave = recordZonesToSave ?? []
    precondition(recordZoneIDsToDelete == nil, "The stub deletes no zones.")
    super.init()
  }

  #if CLOUDKIT_STUB_SENDABLE
  public var perRecordZoneSaveBlock:
    (@Sendable (CKRecordZone.ID, Result<CKRecordZone, any Error>) -> Void)?
  public var modifyRecordZonesResultBlock: (@Sendable (Result<Void, any Error>) -> Void)?
  #else
  public var perRecordZoneSaveBlock: ((CKRecordZone.ID, Result<CKRecordZone, any Error>) -> Void)?
  public var modifyRecordZonesResultBlock: ((Result<Void, any Error>) -> Void)?
  #endif
}

public class CKFetchRecordZonesOperation: CKDatabaseOperation {
  @_spi(Stub) public let _zoneIDs: [CKRecordZone.ID]

  public init(recordZoneIDs: [CKRecordZone.ID]) {
    _zoneIDs = recordZoneIDs
    super.init()
  }

  #if CLOUDKIT_STUB_SENDABLE
  public var perRecordZoneResultBlock:
    (@Sendable (CKRecordZone.ID, Result<CKRecordZone, any Error>) -> Void)?
  public var fetchRecordZonesResultBlock: (@Sendable (Result<Void, any Error>) -> Void)?
  #else
  public var perRecordZoneResultBlock: ((CKRecordZone.ID, Result<CKRecordZone, any Error>) -> Void)?
  public var fetchRecordZonesResultBlock: ((Result<Void, any Error>) -> Void)?
  #endif
}

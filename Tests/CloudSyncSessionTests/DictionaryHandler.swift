import CloudSyncSession

/// The smallest handler that is of use: a cloud in a dictionary, as a user would write it.
actor DictionaryHandler: AsyncOperationHandler {
  private var records: [RecordID: Record] = [:]

  func createZone(_: CreateZoneOperation, context: RequestContext) -> Bool { true }
  func createSubscription(_: CreateSubscriptionOperation, context: RequestContext) -> Bool { true }
  func modify(_ operation: ModifyOperation, context: RequestContext) -> ModifyOperation.Response {
    for record in operation.records { records[record.recordID] = record }
    for recordID in operation.recordIDsToDelete { records[recordID] = nil }
    return .init(savedRecords: operation.records, deletedRecordIDs: operation.recordIDsToDelete)
  }
  func fetch(_: FetchOperation, context: RequestContext) -> FetchOperation.Response {
    .init(changedRecords: Array(records.values), changeToken: nil)
  }
}

package import CloudSyncCore

/// Conflicts of which the service did not say what it has.
package struct WireConflicts: Sendable {
  private let response: ModifyOperation.Response
  /// The records to look up, all in one request.
  package let recordIDs: [RecordID]

  /// Finds them; nil if there are none.
  package init?(in response: ModifyOperation.Response) {
    self.response = response
    recordIDs = response.failures
      .filter { $0.error.code == .serverRecordChanged && $0.error.serverRecord == nil }
      .map(\.recordID)
    if recordIDs.isEmpty { return nil }
  }

  /// The response with the server's records; one that is gone by now is an unknown item.
  ///
  /// - Parameter lookup: What the look-up brought; after an error the session looks for itself.
  /// - Returns: The response.
  package func resolved(
    by lookup: Result<FetchOperation.Response, SyncError>
  ) -> ModifyOperation.Response {
    guard case .success(let page) = lookup else { return response }
    var records: [RecordID: Record] = [:]
    for record in page.changedRecords { records[record.recordID] = record }
    let gone = Set(page.failures.filter { $0.error.code == .unknownItem }.map(\.recordID))
    let wanted = Set(recordIDs)
    var response = response
    response.historyToken = page.historyToken ?? response.historyToken
    for index in response.failures.indices
    where wanted.contains(response.failures[index].recordID) {
      let recordID = response.failures[index].recordID
      if let record = records[recordID] {
        response.failures[index].error.serverRecord = record
      } else if gone.contains(recordID) {
        response.failures[index].error = SyncError(.unknownItem, "the record was deleted")
      }
    }
    return response
  }
}

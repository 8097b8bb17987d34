package import CloudSyncCore

extension WireModification {
  /// Why the request cannot be sent: an error for each item that the service cannot hold.
  ///
  /// - Parameter format: What the service can hold.
  /// - Returns: The error of a request of which nothing was done; nil if it can be sent.
  package func problem(in format: WireFormat) -> SyncError? {
    var failures: [ItemFailure] = []
    var isSendable = true
    for record in operation.records {
      let problem = record.fields.lazy
        .compactMap { field in format.problem(field.value).map { "\(field.name): \($0)" } }.first
      if problem != nil { isSendable = false }
      failures.append(ItemFailure(record.recordID, Self.error(problem)))
    }
    if isSendable { return nil }
    failures += operation.recordIDsToDelete.map { ItemFailure($0, Self.error(nil)) }
    let message = "values of the request cannot be sent"
    return SyncError(.partialFailure, message, itemErrors: failures)
  }

  private static func error(_ problem: String?) -> SyncError {
    problem.map { SyncError(.invalidArguments, $0) }
      ?? SyncError(.batchRequestFailed, "another item of the request cannot be sent")
  }
}

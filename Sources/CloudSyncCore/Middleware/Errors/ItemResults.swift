/// What a handler said about the items of a request, by record.
struct ItemResults {
  private var saved: [RecordID: Record] = [:]
  private var deleted: Set<RecordID> = []
  private var failures: [RecordID: SyncError] = [:]
  /// An error that every item has.
  private var whole: SyncError?

  /// What was said about one item.
  enum Answer {
    case saved(Record)
    case deleted
    case failed(SyncError)
    /// Nothing was said.
    case none
  }

  init(_ response: ModifyOperation.Response) {
    self.init(failures: response.failures)
    saved.reserveCapacity(response.savedRecords.count)
    for record in response.savedRecords { saved[record.recordID] = record }
    deleted = Set(response.deletedRecordIDs)
  }

  init(failures: [ItemFailure]) {
    self.failures.reserveCapacity(failures.count)
    for failure in failures where self.failures[failure.recordID] == nil {
      self.failures[failure.recordID] = failure.error
    }
  }

  init(whole error: SyncError) { whole = error }

  /// Records that were looked up: those found, and those that could not be.
  init(lookedUp response: FetchOperation.Response) {
    self.init(failures: response.failures)
    for record in response.changedRecords { saved[record.recordID] = record }
    deleted = Set(response.deletedRecordIDs)
  }

  subscript(recordID: RecordID) -> Answer {
    if let whole { return .failed(whole) }
    // A record that is said to be saved and to have failed is taken to have failed: that loses
    // nothing.
    if let error = failures[recordID] { return .failed(error) }
    if let record = saved[recordID] { return .saved(record) }
    return deleted.contains(recordID) ? .deleted : .none
  }
}

extension ModifyOperation {
  /// What became of the records of a request, or of a whole operation.
  ///
  /// A handler answers a request with one; the session announces one for each operation.
  public struct Response: Sendable {
    /// The saved records with their new change tags.
    ///
    /// They hold what was sent, not the whole records: fields that the edit did not touch are
    /// absent. Store what ``recordsToStore(stored:)`` returns. A handler may return them whole or
    /// with the system fields only.
    public var savedRecords: [Record]
    /// The records that are gone from the cloud.
    public var deletedRecordIDs: [RecordID]
    /// The records that failed, in the order of the request.
    ///
    /// In an announcement: those that were parked or given up instead of saved.
    public var failures: [ItemFailure]

    /// Creates a response.
    public init(
      savedRecords: [Record] = [],
      deletedRecordIDs: [RecordID] = [],
      failures: [ItemFailure] = []
    ) {
      self.savedRecords = savedRecords
      self.deletedRecordIDs = deletedRecordIDs
      self.failures = failures
    }

    /// The records of an announced operation that are not in the cloud.
    public var unsaved: [RecordID] { failures.map(\.recordID) }

    /// The saved records as the app is to store them: whole.
    ///
    /// A page has the same method, so one function of the app's can store both.
    ///
    /// - Parameter stored: Gives the record as the app has stored it; nil if it has none.
    /// - Returns: Each saved record, merged into the stored one.
    /// - Throws: What the closure throws.
    public func recordsToStore<Failure: Error>(
      stored: (RecordID) throws(Failure) -> Record?
    ) throws(Failure) -> [Record] {
      try savedRecords.map { (record) throws(Failure) in
        record.merged(into: try stored(record.recordID))
      }
    }
  }
}

extension ModifyOperation.Response: CodedValue {
  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.field("savedRecords", savedRecords)
      $0.field("deletedRecordIDs", deletedRecordIDs)
      $0.field("failures", failures)
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    savedRecords = try reader.field("savedRecords")
    deletedRecordIDs = try reader.field("deletedRecordIDs")
    failures = try reader.field("failures")
    try reader.endObject()
  }
}

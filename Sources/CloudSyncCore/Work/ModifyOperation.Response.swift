extension ModifyOperation {
  /// What became of the records of a request, or of a whole operation.
  ///
  /// A handler answers a request with one; the session announces one for each operation.
  public struct Response: Sendable {
    /// What it holds, behind one reference: on its way to the app a response is copied several times.
    private var contents: CopyOnWrite<Contents>

    private struct Contents: Sendable {
      var savedRecords: [Record]
      var alreadyInCloud: [Record]
      var deletedRecordIDs: [RecordID]
      var failures: [ItemFailure]
      var historyToken: ChangeToken?
    }

    /// The saved records with their new change tags.
    ///
    /// They hold what was sent, not the whole records: fields that the edit did not touch are
    /// absent. Store what ``recordsToStore(stored:)`` returns. A handler may return them whole or
    /// with the system fields only.
    public var savedRecords: [Record] {
      get { contents.value.savedRecords }
      _modify { yield &contents.value.savedRecords }
    }
    /// The records of an announced operation whose edits the cloud had already, as the cloud has them.
    ///
    /// They are whole, and may have edits of others: treat them as records of a page. The response to an
    /// earlier attempt was lost, or somebody else had the same idea. A record that was saved or deleted
    /// is among them if a page has told something else of it since, so that an announcement is never
    /// older than a page before it. Handlers leave the list empty.
    public var alreadyInCloud: [Record] {
      get { contents.value.alreadyInCloud }
      _modify { yield &contents.value.alreadyInCloud }
    }
    /// The records that are gone from the cloud.
    public var deletedRecordIDs: [RecordID] {
      get { contents.value.deletedRecordIDs }
      _modify { yield &contents.value.deletedRecordIDs }
    }
    /// The records that failed, in the order of the request.
    ///
    /// In an announcement: those that were parked or given up instead of saved.
    public var failures: [ItemFailure] {
      get { contents.value.failures }
      _modify { yield &contents.value.failures }
    }
    /// How far the cloud's history has come with this answer, if the handler tells: see ``HistoryKeepingHandler``.
    ///
    /// It is for handlers: neither events nor announcements have it.
    public var historyToken: ChangeToken? {
      get { contents.value.historyToken }
      _modify { yield &contents.value.historyToken }
    }

    /// Creates a response.
    public init(
      savedRecords: [Record] = [],
      deletedRecordIDs: [RecordID] = [],
      failures: [ItemFailure] = [],
      alreadyInCloud: [Record] = []
    ) {
      contents = CopyOnWrite(
        Contents(
          savedRecords: savedRecords,
          alreadyInCloud: alreadyInCloud,
          deletedRecordIDs: deletedRecordIDs,
          failures: failures
        )
      )
    }

    /// The identifiers of the records that are in the cloud by this answer: saved, or there already.
    ///
    /// None of them has gone although no page of a fetch of everything names it that goes on meanwhile.
    public var namedRecordIDs: [RecordID] {
      savedRecords.map(\.recordID) + alreadyInCloud.map(\.recordID)
    }
    /// The records of an announced operation that are not in the cloud.
    public var unsaved: [RecordID] { failures.map(\.recordID) }

    /// The saved records as the app is to store them: whole.
    ///
    /// A page has the same method, so one function of the app's can store both.
    ///
    /// - Parameter stored: Gives the record as the app has stored it; nil if it has none.
    /// - Returns: Each saved record, merged into the stored one, and those that the cloud had already.
    /// - Throws: What the closure throws.
    public func recordsToStore<Failure: Error>(
      stored: (RecordID) throws(Failure) -> Record?
    ) throws(Failure) -> [Record] {
      let saved = try savedRecords.map { (record) throws(Failure) in
        record.merged(into: try stored(record.recordID))
      }
      return saved + alreadyInCloud
    }

    /// How many records the cloud has as they were submitted.
    package var doneCount: Int {
      savedRecords.count + alreadyInCloud.count + deletedRecordIDs.count
    }
  }
}

extension ModifyOperation.Response: HistoryAnswer {}

extension ModifyOperation.Response: CodedStruct {
  package init<C: FieldCoder<Self>>(fields coder: inout C) throws(C.Failure) {
    self.init(
      savedRecords: try coder.field("savedRecords") { $0.savedRecords },
      deletedRecordIDs: try coder.field("deletedRecordIDs") { $0.deletedRecordIDs },
      failures: try coder.field("failures") { $0.failures },
      alreadyInCloud: try coder.field("alreadyInCloud") { $0.alreadyInCloud }
    )
  }
}

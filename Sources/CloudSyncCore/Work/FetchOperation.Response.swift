extension FetchOperation {
  /// One page of changes.
  public struct Response: Sendable {
    /// The changed records, whole: a field that is absent is absent in the cloud.
    public var changedRecords: [Record]
    /// The deleted records, with their types where the server tells them.
    public var deletedRecords: [DeletedRecord]
    /// Records of the page that could not be read or that break a rule; the page counts all the same.
    ///
    /// No later page brings such a record until it changes again: look it up.
    public var failures: [ItemFailure]
    /// Where the next fetch begins: store it with the records of the page, never before them.
    public var changeToken: ChangeToken?
    /// How far the cloud's history had come with this answer, if the handler tells: see ``HistoryKeepingHandler``.
    ///
    /// It is for handlers: neither events nor announcements have it.
    public var historyToken: ChangeToken?
    /// Whether more pages follow.
    public var hasMore: Bool
    /// Whether this page belongs to a run that began from nothing: after its last page, whatever
    /// was synchronized before and was not in any page is gone from the cloud.
    ///
    /// Set by the session; a handler may set it when the cloud itself began anew.
    public var startedOver: Bool
    /// Whether this page is where its run begins from nothing, or does so again because the zone or
    /// the token was lost: what earlier pages brought counts no more; set by the session.
    public package(set) var isBeginning: Bool
    /// The token that the page continues from, or nil where it is a beginning; set by the session.
    ///
    /// Where several sessions fetch into one store, a page whose token is to be stored has to continue from
    /// the token that is stored: between the two there may be changes that this session has not fetched.
    public package(set) var previousToken: ChangeToken?
    /// The name of the page, for ``CloudSyncSession/acknowledge(_:_:)``; set by the session.
    public var page: PageID

    /// Creates a page.
    public init(
      changedRecords: [Record] = [],
      deletedRecords: [DeletedRecord] = [],
      failures: [ItemFailure] = [],
      changeToken: ChangeToken?,
      hasMore: Bool = false,
      startedOver: Bool = false
    ) {
      self.changedRecords = changedRecords
      self.deletedRecords = deletedRecords
      self.failures = failures
      self.changeToken = changeToken
      self.hasMore = hasMore
      self.startedOver = startedOver
      isBeginning = false
      previousToken = nil
      page = PageID(number: 0)
    }

    /// Whether it is the last page of its run.
    public var isLast: Bool { !hasMore }
    /// The identifiers of the deleted records.
    public var deletedRecordIDs: [RecordID] { deletedRecords.map(\.recordID) }
    /// The identifiers of all records that the page names: changed, deleted, or not to be read.
    ///
    /// What no page of a fetch of everything has named is gone from the cloud; a record that could not
    /// be read is not, and is asked for with ``FetchOperation/init(lookingUp:)``.
    public var namedRecordIDs: [RecordID] {
      changedRecords.map(\.recordID) + deletedRecordIDs + failures.map(\.recordID)
    }
    /// The changed records as the app is to store them: as they are, for they are whole.
    ///
    /// A completion has the same method, which merges what was saved into what is stored; so one
    /// function of the app's can store both.
    ///
    /// - Parameter stored: Not called.
    /// - Returns: The changed records.
    /// - Throws: Nothing of its own; the signature is that of a completion.
    public func recordsToStore<Failure: Error>(
      stored: (RecordID) throws(Failure) -> Record?
    ) throws(Failure) -> [Record] { changedRecords }
    /// What the other fetches are told that end with this page: nothing new.
    var completion: Self {
      // Not "started over": an app would take an empty page of that kind for an empty cloud.
      var empty = Self(changeToken: changeToken)
      empty.previousToken = changeToken
      empty.page = page
      return empty
    }
    /// Whether the page brings anything.
    public var isEmpty: Bool {
      changedRecords.isEmpty && deletedRecords.isEmpty && failures.isEmpty
    }
  }
}

/// A record that is gone from the cloud.
public struct DeletedRecord: Sendable {
  /// The record.
  public var recordID: RecordID
  /// Its type, where the server tells it.
  public var recordType: String?

  /// Creates a deletion.
  public init(recordID: RecordID, recordType: String? = nil) {
    self.recordID = recordID
    self.recordType = recordType
  }
}

/// The name of a fetched page, counted over the life of a state, restarts included: a page whose number
/// is not above that of the last stored one is announced again and need not be stored.
public struct PageID: Sendable {
  /// The number, counting from 1.
  public let number: UInt64

  /// Creates a name.
  public init(number: UInt64) { self.number = number }
}

/// What the app did with a page.
public enum PageAnswer: Int, Sendable, CaseIterable {
  /// It is stored, with its token: the next page may come.
  case stored
  /// It could not be stored now: the session offers it again after a growing wait.
  case notNow

  package static let codedNames: [StaticString] = ["stored", "notNow"]
}

extension FetchOperation.Response: HistoryAnswer {}

extension FetchOperation.Response: CodedValue {
  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.field("changedRecords", changedRecords)
      $0.field("deletedRecords", deletedRecords)
      $0.field("failures", failures)
      $0.field("changeToken", changeToken)
      $0.field("hasMore", hasMore)
      $0.field("startedOver", startedOver)
      $0.field("isBeginning", isBeginning)
      $0.field("previousToken", previousToken)
      $0.field("page", page.number)
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    changedRecords = try reader.field("changedRecords")
    deletedRecords = try reader.field("deletedRecords")
    failures = try reader.field("failures")
    changeToken = try reader.field("changeToken")
    hasMore = try reader.field("hasMore")
    startedOver = try reader.field("startedOver")
    isBeginning = try reader.field("isBeginning")
    previousToken = try reader.field("previousToken")
    page = PageID(number: try reader.field("page"))
    try reader.endObject()
  }
}

extension DeletedRecord: CodedStruct {
  package init<C: FieldCoder<Self>>(fields coder: inout C) throws(C.Failure) {
    recordID = try coder.field("recordID") { $0.recordID }
    recordType = try coder.field("recordType") { $0.recordType }
  }
}

extension PageID: CodedValue {
  package func write<W: CodedWriter>(to writer: inout W) { writer.write(number) }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    number = try reader.readUInt64()
  }
}

extension PageAnswer: CodedTag {}

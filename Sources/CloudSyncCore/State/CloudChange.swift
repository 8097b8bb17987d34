/// What the cloud has now of some records, after a page of a fetch, a modification that has ended or a parked record that
/// got through.
///
/// A storage layer that keeps what the cloud has stores each change in one transaction, in the order in which
/// ``CloudSyncSession/cloudChangesSubject`` publishes them. What was not published yet of the user's edits is in
/// ``SyncState/unsentEdits``.
public struct CloudChange: Sendable {
  /// What is saved, in the cloud already, or gone.
  private let outcome: ModifyOperation.Response
  /// Records that the cloud has no more.
  public var deletedRecordIDs: [RecordID] { outcome.deletedRecordIDs }
  /// Records that the change tells of in whatever way: also those of a page that could not be read.
  public private(set) var namedRecordIDs: [RecordID] = []
  /// Records of a page that could not be read, and are as stored, or not at all.
  ///
  /// No later page brings them until they change: ask for them with ``FetchOperation/init(lookingUp:)``.
  public private(set) var unreadRecordIDs: [RecordID] = []
  /// Where the next fetch begins; nil if what is stored stays.
  public private(set) var changeToken: ChangeToken?
  /// Whether a fetch of everything begins with this page: what was named before counts no more.
  public private(set) var isBeginning = false
  /// Whether a fetch of everything ends with this page.
  ///
  /// What the cloud had then, and no change has named since the beginning, is gone from the cloud.
  public private(set) var isEnd = false

  init(_ page: FetchOperation.Response) {
    outcome = ModifyOperation.Response(telling: page.told)
    namedRecordIDs = page.namedRecordIDs
    unreadRecordIDs = page.failures.filter { $0.error.code != .unknownItem }.map(\.recordID)
    changeToken = page.changeToken
    isBeginning = page.isBeginning
    isEnd = page.startedOver && page.isLast
  }

  /// Nil if nothing of it is in the cloud.
  init?(_ response: ModifyOperation.Response) {
    guard response.doneCount > 0 else { return nil }
    outcome = response
    namedRecordIDs = response.namedRecordIDs + response.deletedRecordIDs
  }

  /// Nil if the cloud has not changed.
  init?(_ change: ParkedChange) {
    guard change.isDone else { return nil }
    outcome = ModifyOperation.Response(telling: [change])
    namedRecordIDs = [change.recordID]
  }

  /// The records that the cloud has, as they are to be stored: whole.
  ///
  /// - Parameter stored: Gives a record as it is stored; nil if there is none. What was sent is merged into it.
  /// - Returns: The records, which replace those that are stored.
  /// - Throws: What the closure throws.
  public func recordsToStore<Failure: Error>(
    stored: (RecordID) throws(Failure) -> Record?
  ) throws(Failure) -> [Record] {
    try outcome.recordsToStore(stored: stored)
  }
}

extension ModifyOperation.Response {
  /// A response that tells the same.
  fileprivate init(telling changes: [ParkedChange]) {
    var endings = OperationEndings()
    for change in changes { endings.add(change) }
    self = endings.answered
  }
}

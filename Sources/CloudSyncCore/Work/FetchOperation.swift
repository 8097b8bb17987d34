/// A wish for the changes since a token.
///
/// A fetch runs page by page until the cloud has no more. Fetches asked for while one is running
/// wait, and one further run answers all of them; it begins where the present one ended, whatever
/// token they carry.
public struct FetchOperation: Sendable, Identifiable {
  /// The name that `fetch(_:)` gave it; ``OperationID/unassigned`` before.
  public var id: OperationID
  /// Where to begin; nil to go on where the session's last fetch ended, or, when it has made none,
  /// at the beginning.
  public var changeToken: ChangeToken?
  /// Whether to fetch everything from the beginning, whatever the token: the only way to do so.
  public var startingOver: Bool
  /// The records to look up, instead of changes; empty in a usual fetch.
  ///
  /// A handler answers such a request with these records as they are now, a failure with
  /// `unknownItem` for each that does not exist, and no change token. The session makes such requests
  /// too, for conflicts of which the cloud did not say what it has.
  public var recordIDs: [RecordID] {
    didSet { isLookup = isLookup || !recordIDs.isEmpty }
  }
  /// Whether records are looked up, instead of changes fetched; a look-up of no records is one too.
  public private(set) var isLookup: Bool

  /// Creates a fetch of changes.
  public init(changeToken: ChangeToken? = nil, startingOver: Bool = false) {
    id = .unassigned
    self.changeToken = changeToken
    self.startingOver = startingOver
    recordIDs = []
    isLookup = false
  }

  /// Creates a look-up of single records, as for those that a page could not bring.
  ///
  /// It is answered by one page of its own, without a change token, whose failures tell what could
  /// not be had; `unknownItem` means that there is no such record. It is made also while the zone is
  /// lost and the app has not decided, and fails then while there is none. Name at most as many records as the
  /// handler's limit of items. A look-up of no records completes at once, with a page that has nothing,
  /// and no handler is asked.
  ///
  /// - Parameter recordIDs: The records, of the session's zone.
  public init(lookingUp recordIDs: [RecordID]) {
    self.init()
    self.recordIDs = recordIDs
    isLookup = true
  }
}

extension FetchOperation: CodedValue {
  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.field("id", id)
      $0.field("changeToken", changeToken)
      $0.field("startingOver", startingOver)
      $0.field("recordIDs", isLookup ? recordIDs : nil)
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    id = try reader.field("id")
    changeToken = try reader.field("changeToken")
    startingOver = try reader.field("startingOver")
    let lookedUp: [RecordID]? = try reader.field("recordIDs")
    try reader.endObject()
    recordIDs = lookedUp ?? []
    isLookup = lookedUp != nil
  }
}

/// How far the present run of work has come: what is counted, and what is only known to come.
///
/// A run begins with the first operation that is submitted while the session has no work, and ends
/// when it has none again. The numbers of a run that has ended stay until the next begins.
public struct SyncProgress: Sendable {
  /// Records submitted for saving or deletion.
  public var submitted = 0
  /// Of these, records that are saved or deleted.
  public var done = 0
  /// Of these, records that were parked or given up.
  public var notDone = 0
  /// Pages fetched in this run.
  public var fetchedPages = 0
  /// Changed and deleted records in these pages.
  public var fetchedRecords = 0
  /// Whether the cloud has said that more pages follow; how many, nobody knows.
  public var isMoreToFetch = false

  /// Creates the progress of a session that has done nothing.
  public init() {}

  /// Records that are submitted and neither done nor given up.
  public var waiting: Int { submitted - done - notDone }

  /// Tells whether two sessions have come equally far.
  public static func == (lhs: Self, rhs: Self) -> Bool {
    lhs.submitted == rhs.submitted && lhs.done == rhs.done && lhs.notDone == rhs.notDone
      && lhs.fetchedPages == rhs.fetchedPages && lhs.fetchedRecords == rhs.fetchedRecords
      && lhs.isMoreToFetch == rhs.isMoreToFetch
  }
}

extension SyncProgress: CodedStruct {
  package init<C: FieldCoder<Self>>(fields coder: inout C) throws(C.Failure) {
    submitted = try coder.amount("submitted") { $0.submitted }
    done = try coder.amount("done") { $0.done }
    notDone = try coder.amount("notDone") { $0.notDone }
    fetchedPages = try coder.amount("fetchedPages") { $0.fetchedPages }
    fetchedRecords = try coder.amount("fetchedRecords") { $0.fetchedRecords }
    isMoreToFetch = try coder.field("isMoreToFetch") { $0.isMoreToFetch }
  }
}

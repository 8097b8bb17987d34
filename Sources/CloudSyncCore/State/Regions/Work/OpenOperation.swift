/// An operation that has begun to travel: some of its records are, or were, in the batch.
package struct OpenOperation: Sendable {
  package let operation: ModifyOperation
  /// The operation's number, at hand because operations are searched by it.
  package let number: UInt64
  /// How many of its records are neither saved, deleted nor parked.
  package var left: Int
  /// Whether some of it was given up: it then ends as failed.
  package var wasGivenUp = false
  /// What became of the others.
  private var endings = OperationEndings()

  package init(_ operation: ModifyOperation) {
    self.operation = operation
    number = operation.id.number
    left = operation.itemCount
  }

  /// What became of its parked records meanwhile: to be announced after the operation itself.
  package var followUps: PersistentQueue<ParkedChange> {
    endings.followUps
  }

  /// Whether anything became of its parked records meanwhile.
  package var hasFollowUps: Bool { endings.hasFollowUps }

  /// How many of its records the cloud has as they were submitted.
  package var doneCount: Int { endings.doneCount }

  /// Notes how one of its records ended.
  package mutating func add(_ ending: ParkedChange) { endings.add(ending) }

  package mutating func addFailure(_ failure: ItemFailure) { endings.addFailure(failure) }

  /// Notes what became of a parked record meanwhile.
  package mutating func addFollowUp(_ followUp: ParkedChange) {
    endings.addFollowUp(followUp)
  }

  /// Has a page that comes before the announcement stand for what was answered of its records: an app
  /// that stores the one and then the other would go back to what is older.
  mutating func overtake(by page: PageContents) { endings.overtake(by: page) }

  /// Whether a page tells something else of its records than was answered.
  func isOvertaken(by page: PageContents) -> Bool { endings.isOvertaken(by: page) }

  /// The outcome with all its parts.
  package var response: ModifyOperation.Response { endings.response }
}

extension OpenOperation: CodedValue {
  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.field("operation", operation)
      $0.field("left", left)
      $0.field("outcome", response)
      $0.field("wasGivenUp", wasGivenUp)
      $0.field("followUps", followUps)
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    operation = try reader.field("operation")
    number = operation.id.number
    left = try reader.amount("left")
    let outcome: ModifyOperation.Response = try reader.field("outcome")
    wasGivenUp = try reader.field("wasGivenUp")
    let followUps: PersistentQueue<ParkedChange> = try reader.field("followUps")
    try reader.endObject()
    endings = OperationEndings(outcome, followUps: followUps)
  }
}

/// What became of an operation's records.
private struct OperationEndings: Sendable {
  /// The records that are saved, or in the cloud already, or gone, if any; of a large operation the
  /// latest.
  private var outcome: ModifyOperation.Response?
  /// What few operations have.
  private var further: CopyOnWrite<Further>?

  private struct Further: Sendable {
    /// The records that are parked or were given up.
    ///
    /// A queue, as that of the follow-ups: many may come one by one, while somebody keeps each state.
    var failures = PersistentQueue<ItemFailure>()
    /// The saved records of a large operation, in parts: appending to one long array would copy it
    /// whenever somebody keeps an earlier state.
    var earlierSaved: [[Record]] = []
    /// What became of its parked records meanwhile.
    var followUps = PersistentQueue<ParkedChange>()
  }

  private static let partSize = 256

  init() {}

  /// What a response and the follow-ups tell.
  init(_ response: ModifyOperation.Response, followUps: PersistentQueue<ParkedChange>) {
    outcome = ModifyOperation.Response(
      deletedRecordIDs: response.deletedRecordIDs,
      alreadyInCloud: response.alreadyInCloud
    )
    for record in response.savedRecords { addSaved(record) }
    for failure in response.failures { addFailure(failure) }
    for followUp in followUps { addFollowUp(followUp) }
  }

  var followUps: PersistentQueue<ParkedChange> { further?.value.followUps ?? PersistentQueue() }

  var hasFollowUps: Bool { further.map { !$0.value.followUps.isEmpty } ?? false }

  var doneCount: Int {
    (outcome?.doneCount ?? 0) + (further?.value.earlierSaved.reduce(0) { $0 + $1.count } ?? 0)
  }

  mutating func add(_ ending: ParkedChange) {
    switch ending {
    case .saved(let record): addSaved(record)
    case .alreadyInCloud(let record):
      makeOutcome()
      outcome?.alreadyInCloud.append(record)
    case .deleted(let recordID):
      makeOutcome()
      outcome?.deletedRecordIDs.append(recordID)
    case .refused(let recordID, let error), .dropped(let recordID, let error):
      addFailure(ItemFailure(recordID, error))
    }
  }

  mutating func addFailure(_ failure: ItemFailure) {
    makeFurther()
    further?.value.failures.append(failure)
  }

  mutating func addFollowUp(_ followUp: ParkedChange) {
    makeFurther()
    further?.value.followUps.append(followUp)
  }

  private mutating func addSaved(_ record: Record) {
    guard let saved = outcome?.savedRecords.count, saved > 0 else {
      // An array of one costs less to make than one that grows.
      if outcome == nil {
        outcome = ModifyOperation.Response(savedRecords: [record])
      } else {
        outcome?.savedRecords = [record]
      }
      return
    }
    if saved == Self.partSize, let full = outcome?.savedRecords {
      makeFurther()
      further?.value.earlierSaved.append(full)
      outcome?.savedRecords = [record]
    } else {
      outcome?.savedRecords.append(record)
    }
  }

  /// Whether a page tells something else of a record than was answered before.
  func isOvertaken(by page: PageContents) -> Bool {
    if followUps.contains(where: page.overtakes) { return true }
    guard let outcome else { return false }
    return outcome.savedRecords.contains { page.overtakes(.saved($0)) }
      || outcome.alreadyInCloud.contains { page.overtakes(.alreadyInCloud($0)) }
      || outcome.deletedRecordIDs.contains { page.overtakes(.deleted($0)) }
      || further?.value.earlierSaved.contains { $0.contains { page.overtakes(.saved($0)) } } == true
  }

  /// Has what a page tells stand for what was answered before.
  mutating func overtake(by page: PageContents) {
    let answered = response
    var present = OperationEndings()
    for record in answered.savedRecords { present.add(page.present(.saved(record))) }
    for record in answered.alreadyInCloud { present.add(page.present(.alreadyInCloud(record))) }
    for recordID in answered.deletedRecordIDs { present.add(page.present(.deleted(recordID))) }
    for failure in answered.failures { present.addFailure(failure) }
    for followUp in followUps { present.addFollowUp(page.present(followUp)) }
    self = present
  }

  private mutating func makeOutcome() {
    if outcome == nil { outcome = ModifyOperation.Response() }
  }

  private mutating func makeFurther() {
    if further == nil { further = CopyOnWrite(Further()) }
  }

  /// The outcome with all its parts.
  var response: ModifyOperation.Response {
    guard let further = further?.value else { return outcome ?? ModifyOperation.Response() }
    var whole = outcome ?? ModifyOperation.Response()
    whole.failures = Array(further.failures)
    whole.savedRecords = further.earlierSaved.flatMap(\.self) + whole.savedRecords
    return whole
  }
}

/// An operation that has begun to travel: some of its records are, or were, in the batch.
package struct OpenOperation: Sendable {
  package var operation: ModifyOperation
  /// How many of its records are neither saved, deleted nor parked.
  package var left: Int
  /// What became of the others, but for failures.
  package var outcome = ModifyOperation.Response()
  /// The records that are parked or were given up.
  ///
  /// A queue, as that of the follow-ups: many may come one by one, while somebody keeps each state.
  private var failures = PersistentQueue<ItemFailure>()
  /// The saved records of a large operation, in parts: appending to one long array would copy it
  /// whenever somebody keeps an earlier state.
  package var earlierSaved: [[Record]] = []
  /// Whether some of it was given up: it then ends as failed.
  package var wasGivenUp = false
  /// What became of its parked records meanwhile: to be announced after the operation itself.
  package var followUps = PersistentQueue<ParkedChange>()

  package init(_ operation: ModifyOperation) {
    self.operation = operation
    left = operation.itemCount
  }

  package var number: UInt64 { operation.id.number }

  private static let partSize = 256

  package mutating func addSaved(_ record: Record) {
    if outcome.savedRecords.count == Self.partSize {
      earlierSaved.append(outcome.savedRecords)
      outcome.savedRecords.removeAll()
    }
    outcome.savedRecords.append(record)
  }

  /// Notes how one of its records ended.
  package mutating func add(_ ending: ParkedChange) {
    switch ending {
    case .saved(let record): addSaved(record)
    case .alreadyInCloud(let record): outcome.alreadyInCloud.append(record)
    case .deleted(let recordID): outcome.deletedRecordIDs.append(recordID)
    case .refused(let recordID, let error), .dropped(let recordID, let error):
      addFailure(ItemFailure(recordID, error))
    }
  }

  package mutating func addFailure(_ failure: ItemFailure) { failures.append(failure) }

  /// The outcome with all its parts.
  package var response: ModifyOperation.Response {
    if earlierSaved.isEmpty, failures.isEmpty { return outcome }
    var whole = outcome
    whole.failures = Array(failures)
    whole.savedRecords = earlierSaved.flatMap(\.self) + outcome.savedRecords
    return whole
  }
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
    left = try reader.amount("left")
    outcome = try reader.field("outcome")
    wasGivenUp = try reader.field("wasGivenUp")
    followUps = try reader.field("followUps")
    try reader.endObject()
    failures = PersistentQueue(outcome.failures)
    outcome.failures = []
    let records = outcome.savedRecords
    outcome.savedRecords = []
    for record in records { addSaved(record) }
  }
}

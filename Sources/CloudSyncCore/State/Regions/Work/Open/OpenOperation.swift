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
  package var followUps: PersistentQueue<ParkedChange> { endings.presentFollowUps }

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

  /// Has what a page tells stand for what was answered of a record, as the page is announced before: an
  /// app that stores the one and then the other would go back to what is older.
  mutating func overtake(by change: ParkedChange) { endings.overtake(by: change) }

  /// What was answered of its records since this was last asked, as it is known now.
  mutating func takeUnindexedAnswers() -> [ParkedChange] { endings.takeUnindexed() }

  /// What was answered of its records until ``takeUnindexedAnswers()`` was last asked, as it is known now.
  var indexedAnswers: [ParkedChange] { endings.indexed }

  /// What the cloud has of its records, those included that were parked, as it is known now.
  package var settled: [ParkedChange] { endings.settled }

  /// The outcome with all its parts.
  package var response: ModifyOperation.Response { endings.present }
}

extension OpenOperation: CodedValue {
  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.field("operation", operation)
      $0.field("left", left)
      $0.field("outcome", endings.answered)
      $0.field("wasGivenUp", wasGivenUp)
      $0.field("followUps", endings.followUps)
      $0.field("overtaken", endings.overtaken)
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
    let overtaken: [ParkedChange] = try reader.field("overtaken")
    try reader.endObject()
    endings = OperationEndings(outcome, followUps: followUps, overtaken: overtaken)
  }
}

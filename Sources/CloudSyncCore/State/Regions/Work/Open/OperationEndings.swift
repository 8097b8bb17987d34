/// What became of an operation's records.
///
/// What was answered is only added to, and stays as it was answered; what pages tell of it later lies
/// beside it until the announcement is made. So a page costs what it tells, however large the operation is.
struct OperationEndings: Sendable {
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
    /// The saved records of a large operation, in full parts: appending to one long array would copy it
    /// whenever somebody keeps an earlier state.
    var earlierSaved: [[Record]] = []
    /// What became of its parked records meanwhile.
    var followUps = PersistentQueue<ParkedChange>()
    /// What pages have told since of records that were answered.
    var overtaken = PersistentSortedMap<RecordID, ParkedChange>()
    /// How far the responses are indexed.
    var indexed = Places()
  }

  /// How many answers there are of each kind: the end of a list that only grows.
  private struct Places: Equatable {
    var saved = 0
    var alreadyInCloud = 0
    var deleted = 0
    var followUps = 0
  }

  private static let partSize = 256

  init() {}

  /// What a response, the follow-ups and later pages tell.
  init(
    _ response: ModifyOperation.Response,
    followUps: PersistentQueue<ParkedChange>,
    overtaken: [ParkedChange]
  ) {
    outcome = ModifyOperation.Response(
      deletedRecordIDs: response.deletedRecordIDs,
      alreadyInCloud: response.alreadyInCloud
    )
    for record in response.savedRecords { addSaved(record) }
    for failure in response.failures { addFailure(failure) }
    for followUp in followUps { addFollowUp(followUp) }
    for change in overtaken { overtake(by: change) }
  }

  // MARK: Adding

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

  /// Notes what a page tells of a record that was answered.
  mutating func overtake(by change: ParkedChange) {
    makeFurther()
    further?.value.overtaken[change.recordID] = change
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

  private mutating func makeOutcome() {
    if outcome == nil { outcome = ModifyOperation.Response() }
  }

  private mutating func makeFurther() {
    if further == nil { further = CopyOnWrite(Further()) }
  }

  // MARK: Reading

  /// What became of parked records, as it was answered.
  var followUps: PersistentQueue<ParkedChange> { further?.value.followUps ?? PersistentQueue() }

  var hasFollowUps: Bool { further.map { !$0.value.followUps.isEmpty } ?? false }

  /// What pages have told since, in the order of the records.
  var overtaken: [ParkedChange] { further?.value.overtaken.values ?? [] }

  var doneCount: Int {
    (outcome?.doneCount ?? 0) + (further?.value.earlierSaved.reduce(0) { $0 + $1.count } ?? 0)
  }

  /// The outcome with all its parts, as it was answered.
  var answered: ModifyOperation.Response {
    guard let further = further?.value else { return outcome ?? ModifyOperation.Response() }
    var whole = outcome ?? ModifyOperation.Response()
    whole.failures = Array(further.failures)
    whole.savedRecords = further.earlierSaved.flatMap(\.self) + whole.savedRecords
    return whole
  }

  /// The outcome with all its parts, as it is known now.
  var present: ModifyOperation.Response {
    // Mostly there is no more: then nothing else is looked at.
    guard let further else { return outcome ?? ModifyOperation.Response() }
    let overtaken = further.value.overtaken
    if overtaken.isEmpty { return answered }
    var all = OperationEndings()
    for answer in answers(from: Places(), to: places) where answer.source == .outcome {
      all.add(overtaken[answer.change.recordID] ?? answer.change)
    }
    var response = all.answered
    response.failures = answered.failures
    return response
  }

  /// What became of parked records, as it is known now.
  var presentFollowUps: PersistentQueue<ParkedChange> {
    guard let overtaken = further?.value.overtaken, !overtaken.isEmpty else { return followUps }
    return PersistentQueue(
      followUps.map { $0.isDone ? overtaken[$0.recordID] ?? $0 : $0 }
    )
  }

  /// What the cloud has of the operation's records, as it is known now.
  var settled: [ParkedChange] { known(from: Places(), to: places) }

  // MARK: The index

  private var places: Places {
    var places = Places()
    if let outcome {
      places.saved = outcome.savedRecords.count
      places.alreadyInCloud = outcome.alreadyInCloud.count
      places.deleted = outcome.deletedRecordIDs.count
    }
    if let further {
      places.saved += further.value.earlierSaved.count * Self.partSize
      places.followUps = further.value.followUps.count
    }
    return places
  }

  /// What was answered since this was last asked, as it is known now.
  mutating func takeUnindexed() -> [ParkedChange] {
    let (first, end) = (further?.value.indexed ?? Places(), places)
    guard first != end else { return [] }
    makeFurther()
    further?.value.indexed = end
    return known(from: first, to: end)
  }

  /// What had been answered when ``takeUnindexed()`` was last asked, as it is known now.
  var indexed: [ParkedChange] { known(from: Places(), to: further?.value.indexed ?? Places()) }

  private func known(from first: Places, to end: Places) -> [ParkedChange] {
    answers(from: first, to: end)
      .map { further?.value.overtaken[$0.change.recordID] ?? $0.change }
  }

  private enum Source { case outcome, followUps }

  /// What was answered between two moments: the records that are saved, in the cloud already or gone.
  private func answers(
    from first: Places,
    to end: Places
  ) -> [(source: Source, change: ParkedChange)] {
    var all: [(source: Source, change: ParkedChange)] = []
    let earlier = further?.value.earlierSaved ?? []
    let latest = outcome ?? ModifyOperation.Response()
    for place in first.saved..<end.saved {
      let (part, index) = place.quotientAndRemainder(dividingBy: Self.partSize)
      let record = part < earlier.count ? earlier[part][index] : latest.savedRecords[index]
      all.append((.outcome, .saved(record)))
    }
    for record in latest.alreadyInCloud[first.alreadyInCloud..<end.alreadyInCloud] {
      all.append((.outcome, .alreadyInCloud(record)))
    }
    for recordID in latest.deletedRecordIDs[first.deleted..<end.deleted] {
      all.append((.outcome, .deleted(recordID)))
    }
    for place in first.followUps..<end.followUps {
      let followUp = followUps[place]
      if followUp.isDone { all.append((.followUps, followUp)) }
    }
    return all
  }
}

/// What was answered of records and is not announced yet, by record.
///
/// A page that comes before the announcement is newer: it is looked up here what it tells anew.
///
/// - Complexity: O(1) for each record that is asked for, added or removed.
struct AnsweredRecords: Sendable {
  private struct Answer: Sendable {
    /// The number of the operation that the record belongs to.
    let operation: UInt64
    /// What is known of the record: what was answered, or what pages have told since.
    var change: ParkedChange

    /// What is known when a page, or an operation that ends out of its turn, tells of the record; nil if that is nothing new.
    func change(after told: ParkedChange, of ended: UInt64?) -> ParkedChange? {
      guard let ended else { return told.isNewer(than: change) ? told : nil }
      return operation < ended ? change.followed(by: told) : nil
    }
  }

  /// Mostly there is one response about a record.
  private struct Answers: Sendable {
    var first: Answer
    var others: [Answer] = []

    var all: [Answer] { [first] + others }

    init(_ first: Answer) { self.first = first }

    /// Of several answers; nil if there are none.
    init?(_ all: [Answer]) {
      guard let first = all.first else { return nil }
      self.init(first)
      others = Array(all.dropFirst())
    }
  }

  private var answers = PersistentMap<RecordID, Answers>()

  init() {}

  var isEmpty: Bool { answers.isEmpty }

  /// Adds what was answered of an operation's record.
  mutating func add(_ change: ParkedChange, of operation: UInt64) {
    let answer = Answer(operation: operation, change: change)
    guard var others = answers[change.recordID] else {
      return answers[change.recordID] = Answers(answer)
    }
    others.others.append(answer)
    answers[change.recordID] = others
  }

  /// Removes what was answered of an operation's record.
  mutating func remove(_ recordID: RecordID, of operation: UInt64) {
    guard let known = answers[recordID] else { return }
    answers[recordID] = Answers(known.all.filter { $0.operation != operation })
  }

  /// Has what is told of a record now stand for what was answered before.
  ///
  /// - Parameters:
  ///   - told: What a page tells, or an operation that ends out of its turn.
  ///   - ended: The operation's number; nil for a page.
  /// - Returns: What is known now, of the operations of which that is something new.
  mutating func overtake(
    by told: ParkedChange,
    of ended: UInt64?
  ) -> [(operation: UInt64, change: ParkedChange)] {
    guard let known = answers[told.recordID] else { return [] }
    var all = known.all
    var overtaken: [(operation: UInt64, change: ParkedChange)] = []
    for place in all.indices {
      guard let change = all[place].change(after: told, of: ended) else { continue }
      all[place].change = change
      overtaken.append((all[place].operation, change))
    }
    if !overtaken.isEmpty { answers[told.recordID] = Answers(all) }
    return overtaken
  }

  /// The records that are in the cloud, as far as is known.
  var recordsInCloud: PersistentSortedMap<RecordID, Void> {
    var records = PersistentSortedMap<RecordID, Void>()
    // Sorted by the map that they come into.
    answers.visitUnordered { recordID, answers in
      if answers.all.contains(where: \.change.isInCloud) { records[recordID] = () }
    }
    return records
  }

  /// How many answers there are.
  var count: Int {
    var count = 0
    answers.visitUnordered { count += 1 + $1.others.count }
    return count
  }

  /// Whether this is what is known of an operation's record.
  func contains(_ change: ParkedChange, of operation: UInt64) -> Bool {
    answers[change.recordID]?.all
      .contains { $0.operation == operation && $0.change == change } ?? false
  }
}

extension ParkedChange {
  /// Whether the record is as it was to be, or as somebody else has made it since.
  var isDone: Bool {
    switch self {
    case .saved, .alreadyInCloud, .deleted: true
    case .refused, .dropped: false
    }
  }

  /// Whether the cloud has the record.
  fileprivate var isInCloud: Bool {
    switch self {
    case .saved, .alreadyInCloud: true
    case .deleted, .refused, .dropped: false
    }
  }

  /// What is known after this of an operation's record, when a later operation tells of it: of two saves both count.
  fileprivate func followed(by later: ParkedChange) -> ParkedChange {
    switch (self, later) {
    case (.saved(let record), .saved(let saved)): .saved(record.merging(later: saved))
    case (.alreadyInCloud(let record), .saved(let saved)):
      .alreadyInCloud(saved.merged(into: record))
    default: later
    }
  }

  /// Whether this, which a page has told, is something else than what was known of the record before.
  fileprivate func isNewer(than known: ParkedChange) -> Bool {
    switch (known, self) {
    // The page has what was saved, and nothing of anybody else's.
    case (.saved(let known), .alreadyInCloud(let record)),
      (.alreadyInCloud(let known), .alreadyInCloud(let record)):
      !UTF8Bytes.equal(known.changeTag, record.changeTag)
    case (.saved, _), (.alreadyInCloud, _), (.deleted, .alreadyInCloud): true
    case (.deleted, _), (.refused, _), (.dropped, _): false
    }
  }
}

extension FetchOperation.Response {
  /// What the page tells of records that may have been answered before.
  var told: [ParkedChange] {
    var told = changedRecords.map { ParkedChange.alreadyInCloud($0) }
    told += deletedRecords.map { .deleted($0.recordID) }
    // A look-up says so that the cloud does not have a record.
    for failure in failures where failure.error.code == .unknownItem {
      told.append(.deleted(failure.recordID))
    }
    return told
  }
}

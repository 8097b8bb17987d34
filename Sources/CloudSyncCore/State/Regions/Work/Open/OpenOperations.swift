/// The operations that have begun to travel, in the order of their numbers.
///
/// Mostly there is one, or none: it lies at hand, and only the others in parts, behind a reference. A
/// change beside a kept version copies the one part and the list of parts, once an event.
///
/// What was answered of their records is found by record, once a page has to be compared with it.
///
/// - Complexity: Look-up, and every change in its place, is O(log *n*); a copy and `count` are
///   O(*n* / 64) as long as few are removed from the middle.
package struct OpenOperations: Sendable {
  package private(set) var first: OpenOperation?
  private var further: CopyOnWrite<FurtherOperations>?

  package init() {}

  package var isEmpty: Bool { if case .none = first { true } else { false } }

  /// Whether every record of the first operation is settled; nothing of it is copied for that.
  var isFirstSettled: Bool {
    first?.left == 0
  }

  package var count: Int { (first == nil ? 0 : 1) + (further?.value.count ?? 0) }

  /// The number of the last operation.
  package var lastNumber: UInt64? { further?.value.lastNumber ?? first?.number }

  /// The operation with a number.
  package subscript(number: UInt64) -> OpenOperation? {
    first?.number == number ? first : further?.value[number]
  }

  /// Adds an operation whose number is above all others.
  mutating func append(_ open: consuming OpenOperation) {
    // Asked this way, and handed on: nothing is copied, of the absent one neither.
    guard !isEmpty else { return first = open }
    if further == nil { further = CopyOnWrite(FurtherOperations()) }
    further?.value.append(open)
  }

  /// Changes the operation with a number, if there is one, and returns what the change returns.
  @discardableResult
  mutating func change<Result>(
    operation number: UInt64,
    _ body: (inout OpenOperation) -> Result
  ) -> Result? {
    if first?.number == number { return first?.change(body) }
    // Looked up first, so that changing an absent operation copies nothing.
    guard let place = further?.value.place(of: number) else { return nil }
    return further?.value.change(at: place, body)
  }

  /// Removes the operation with a number, and returns it.
  mutating func remove(operation number: UInt64) -> OpenOperation? {
    if first?.number == number { return popFirst() }
    guard let place = further?.value.place(of: number) else { return nil }
    let open = further?.value.remove(at: place)
    tidyFurther(without: open)
    return open
  }

  /// Removes the first operation, and returns it.
  mutating func popFirst() -> OpenOperation? {
    var open: OpenOperation?
    swap(&open, &first)
    if further != nil {
      first = further?.value.popFirst()
      tidyFurther(without: open)
    }
    return open
  }

  /// Forgets what was answered of an operation that has ended, and what has become empty.
  private mutating func tidyFurther(without open: OpenOperation?) {
    if let open, further?.value.answered.isEmpty == false {
      for change in open.indexedAnswers {
        further?.value.answered.remove(change.recordID, of: open.number)
      }
    }
    if further?.value.isEmpty == true { further = nil }
  }
}

extension OpenOperations {
  /// Has what a page tells stand for what was answered before and is not announced yet.
  ///
  /// - Complexity: O(*n*) in what the page tells and what was answered since the page before, but for a
  ///   glance at every 64th operation.
  mutating func overtake(by told: [ParkedChange]) { overtake(by: told, of: nil) }

  /// Has what an operation tells that ends out of its turn stand for what was answered before, and is announced later.
  ///
  /// - Complexity: As for a page.
  mutating func overtake(by ended: OpenOperation) {
    overtake(by: ended.settled, of: ended.number)
  }

  private mutating func overtake(by told: [ParkedChange], of ended: UInt64?) {
    indexAnswers()
    for change in told {
      for (number, known) in further?.value.answered.overtake(by: change, of: ended) ?? [] {
        self.change(operation: number) { $0.overtake(by: known) }
      }
    }
  }

  /// The records that were answered, and that the cloud has as far as is known.
  ///
  /// - Complexity: O(*n* log *n*) in what was answered.
  mutating func answeredRecordsInCloud() -> PersistentSortedMap<RecordID, Void> {
    indexAnswers()
    return further?.value.answered.recordsInCloud ?? PersistentSortedMap()
  }

  /// Makes what was answered since it was last asked for findable by its records.
  private mutating func indexAnswers() {
    if let number = first?.number,
      let answers = first?.change({ $0.takeUnindexedAnswers() }), !answers.isEmpty
    {
      if further == nil { further = CopyOnWrite(FurtherOperations()) }
      for change in answers { further?.value.answered.add(change, of: number) }
    }
    if further?.value.hasUnindexed == true { further?.value.indexAnswers() }
  }

  /// What is wrong with the index; nil if nothing is.
  var brokenIndex: String? {
    let answered = further?.value.answered ?? AnsweredRecords()
    var count = 0
    for open in self {
      for change in open.indexedAnswers {
        count += 1
        if !answered.contains(change, of: open.number) {
          return "what was answered of \(change.recordID) is indexed wrongly"
        }
      }
    }
    return count == answered.count ? nil : "answers are indexed that there are not"
  }
}

extension OpenOperation {
  /// Changes it in its place, also behind an optional.
  fileprivate mutating func change<Result>(_ body: (inout Self) -> Result) -> Result {
    body(&self)
  }
}

extension OpenOperations: CodedValue {
  package func write<W: CodedWriter>(to writer: inout W) {
    writer.array(self, count: count)
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    var last: UInt64 = 0
    for open in try [OpenOperation](from: &reader) {
      guard open.number > last else { throw reader.failure("operations are out of order") }
      last = open.number
      append(open)
    }
  }
}

extension OpenOperations: Sequence {
  /// Goes through them in the order of their numbers.
  package struct Iterator: IteratorProtocol {
    fileprivate var first: OpenOperation?
    fileprivate let parts: ContiguousArray<FurtherOperations.Part>
    private var part = 0
    private var index = 0

    fileprivate init(_ operations: OpenOperations) {
      first = operations.first
      parts = operations.further?.value.parts ?? []
    }

    package mutating func next() -> OpenOperation? {
      if let open = first {
        first = nil
        return open
      }
      guard part < parts.count else { return nil }
      let open = parts[part].operations[index]
      index += 1
      if index == parts[part].operations.count { (part, index) = (part + 1, 0) }
      return open
    }
  }

  package func makeIterator() -> Iterator { Iterator(self) }

  package var underestimatedCount: Int { count }
}

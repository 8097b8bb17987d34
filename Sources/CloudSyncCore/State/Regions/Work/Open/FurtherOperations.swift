/// The operations behind the first, and what few of all have.
struct FurtherOperations: Sendable {
  struct Part: Sendable {
    /// At least one, and at most `partSize`.
    var operations: ContiguousArray<OpenOperation>
    /// Whether something may have been answered of them that is not indexed.
    var isUnindexed = true
  }

  private(set) var parts: ContiguousArray<Part> = []
  /// What was answered of the records of all operations, the first included, as far as pages were compared
  /// with it.
  ///
  /// It follows from the operations, and is no part of their coded form.
  var answered = AnsweredRecords()

  private static var partSize: Int { 64 }

  var count: Int { parts.reduce(0) { $0 + $1.operations.count } }

  var isEmpty: Bool { parts.isEmpty && answered.isEmpty }

  var lastNumber: UInt64? { parts.last?.operations.last?.number }

  func place(of number: UInt64) -> FurtherPlace? {
    let part = parts.indices.firstPlace { parts[$0].operations[0].number > number } - 1
    guard part >= 0 else { return nil }
    let operations = parts[part].operations
    let index = operations.indices.firstPlace { operations[$0].number >= number }
    guard index < operations.count, operations[index].number == number else { return nil }
    return FurtherPlace(part: part, index: index)
  }

  subscript(number: UInt64) -> OpenOperation? {
    place(of: number).map { parts[$0.part].operations[$0.index] }
  }

  mutating func append(_ open: OpenOperation) {
    if parts.last?.operations.count ?? Self.partSize < Self.partSize {
      parts[parts.count - 1].operations.append(open)
      parts[parts.count - 1].isUnindexed = true
    } else {
      parts.append(Part(operations: [open]))
    }
  }

  mutating func change<Result>(
    at place: FurtherPlace,
    _ body: (inout OpenOperation) -> Result
  ) -> Result {
    parts[place.part].isUnindexed = true
    return body(&parts[place.part].operations[place.index])
  }

  mutating func remove(at place: FurtherPlace) -> OpenOperation {
    let open = parts[place.part].operations.remove(at: place.index)
    if parts[place.part].operations.isEmpty { parts.remove(at: place.part) }
    return open
  }

  mutating func popFirst() -> OpenOperation? {
    parts.isEmpty ? nil : remove(at: FurtherPlace(part: 0, index: 0))
  }

  /// Whether something may have been answered that is not indexed: asked before anything is copied.
  var hasUnindexed: Bool { parts.contains(where: \.isUnindexed) }

  /// Makes what was answered since findable by its records.
  mutating func indexAnswers() {
    for part in parts.indices where parts[part].isUnindexed {
      parts[part].isUnindexed = false
      for index in parts[part].operations.indices {
        let number = parts[part].operations[index].number
        for change in parts[part].operations[index].takeUnindexedAnswers() {
          answered.add(change, of: number)
        }
      }
    }
  }
}

/// Where an operation is that is not the first.
struct FurtherPlace {
  var part: Int
  var index: Int
}

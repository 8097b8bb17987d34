/// The operations that have begun to travel, in the order of their numbers.
///
/// Mostly there is one, or none: it lies at hand, and only the others in parts, behind a reference. A
/// change beside a kept version copies the one part and the list of parts, once an event.
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

  package var last: OpenOperation? { further?.value.parts.last?.last ?? first }

  /// The operation with a number.
  package subscript(number: UInt64) -> OpenOperation? {
    first?.number == number ? first : further?.value[number]
  }

  /// Adds an operation whose number is above all others.
  mutating func append(_ open: OpenOperation) {
    if first == nil {
      first = open
    } else {
      if further == nil { further = CopyOnWrite(FurtherOperations()) }
      further?.value.append(open)
    }
  }

  /// Changes the operation with a number, if there is one, and returns what the change returns.
  @discardableResult
  mutating func change<Result>(
    _ number: UInt64,
    _ body: (inout OpenOperation) -> Result
  ) -> Result? {
    if first?.number == number { return first?.change(body) }
    // Looked up first, so that changing an absent operation copies nothing.
    guard let place = further?.value.place(of: number) else { return nil }
    return further?.value.change(place, body)
  }

  /// Removes the operation with a number, and returns it.
  mutating func remove(_ number: UInt64) -> OpenOperation? {
    if first?.number == number { return popFirst() }
    guard let place = further?.value.place(of: number) else { return nil }
    return removeFurther(place)
  }

  /// Removes the first operation, and returns it.
  mutating func popFirst() -> OpenOperation? {
    var open: OpenOperation?
    swap(&open, &first)
    if further != nil { first = removeFurther(FurtherPlace(part: 0, index: 0)) }
    return open
  }

  private mutating func removeFurther(_ place: FurtherPlace) -> OpenOperation? {
    let open = further?.value.remove(place)
    if further?.value.parts.isEmpty == true { further = nil }
    return open
  }
}

/// Where an operation is that is not the first.
private struct FurtherPlace {
  var part: Int
  var index: Int
}

/// The operations behind the first.
private struct FurtherOperations: Sendable {
  /// None is empty, and none has more than `partSize`.
  private(set) var parts: ContiguousArray<ContiguousArray<OpenOperation>> = []

  private static var partSize: Int { 64 }

  var count: Int { parts.reduce(0) { $0 + $1.count } }

  func place(of number: UInt64) -> FurtherPlace? {
    let part = parts.indices.firstPlace { parts[$0][0].number > number } - 1
    guard part >= 0 else { return nil }
    let index = parts[part].indices.firstPlace { parts[part][$0].number >= number }
    guard index < parts[part].count, parts[part][index].number == number else { return nil }
    return FurtherPlace(part: part, index: index)
  }

  subscript(number: UInt64) -> OpenOperation? {
    place(of: number).map { parts[$0.part][$0.index] }
  }

  mutating func append(_ open: OpenOperation) {
    if parts.last?.count ?? Self.partSize < Self.partSize {
      parts[parts.count - 1].append(open)
    } else {
      parts.append([open])
    }
  }

  mutating func change<Result>(
    _ place: FurtherPlace,
    _ body: (inout OpenOperation) -> Result
  ) -> Result { body(&parts[place.part][place.index]) }

  mutating func remove(_ place: FurtherPlace) -> OpenOperation {
    let open = parts[place.part].remove(at: place.index)
    if parts[place.part].isEmpty { parts.remove(at: place.part) }
    return open
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
    fileprivate let parts: ContiguousArray<ContiguousArray<OpenOperation>>
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
      let open = parts[part][index]
      index += 1
      if index == parts[part].count { (part, index) = (part + 1, 0) }
      return open
    }
  }

  package func makeIterator() -> Iterator { Iterator(self) }

  package var underestimatedCount: Int { count }
}

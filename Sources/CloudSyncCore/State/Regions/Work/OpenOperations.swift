/// The operations that have begun to travel, in the order of their numbers.
///
/// Mostly there is one, or none: it lies at hand, and only the others in a map, behind a reference.
///
/// - Complexity: Everything but `contains`, and going through all of them, is O(log *n*).
package struct OpenOperations: Sendable {
  package private(set) var first: OpenOperation?
  private var further: CopyOnWrite<PersistentSortedMap<UInt64, OpenOperation>>?

  package init() {}

  package var isEmpty: Bool { first == nil }

  package var count: Int { (first == nil ? 0 : 1) + (further?.value.count ?? 0) }

  package var last: OpenOperation? { further?.value.last?.value ?? first }

  /// The operation with a number.
  package subscript(number: UInt64) -> OpenOperation? {
    first?.number == number ? first : further?.value[number]
  }

  /// Adds an operation whose number is above all others.
  mutating func append(_ open: OpenOperation) {
    if first == nil {
      first = open
    } else {
      if further == nil { further = CopyOnWrite(PersistentSortedMap()) }
      further?.value[open.number] = open
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
    guard further?.value[number] != nil else { return nil }
    return further?.value.change(number, body)
  }

  /// Removes the operation with a number, and returns it.
  mutating func remove(_ number: UInt64) -> OpenOperation? {
    if first?.number == number { return popFirst() }
    guard let open = further?.value[number] else { return nil }
    removeFurther(number)
    return open
  }

  /// Removes the first operation, and returns it.
  mutating func popFirst() -> OpenOperation? {
    var open: OpenOperation?
    swap(&open, &first)
    if further != nil {
      first = further?.value.first?.value
      if let first { removeFurther(first.number) }
    }
    return open
  }

  private mutating func removeFurther(_ number: UInt64) {
    if further?.value.count == 1 { further = nil } else { further?.value[number] = nil }
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
    writer.beginArray(count: count)
    for open in self { open.write(to: &writer) }
    writer.endArray()
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    var last: UInt64 = 0
    for open in try reader.array({ (reader) throws(CodedError) in try OpenOperation(from: &reader) }
    ) {
      guard open.number > last else { throw reader.failure("operations are out of order") }
      last = open.number
      append(open)
    }
  }
}

extension OpenOperations: Sequence {
  package func makeIterator() -> IndexingIterator<[OpenOperation]> {
    ((first.map { [$0] } ?? []) + (further?.value.values ?? [])).makeIterator()
  }

  package var underestimatedCount: Int { count }
}

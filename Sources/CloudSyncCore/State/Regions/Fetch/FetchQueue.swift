/// Fetches in the order of their submission, of which any can be taken out by its name.
///
/// Each has a place. Names ascend, so the place of a fetch is the number of its name; only one that
/// no session has named, as a middleware may dispatch it, comes behind the last, wherever that is.
///
/// - Complexity: Adding a fetch, taking one out and finding the next are O(log *n*), but for fetches
///   that are not at the place of their number.
package struct FetchQueue: Sendable {
  private var places = PersistentSortedMap<UInt64, FetchOperation>()
  /// Those that look records up, at the same places.
  private var lookups = PersistentSortedMap<UInt64, FetchOperation>()
  /// How many fetches are not at the place of their number.
  private var strays = 0

  package init() {}

  package var count: Int { places.count }
  package var isEmpty: Bool { places.isEmpty }
  package var first: FetchOperation? { places.first?.value }
  /// The first one that looks records up.
  package var firstLookup: FetchOperation? { lookups.first?.value }

  /// Adds a fetch at the end.
  package mutating func append(_ operation: FetchOperation) {
    let number = operation.id.number
    // What is read may be damaged: no place is so large that there is none behind it.
    let free = places.last.map { $0.key + 1 } ?? 0
    let place = Swift.max(Swift.min(number, 1 << 62), free)
    if place != number { strays += 1 }
    places[place] = operation
    if operation.isLookup { lookups[place] = operation }
  }

  /// Whether there is a fetch of a name.
  package func contains(_ id: OperationID) -> Bool { find(id) != nil }

  /// Takes out the first fetch of a name; nil if there is none.
  @discardableResult
  package mutating func remove(_ id: OperationID) -> FetchOperation? {
    guard let (place, operation) = find(id) else { return nil }
    if place != id.number { strays -= 1 }
    places[place] = nil
    if operation.isLookup { lookups[place] = nil }
    return operation
  }

  private func find(_ id: OperationID) -> (place: UInt64, operation: FetchOperation)? {
    if let operation = places[id.number], operation.id == id { return (id.number, operation) }
    guard strays > 0 else { return nil }
    return places.entries.first { $0.value.id == id }.map { ($0.key, $0.value) }
  }

  package mutating func removeAll() { self = FetchQueue() }
}

extension FetchQueue: Sequence {
  /// Goes through a version of the queue, which later changes of the queue do not touch.
  package struct Iterator: IteratorProtocol, Sendable {
    fileprivate let places: PersistentSortedMap<UInt64, FetchOperation>
    fileprivate var last: UInt64?

    package mutating func next() -> FetchOperation? {
      let next = if let last { places.first(after: last) } else { places.first }
      last = next?.key ?? last
      return next?.value
    }
  }

  package func makeIterator() -> Iterator { Iterator(places: places) }

  package var underestimatedCount: Int { count }
}

/// A queue is coded as the array of its elements.
extension FetchQueue: CodedValue {
  package func write<W: CodedWriter>(to writer: inout W) {
    writer.array(self, count: count)
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    self.init()
    let announced = try reader.beginArray()
    while reader.hasElement(at: count, of: announced) { append(try FetchOperation(from: &reader)) }
    try reader.endArray()
  }
}

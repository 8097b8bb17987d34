/// A first-in, first-out queue of which old versions can be kept.
///
/// Elements lie in chunks of eight. The first chunk and the one under construction are at hand; the
/// full ones between them are in a ``Spine``. Appending to a queue that somebody else holds too
/// copies at most the chunk under construction, and every eighth time a few nodes of the spine;
/// taking the first element copies an index, and as rarely a few nodes. Two queues of the same
/// elements are alike in every way that can be seen, however they came to be.
///
/// A chunk is let go as a whole: up to seven elements that were taken stay in memory with it.
///
/// - Complexity: `append` and `popFirst` are O(1) amortized, also when shared; access by index is
///   O(log *n*). Release takes no recursion deeper than the spine, log₈ *n*.
package struct PersistentQueue<Element: Sendable>: Sendable {
  typealias Chunk = ContiguousArray<Element>

  /// The number of elements.
  package private(set) var count = 0
  /// The first elements, from `start` on: empty only if the queue is.
  private var front: Chunk = []
  private var start = 0
  private var spine = Spine()
  /// The last elements, less than a full chunk.
  private var back: Chunk = []

  package init() {}

  package init(_ elements: some Sequence<Element>) {
    for element in elements { append(element) }
  }

  package var isEmpty: Bool { count == 0 }

  package var first: Element? { count == 0 ? nil : front[start] }

  /// Adds an element at the end.
  package mutating func append(_ element: Element) {
    count += 1
    if count == 1 {
      front = [element]
      return
    }
    if back.isEmpty { back.reserveCapacity(QueueShape.chunkWidth) }
    back.append(element)
    if back.count == QueueShape.chunkWidth {
      spine.append(back)
      back = []
    }
  }

  /// Removes the first element and returns it, or nil if there is none.
  package mutating func popFirst() -> Element? {
    guard count > 0 else { return nil }
    let element = front[start]
    count -= 1
    start += 1
    if start == front.count { refillFront() }
    return element
  }

  private mutating func refillFront() {
    start = 0
    if let chunk = spine.popFirst() {
      front = chunk
    } else {
      front = []
      swap(&front, &back)
    }
  }

  package mutating func removeAll() { self = PersistentQueue() }

  /// The element at a place counted from the front, 0 being the first.
  package subscript(index: Int) -> Element {
    switch place(of: index) {
    case .front(let offset): front[offset]
    case .spine(let offset): spine[offset]
    case .back(let offset): back[offset]
    }
  }

  /// Puts another element in the place of the one at an index.
  package mutating func replace(at index: Int, with element: Element) {
    switch place(of: index) {
    case .front(let offset): front[offset] = element
    case .spine(let offset): spine.replace(at: offset, with: element)
    case .back(let offset): back[offset] = element
    }
  }

  private enum Place {
    case front(Int)
    case spine(Int)
    case back(Int)
  }

  private func place(of index: Int) -> Place {
    precondition(
      index >= 0 && index < count,
      "Index \(index) is outside the queue; use one from 0 up to its count, \(count)."
    )
    let offset = start + index
    if offset < front.count { return .front(offset) }
    let fromBack = index - (count - back.count)
    return fromBack >= 0 ? .back(fromBack) : .spine(offset - front.count)
  }
}

extension PersistentQueue: Sequence {
  /// Goes through a version of the queue, which later changes of the queue do not touch.
  package struct Iterator: IteratorProtocol, Sendable {
    fileprivate var rest: PersistentQueue

    package mutating func next() -> Element? { rest.popFirst() }
  }

  package func makeIterator() -> Iterator { Iterator(rest: self) }

  package var underestimatedCount: Int { count }
}

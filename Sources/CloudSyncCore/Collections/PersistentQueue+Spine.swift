/// The shape of persistent queues: short chunks, as every kept version copies the last of them.
enum QueueShape {
  /// How many elements a full chunk has.
  static var chunkWidth: Int { 1 << chunkBits }
  /// How many nodes a full node has.
  static var nodeWidth: Int { 1 << nodeBits }

  private static var chunkBits: Int { 3 }
  private static var nodeBits: Int { 3 }

  /// How many bits of an index lie within one node of a level, 0 being that of the chunks.
  static func shift(level: Int) -> Int { chunkBits + nodeBits * level }
}

extension PersistentQueue {
  /// The full chunks in the middle of a queue, themselves a queue.
  ///
  /// Each level is a queue of full nodes: of chunks at the lowest level, and at each further one of
  /// nodes of eight nodes of the level below. Its first and last few lie at hand; all between them
  /// are the business of the level above, which is touched an eighth as often. So a change
  /// copies the list of levels and one list of nodes, and rarely more.
  ///
  /// - Invariant: The highest level is not empty.
  struct Spine: Sendable {
    private enum Node: Sendable {
      case chunk(Chunk)
      case nodes(ContiguousArray<Node>)

      /// The element at an index of this node, which belongs to a level.
      func element(at index: Int, level: Int) -> Element {
        switch self {
        case .chunk(let chunk):
          return chunk[index]
        case .nodes(let nodes):
          let shift = QueueShape.shift(level: level - 1)
          return nodes[index >> shift].element(at: index & ((1 << shift) - 1), level: level - 1)
        }
      }

      mutating func replace(index: Int, level: Int, with element: Element) {
        switch self {
        case .chunk(var chunk):
          // The node lets go of its list, lest changing it copies it.
          self = .chunk([])
          chunk[index] = element
          self = .chunk(chunk)
        case .nodes(var nodes):
          self = .nodes([])
          let shift = QueueShape.shift(level: level - 1)
          nodes[index >> shift]
            .replace(index: index & ((1 << shift) - 1), level: level - 1, with: element)
          self = .nodes(nodes)
        }
      }
    }

    private struct Level: Sendable {
      /// The first nodes, in reverse: the next to go is the last.
      var front: ContiguousArray<Node> = []
      /// The last nodes, fewer than a full node has.
      var back: ContiguousArray<Node> = []

      var isEmpty: Bool { front.isEmpty && back.isEmpty }
    }

    private var levels: ContiguousArray<Level> = []

    /// Adds a full chunk at the end.
    mutating func append(_ chunk: Chunk) { append(.chunk(chunk), level: 0) }

    private mutating func append(_ node: Node, level: Int) {
      if level == levels.count { levels.append(Level()) }
      if levels[level].back.isEmpty { levels[level].back.reserveCapacity(QueueShape.nodeWidth) }
      levels[level].back.append(node)
      if levels[level].back.count == QueueShape.nodeWidth {
        let full = levels[level].back
        levels[level].back = []
        append(.nodes(full), level: level + 1)
      }
    }

    /// Removes the first chunk.
    mutating func popFirst() -> Chunk? {
      guard case .chunk(let chunk)? = popFirst(level: 0) else { return nil }
      while levels.last?.isEmpty == true { levels.removeLast() }
      return chunk
    }

    private mutating func popFirst(level: Int) -> Node? {
      guard level < levels.count else { return nil }
      if levels[level].front.isEmpty {
        if case .nodes(let nodes)? = popFirst(level: level + 1) {
          levels[level].front = ContiguousArray(nodes.reversed())
        } else {
          levels[level].front = ContiguousArray(levels[level].back.reversed())
          levels[level].back = []
        }
      }
      return levels[level].front.popLast()
    }
  }
}

extension PersistentQueue.Spine {
  private enum Place {
    case front(level: Int, slot: Int, rest: Int)
    case back(level: Int, slot: Int, rest: Int)
  }

  /// Finds an index that the spine has: fronts from the lowest level up, then backs down again.
  private func place(of index: Int) -> Place {
    var rest = index
    for level in levels.indices {
      let shift = QueueShape.shift(level: level)
      let slots = levels[level].front.count
      if rest >> shift < slots {
        let slot = slots - 1 - (rest >> shift)
        return .front(level: level, slot: slot, rest: rest & ((1 << shift) - 1))
      }
      rest -= slots << shift
    }
    for level in levels.indices.reversed() {
      let shift = QueueShape.shift(level: level)
      let slots = levels[level].back.count
      if rest >> shift < slots {
        return .back(level: level, slot: rest >> shift, rest: rest & ((1 << shift) - 1))
      }
      rest -= slots << shift
    }
    preconditionFailure("The spine has no chunk for index \(index); ask only for indices it has.")
  }

  subscript(index: Int) -> Element {
    switch place(of: index) {
    case .front(let level, let slot, let rest):
      levels[level].front[slot].element(at: rest, level: level)
    case .back(let level, let slot, let rest):
      levels[level].back[slot].element(at: rest, level: level)
    }
  }

  mutating func replace(at index: Int, with element: Element) {
    switch place(of: index) {
    case .front(let level, let slot, let rest):
      levels[level].front[slot].replace(index: rest, level: level, with: element)
    case .back(let level, let slot, let rest):
      levels[level].back[slot].replace(index: rest, level: level, with: element)
    }
  }
}

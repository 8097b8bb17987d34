/// The order in which the heads of a branch are merged: always the two of smallest generation and identifier.
///
/// Replicas with the same heads make the same merges, whatever came first.
package struct MergeQueue {
  private struct Head {
    var generation: Int64
    var id: ChangesetID

    func precedes(_ other: Head) -> Bool {
      generation != other.generation ? generation < other.generation : id < other.id
    }
  }

  /// In order, the last ones first.
  private var heads: [Head] = []

  package init() {}

  package var isDone: Bool { heads.count < 2 }

  package mutating func add(_ id: ChangesetID, generation: Int64) {
    let head = Head(generation: generation, id: id)
    var (low, high) = (0, heads.count)
    while low < high {
      let middle = (low + high) / 2
      if head.precedes(heads[middle]) { low = middle + 1 } else { high = middle }
    }
    heads.insert(head, at: low)
  }

  /// The next two to merge; nil if one is left, or none.
  package mutating func next() -> (ChangesetID, ChangesetID)? {
    guard heads.count > 1 else { return nil }
    return (heads.removeLast().id, heads.removeLast().id)
  }
}

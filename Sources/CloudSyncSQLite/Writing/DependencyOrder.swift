/// The order in which rows that have come together are written: parents first, and who misses one waits.
///
/// Rows may refer to each other in a circle: all of its rows are written in one transaction, at whose end
/// SQLite looks at the references.
struct DependencyOrder {
  /// A row that has come.
  struct Node: Sendable {
    /// The name of its record.
    var name: String
    /// The place of its table among the tables, parents first.
    var rank: Int
    /// The records that it refers to.
    var parents: [String]
    /// Whether it is gone: then it needs nobody, and nobody can refer to it.
    var isDeleted = false
  }

  /// The places of the rows that can be written, in their order.
  private(set) var ready: [Int] = []
  /// The places of the rows that wait, each with the name of the record that is missing.
  private(set) var waiting: [(place: Int, parent: String)] = []

  /// Sorts rows.
  ///
  /// - Parameters:
  ///   - nodes: What has come, each record once, in the order in which it came.
  ///   - isThere: Whether a record that has not come along is in its table.
  /// - Throws: What `isThere` throws.
  init<Failure: Error>(
    _ nodes: [Node],
    isThere: (String) throws(Failure) -> Bool
  ) throws(Failure) {
    var places: [String: Int] = [:]
    for (place, node) in nodes.enumerated() { places[node.name] = place }
    var children: [Int: [Int]] = [:]
    var missing: [Int: String] = [:]
    var stack: [Int] = []
    for (place, node) in nodes.enumerated() where !node.isDeleted {
      for parent in node.parents {
        if let known = places[parent], !nodes[known].isDeleted {
          children[known, default: []].append(place)
        } else if missing[place] == nil {
          // The table still has a row that is about to go.
          let isGoing = places[parent] != nil
          if !isGoing, try isThere(parent) { continue }
          missing[place] = parent
          stack.append(place)
        }
      }
    }
    // Who refers to a row that waits has to wait for it.
    while let parent = stack.popLast() {
      for child in children[parent] ?? [] where missing[child] == nil {
        missing[child] = nodes[parent].name
        stack.append(child)
      }
    }
    for place in nodes.indices {
      if let parent = missing[place] {
        waiting.append((place, parent))
      } else {
        ready.append(place)
      }
    }
    // Deletions last, children before their parents: until then nobody refers to nothing.
    ready.sort { one, other in
      let (left, right) = (nodes[one], nodes[other])
      if left.isDeleted != right.isDeleted { return right.isDeleted }
      if left.rank != right.rank {
        return left.isDeleted ? left.rank > right.rank : left.rank < right.rank
      }
      return one < other
    }
  }
}

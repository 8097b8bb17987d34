extension DatabaseSchema {
  /// Tables in groups, parents before children; tables of one group refer to each other in a circle.
  ///
  /// What is unknown is left out, as are foreign keys to tables that are not given. The order depends on
  /// the tables' names and keys alone.
  package func parentsFirst(_ tables: [String]) -> [[String]] {
    var search = CircleSearch()
    let known = Set(tables.compactMap { table(named: $0)?.name })
    for name in known {
      let parents = table(named: name)?.foreignKeys.map(\.table) ?? []
      search.parents[name] = Set(parents).intersection(known).sortedByBytes()
    }
    for name in known.sortedByBytes() where search.numbers[name] == nil { search.visit(name) }
    return search.groups
  }
}

/// Finds the strongly connected parts of a graph by Tarjan's algorithm.
private struct CircleSearch {
  var parents: [String: [String]] = [:]
  /// The order in which tables were met.
  private(set) var numbers: [String: Int] = [:]
  private(set) var groups: [[String]] = []
  /// The first table that each can reach, of those not in a group yet.
  private var lowest: [String: Int] = [:]
  private var path: [String] = []

  mutating func visit(_ name: String) {
    let number = numbers.count
    numbers[name] = number
    var low = number
    path.append(name)
    for parent in parents[name] ?? [] {
      if let known = numbers[parent] {
        if path.contains(parent) { low = min(low, known) }
      } else {
        visit(parent)
        low = min(low, lowest[parent] ?? low)
      }
    }
    lowest[name] = low
    guard low == number, let start = path.firstIndex(of: name) else { return }
    groups.append(path[start...].sortedByBytes())
    path.removeSubrange(start...)
  }
}

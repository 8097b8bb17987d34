/// What two sides of a history have in common.
struct CommonAncestors {
  /// The common ancestors that no other common ancestor descends from, by generation and identifier.
  var best: [ChangesetID] = []
  /// Whether there is a commit that only one of the sides descends from, merges apart.
  var hasEditsBeside = false
  /// The migrations that only one of the sides descends from.
  var migrationsBeside: [ChangesetID] = []
}

/// Finds what two sides have in common, from the youngest commits on: those before are not looked at.
struct AncestorSearch {
  private struct Sides: OptionSet {
    let rawValue: UInt8
    static let one = Sides(rawValue: 1)
    static let other = Sides(rawValue: 2)
    static let both: Sides = [.one, .other]
    /// A better common ancestor descends from it.
    static let passed = Sides(rawValue: 4)
  }

  fileprivate struct Entry {
    var generation: Int64
    var id: ChangesetID
    var header: CommitHeader

    func precedes(_ other: Entry) -> Bool {
      generation != other.generation ? generation < other.generation : id < other.id
    }
  }

  private let graph: any CommitGraph
  private var sides: [ChangesetID: Sides] = [:]
  /// In order; the youngest is the last.
  private var frontier: [Entry] = []
  /// How many of them may still tell something.
  private var openCount = 0

  init(_ graph: any CommitGraph) { self.graph = graph }

  /// Finds what some commits, taken as one side, have in common with others.
  static func search(
    _ graph: any CommitGraph,
    one: [ChangesetID],
    other: [ChangesetID]
  ) throws(ChangesetError) -> CommonAncestors {
    var search = AncestorSearch(graph)
    for id in one { try search.mark(id: id, .one) }
    for id in other { try search.mark(id: id, .other) }
    return try search.result()
  }

  private mutating func result() throws(ChangesetError) -> CommonAncestors {
    var found = CommonAncestors()
    var best: [Entry] = []
    // All that descends from a commit is younger, so whatever comes out is known to the full.
    while openCount > 0, let entry = frontier.popLast() {
      let mark = sides[entry.id] ?? []
      if !mark.contains(.passed) { openCount -= 1 }
      var passedOn = mark
      if mark == .both {
        best.append(entry)
        passedOn = [.both, .passed]
      } else if !mark.contains(.passed), entry.header.kind != .merge {
        found.hasEditsBeside = true
        if entry.header.kind == .migration { found.migrationsBeside.append(entry.id) }
      }
      for parent in entry.header.parents { try self.mark(id: parent, passedOn) }
    }
    found.best = best.reversed().map(\.id)
    return found
  }

  private mutating func mark(id: ChangesetID, _ added: Sides) throws(ChangesetError) {
    if let known = sides[id] {
      if added.contains(.passed), !known.contains(.passed) { openCount -= 1 }
      sides[id] = known.union(added)
      return
    }
    sides[id] = added
    if !added.contains(.passed) { openCount += 1 }
    let header = try graph.header(of: id)
    let entry = Entry(generation: header.generation, id: id, header: header)
    frontier.insert(entry, at: frontier.partitioned { $0.precedes(entry) })
  }
}

extension [AncestorSearch.Entry] {
  fileprivate func partitioned(by isBefore: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if isBefore(self[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

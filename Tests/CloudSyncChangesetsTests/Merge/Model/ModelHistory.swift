import CloudSyncSimulator

/// What happens in a random history.
struct ModelHistoryOptions {
  var replicas = 3
  var steps = 30
  var rows = 6
  /// Whether each row is edited by one replica only: then no merge may lose anything.
  var hasOneWriter = true
  var flaw: ModelFlaw?
  var columns: [ModelPolicy] = [.newest, .newest]
  /// Policies by replica; those of the columns if there are none.
  var policies: [ModelPolicies] = []
  var deletes = true
  /// How many values there are; nil if each is used once.
  ///
  /// With few, cells go back to what they were.
  var valueCount: Int?
  /// Whether merges get identifiers that are drawn: wrong.
  var hasRandomMergeIDs = false
}

/// Replicas of the model that edit, exchange commits in part, and merge at the same time.
class ModelHistory {
  struct Replica {
    var head: ModelCommit?
    var known = NumberSet()
    var policies: ModelPolicies
  }

  let options: ModelHistoryOptions
  let model: MergeModel
  private(set) var replicas: [Replica]
  /// What each row's writer has left there, where rows have one.
  private(set) var expected: [[Int]?]
  /// What was added to the counters of each row's columns.
  private(set) var added: [[Int]]
  private var random: SeededRandom
  private var byID: [UInt64: ModelCommit] = [:]
  private var clock = 0
  private var nextValue = 0

  init(seed: UInt64, _ options: ModelHistoryOptions) {
    self.options = options
    random = SeededRandom(seed: seed)
    model = MergeModel(flaw: options.flaw, columnCount: options.columns.count)
    expected = Array(repeating: nil, count: options.rows)
    added = Array(repeating: options.columns.map { _ in 0 }, count: options.rows)
    let own = ModelPolicies(columns: options.columns)
    replicas = (0..<options.replicas)
      .map { place in
        var policies = place < options.policies.count ? options.policies[place] : own
        policies.takesOlder = options.flaw == .winnerByReplica && place % 2 == 1
        return Replica(policies: policies)
      }
    if !options.deletes { insertAllRows() }
  }

  /// The heads that a replica knows, in the order in which they are merged.
  func heads(of place: Int) -> [ModelCommit] {
    let known = replicas[place].known.members.map { model.commits[$0] }
    var inner = NumberSet()
    for commit in known {
      for parent in commit.parents { inner.insert(parent.number) }
    }
    return known.filter { !inner.contains($0.number) }.sorted { $0.precedes($1) }
  }

  // MARK: What happens

  func run() {
    for _ in 0..<options.steps {
      let place = random.below(options.replicas)
      switch random.below(10) {
      case 0..<4: edit(place)
      case 4..<8: fetch(place, from: random.below(options.replicas))
      default: mergeAll(place)
      }
    }
  }

  private func insertAllRows() {
    let rows = 0..<options.rows
    clock += 1
    let state: (Int) -> ModelState = { [options, clock] number in
      rows.map { _ in
        options.columns.map { _ in ModelCell(value: 0, time: clock, writer: number) }
      }
    }
    let id = id(ofEditOn: nil, time: clock, state: state(0))
    let first = add(id: id, parents: [], time: clock, state: state)
    for place in replicas.indices { move(place, to: first) }
  }

  private func edit(_ place: Int) {
    let row =
      options.hasOneWriter
      ? random.below(options.rows / options.replicas) * options.replicas + place
      : random.below(options.rows)
    let head = replicas[place].head
    let present = head?.state[row] ?? nil
    // Clocks are apart, but no edit is older than what its replica has seen.
    clock = max(clock, (head?.time ?? 0) + 1) + random.below(3)
    let time = max((head?.time ?? 0) + 1, clock - random.below(6))
    var next = present?.map(\.value)
    if next != nil, options.deletes, random.chance(1, in: 6) {
      next = nil
    } else if let old = next {
      next = old
      let column = random.below(options.columns.count)
      next?[column] = edited(old[column], row, column)
    } else {
      next = options.columns.indices.map { edited(0, row, $0) }
    }
    expected[row] = next
    let state: (Int) -> ModelState = { [options] number in
      var state = head?.state ?? Array(repeating: nil, count: options.rows)
      state[row] = next?.enumerated()
        .map { column, value in
          if let old = present?[column], old.value == value { return old }
          return ModelCell(value: value, time: time, writer: number)
        }
      return state
    }
    let id = id(ofEditOn: head, time: time, state: state(0))
    let commit = add(id: id, parents: head.map { [$0] } ?? [], time: time, state: state)
    move(place, to: commit)
  }

  private func edited(_ old: Int, _ row: Int, _ column: Int) -> Int {
    if options.columns[column] == .counter {
      let amount = 1 + random.below(9)
      added[row][column] += amount
      return old + amount
    }
    if let count = options.valueCount {
      let value = 1 + random.below(count)
      return value == old ? 1 + value % count : value
    }
    nextValue += 1
    return (1 + random.below(1000)) * 1000 + nextValue
  }

  /// Gives a replica one commit that another knows, with all that it descends from.
  private func fetch(_ place: Int, from other: Int) {
    let known = replicas[other].known.members
    if known.isEmpty { return }
    replicas[place].known.formUnion(model.commits[random.pick(known)].ancestors)
    advance(place)
  }

  /// Goes to the head that descends from a replica's own, if there is but one.
  private func advance(_ place: Int) {
    let own = replicas[place].head
    let next = heads(of: place).filter { own.map { $0.number }.map($0.ancestors.contains) ?? true }
    if next.count == 1 { replicas[place].head = next[0] }
  }

  func mergeAll(_ place: Int) {
    while true {
      let heads = heads(of: place)
      guard heads.count > 1 else { break }
      let plan = model.merge(heads[0], heads[1], replicas[place].policies)
      let policies = replicas[place].policies
      let pair = Array(heads[..<2])
      let merge = add(
        id: id(ofMergeOf: pair, policies, parents: plan.parents, state: plan.state(0)),
        parents: plan.parents,
        isMerge: true,
        time: max(pair[0].time, pair[1].time),
        state: plan.state
      )
      replicas[place].known.formUnion(merge.ancestors)
    }
    advance(place)
  }

  private func move(_ place: Int, to commit: ModelCommit) {
    replicas[place].known.formUnion(commit.ancestors)
    replicas[place].head = commit
  }

  /// Adds a commit, or finds the one that says the same.
  private func add(
    id: UInt64,
    parents: [ModelCommit],
    isMerge: Bool = false,
    time: Int,
    state: (Int) -> ModelState
  ) -> ModelCommit {
    if let known = byID[id] { return known }
    let commit = model.add(id: id, parents: parents, time: time, isMerge: isMerge, state: state)
    byID[id] = commit
    return commit
  }

  // MARK: Identifiers

  /// What names an edit: who made it, on what, and when.
  func id(ofEditOn parent: ModelCommit?, time: Int, state: ModelState) -> UInt64 {
    Self.id([2, parent?.id ?? 0, random.next()], state)
  }

  /// What names the merge of two commits.
  func id(
    ofMergeOf heads: [ModelCommit],
    _ policies: ModelPolicies,
    parents: [ModelCommit],
    state: ModelState
  ) -> UInt64 {
    Self.id([1] + parents.map(\.id) + (options.hasRandomMergeIDs ? [random.next()] : []), state)
  }

  private static func id(_ numbers: [UInt64], _ state: ModelState) -> UInt64 {
    var id: UInt64 = 0
    func mix(_ number: UInt64) {
      var generator = SeededRandom(seed: id &+ number &* 0x9e37_79b9)
      id = generator.next()
    }
    for number in numbers { mix(number) }
    for row in state {
      for cell in row ?? [ModelCell(value: -1, time: 0, writer: 0)] {
        mix(UInt64(bitPattern: Int64(cell.value)))
        mix(UInt64(bitPattern: Int64(cell.time)))
      }
    }
    return id
  }

  // MARK: The end

  /// Has all replicas give each other everything and merge it, at the same time, until all have the same head.
  ///
  /// - Returns: In how many rounds; nil if they were not enough.
  func settle(rounds limit: Int) -> Int? {
    for round in 0...limit {
      for place in replicas.indices { mergeAll(place) }
      if isSettled { return round }
      var all = NumberSet()
      for replica in replicas { all.formUnion(replica.known) }
      for place in replicas.indices { replicas[place].known = all }
    }
    return nil
  }

  var isSettled: Bool {
    let heads = replicas.indices.map { place in self.heads(of: place).map(\.number) }
    return heads.allSatisfy { $0 == heads[0] } && heads[0].count <= 1
  }

  /// Whether some replica does not hold what the rows' only writers have left.
  var hasLost: Bool {
    replicas.contains { replica in
      expected.indices.contains { row in
        (replica.head?.state[row] ?? nil)?.map(\.value) != expected[row]
      }
    }
  }
}

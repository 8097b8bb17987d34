import CloudSyncCore

/// How a column of the model is merged.
enum ModelPolicy: CaseIterable {
  case newest, maximum, counter

  /// The merged value of two that both sides have set, or added to.
  func merge(_ ours: ModelCell, _ theirs: ModelCell, base: Int?) -> Int {
    let newer =
      ours.time == theirs.time
      ? (Self.precedes(ours.value, theirs.value) ? theirs.value : ours.value)
      : ours.time > theirs.time ? ours.value : theirs.value
    return switch self {
    case .newest: newer
    case .maximum: max(ours.value, theirs.value)
    case .counter: ours.value + theirs.value - (base ?? 0)
    }
  }
}

extension ModelPolicy {
  /// Of two values of one time the one with the later bytes counts.
  fileprivate static func precedes(_ one: Int, _ other: Int) -> Bool {
    FieldValue.int64(Int64(one)).codedBytes
      .lexicographicallyPrecedes(FieldValue.int64(Int64(other)).codedBytes)
  }
}

/// How rows of the model are merged.
struct ModelPolicies {
  var columns: [ModelPolicy]
  var isDeletionStronger = false
  /// What a handler of the app would answer: the smaller value, whatever the policy.
  var takesSmaller = false
  /// A mistake: the older value counts.
  var takesOlder = false

  static func newest(columns: Int) -> ModelPolicies {
    ModelPolicies(columns: Array(repeating: .newest, count: columns))
  }
}

/// A mistake that a merge could make.
enum ModelFlaw: CaseIterable {
  /// Of several bases the first alone is taken.
  case oneOfSeveral
  /// Each base is merged with the common ancestors of it and the first alone.
  case firstAndNext
  /// What a merge writes is as new as the merge.
  case ownTime
  /// Which side is the first depends on the order in which the heads came.
  case unsortedParents
  /// Which value counts depends on who merges.
  case winnerByReplica
}

/// The merge as the specification has it, made of whole states: slow, and plain enough to be believed.
final class MergeModel {
  let flaw: ModelFlaw?
  let columnCount: Int
  private(set) var commits: [ModelCommit] = []
  private var virtualCount = 0
  private var virtualBases: [String: ModelCommit] = [:]
  /// How many merges had more than one base, and more than two.
  private(set) var mergesWithTwoBases = 0
  private(set) var mergesWithMoreBases = 0

  init(flaw: ModelFlaw? = nil, columnCount: Int) {
    self.flaw = flaw
    self.columnCount = columnCount
  }

  func add(
    id: UInt64,
    parents: [ModelCommit],
    time: Int,
    isMerge: Bool = false,
    state: (_ number: Int) -> ModelState
  ) -> ModelCommit {
    let number = commits.count
    let commit = ModelCommit(
      number: number,
      id: id,
      parents: parents,
      time: time,
      isMerge: isMerge,
      state: state(number)
    )
    commits.append(commit)
    return commit
  }

  // MARK: Bases

  /// The common ancestors of a commit and some others that no other common ancestor descends from, in order.
  func bestCommonAncestors(of commit: ModelCommit, and others: [ModelCommit]) -> [ModelCommit] {
    var ancestors = NumberSet()
    for other in others { ancestors.formUnion(other.ancestors) }
    let common = commit.ancestors.intersection(ancestors).members.map { commits[$0] }
    var best: [ModelCommit] = []
    for candidate in common.sorted(by: { $1.precedes($0) })
    where !best.contains(where: { $0.ancestors.contains(candidate.number) }) {
      best.append(candidate)
    }
    return best.sorted { $0.precedes($1) }
  }

  private func base(of bases: [ModelCommit], _ policies: ModelPolicies) -> ModelCommit? {
    guard bases.count > 1, flaw != .oneOfSeveral else { return bases.first }
    let name = "\(policies) \(bases.map(\.number))"
    if let known = virtualBases[name] { return known }
    var merged = bases[0]
    for place in 1..<bases.count {
      let others = flaw == .firstAndNext ? [bases[0]] : Array(bases[..<place])
      let below = bestCommonAncestors(of: bases[place], and: others)
      let policies = hasEdits(beside: [bases[place]], others) ? policies : plain
      merged = virtual(merged, bases[place], base: base(of: below, policies), policies)
    }
    virtualBases[name] = merged
    return merged
  }

  private func virtual(
    _ ours: ModelCommit,
    _ theirs: ModelCommit,
    base: ModelCommit?,
    _ policies: ModelPolicies
  ) -> ModelCommit {
    virtualCount += 1
    let number = 1_000_000 + virtualCount
    let rows = RowMerges(
      base: base,
      first: ours,
      second: theirs,
      policies: policies,
      number: number,
      flaw: flaw
    )
    return ModelCommit(
      number: number,
      id: 0,
      parents: [ours, theirs],
      // It stands where the first of its bases stands.
      time: ours.time,
      isMerge: true,
      isVirtual: true,
      state: rows.state
    )
  }

  // MARK: Merging

  /// The parents of two commits' merge in order, and how to make the merge's state.
  func merge(
    _ one: ModelCommit,
    _ other: ModelCommit,
    _ policies: ModelPolicies
  ) -> (parents: [ModelCommit], state: (_ number: Int) -> ModelState) {
    let isSorted = one.id < other.id || flaw == .unsortedParents
    let (ours, theirs) = isSorted ? (one, other) : (other, one)
    let bases = bestCommonAncestors(of: ours, and: [theirs])
    if bases.count > 1 { mergesWithTwoBases += 1 }
    if bases.count > 2 { mergesWithMoreBases += 1 }
    let policies = hasEdits(beside: [ours], [theirs]) ? policies : plain
    var below = policies
    below.takesSmaller = false
    let base = base(of: bases, below)
    let (mine, other) = (changedCells(from: base, to: ours), changedCells(from: base, to: theirs))
    let (first, second) = other > mine ? (theirs, ours) : (ours, theirs)
    return (
      [first, second],
      { [flaw] number in
        RowMerges(
          base: base,
          first: first,
          second: second,
          policies: policies,
          number: number,
          flaw: flaw
        )
        .state
      }
    )
  }

  /// How commits are merged that have all edits in common: only unlike policies made them differ, and one rule
  /// for all ends the exchange.
  private var plain: ModelPolicies { .newest(columns: columnCount) }

  /// Whether there is an edit that only one of two sides descends from.
  private func hasEdits(beside one: [ModelCommit], _ other: [ModelCommit]) -> Bool {
    var (mine, theirs) = (NumberSet(), NumberSet())
    for commit in one { mine.formUnion(commit.ancestors) }
    for commit in other { theirs.formUnion(commit.ancestors) }
    return (mine.members + theirs.members)
      .contains { !commits[$0].isMerge && mine.contains($0) != theirs.contains($0) }
  }

  private func changedCells(from base: ModelCommit?, to side: ModelCommit) -> Int {
    side.state.indices.reduce(0) { sum, row in
      switch (base?.state[row] ?? nil, side.state[row]) {
      case (nil, nil): sum
      case (nil, _?), (_?, nil): sum + columnCount + 1
      case (let old?, let new?): sum + zip(old, new).count { $0.value != $1.value }
      }
    }
  }
}

/// The rows of one merge.
private struct RowMerges {
  let base: ModelCommit?
  let first: ModelCommit
  let second: ModelCommit
  let policies: ModelPolicies
  /// Of the merge.
  let number: Int
  let flaw: ModelFlaw?

  var state: ModelState {
    first.state.indices.map { row in
      merged(base: base?.state[row] ?? nil, mine: first.state[row], other: second.state[row])
    }
  }

  private func merged(
    base row: [ModelCell]?,
    mine: [ModelCell]?,
    other: [ModelCell]?
  ) -> [ModelCell]? {
    if other.isSame(as: row), mine == nil || row == nil { return mine }
    guard let other else {
      // The second deleted it. What the first left alone goes.
      return mine.isSame(as: row) || policies.isDeletionStronger ? nil : mine
    }
    guard let mine else {
      guard let row else { return other.map { written($0, by: second) } }
      return policies.isDeletionStronger ? nil : restored(other, base: row)
    }
    return mine.indices.map { column in
      cell(
        mine[column],
        other[column],
        base: row?[column],
        policy: policies.columns[column]
      )
    }
  }

  /// A row that the first deleted and the second edited: what was not edited is older than every edit.
  private func restored(_ row: [ModelCell], base: [ModelCell]) -> [ModelCell] {
    var cells = row.map { written($0, by: second) }
    let changed = cells.indices.filter { cells[$0].value != base[$0].value }
    for column in cells.indices where !changed.contains(column) { cells[column].time = 0 }
    return cells
  }

  private func cell(
    _ mine: ModelCell,
    _ other: ModelCell,
    base: ModelCell?,
    policy: ModelPolicy
  ) -> ModelCell {
    if other.value == base?.value {
      guard mine.value == base?.value, isMadeNewer(other),
        !isMadeNewer(mine) || mine.time < other.time
      else { return mine }
      return ModelCell(value: mine.value, time: other.time, writer: number, isNewerOnly: true)
    }
    if mine.value == base?.value { return written(other, by: second) }
    var (own, theirs) = (mine, other)
    own.time = time(of: mine, at: first)
    theirs.time = time(of: other, at: second)
    // Two additions of the same amount are two.
    if mine.value == other.value, policy != .counter || base == nil {
      if theirs.time <= own.time { return mine }
      return ModelCell(value: mine.value, time: theirs.time, writer: number, isNewerOnly: true)
    }
    if policies.takesOlder { (own.time, theirs.time) = (theirs.time, own.time) }
    let value =
      policies.takesSmaller
      ? min(mine.value, other.value) : policy.merge(own, theirs, base: base?.value)
    if value == mine.value { return mine }
    let time = value == other.value ? theirs.time : max(own.time, theirs.time)
    return ModelCell(value: value, time: time, writer: number)
  }

  /// Whether a value has become newer since the base, and nothing else.
  private func isMadeNewer(_ cell: ModelCell) -> Bool {
    cell.isNewerOnly && base?.isBuilt(on: cell.writer) != true
  }

  private func written(_ cell: ModelCell, by side: ModelCommit) -> ModelCell {
    ModelCell(value: cell.value, time: time(of: cell, at: side), writer: number)
  }

  /// When a cell became what it is, on the way from the base: what was written before is a taking back.
  private func time(of cell: ModelCell, at side: ModelCommit) -> Int {
    if flaw == .ownTime, side === second { return max(first.time, second.time) }
    return base?.isBuilt(on: cell.writer) == true ? side.time : cell.time
  }
}

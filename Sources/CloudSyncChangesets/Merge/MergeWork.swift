/// Plans merges; what it finds about bases it keeps for the next ones.
package final class MergeWork {
  private struct BaseName: Hashable {
    var commits: [ChangesetID]
    /// Those that stand for what is common besides.
    var shared: [ChangesetID] = []
    var isPlain: Bool
    var names: PresentNames
  }

  /// Two sides of a history.
  private struct Sides: Hashable {
    var one: [ChangesetID]
    var other: [ChangesetID]
  }

  private let graph: any CommitGraph
  private let rules: MergeRules
  private let handler: RowHandler?
  private var bases: [BaseName: MergeBase] = [:]
  private var searches: [Sides: CommonAncestors] = [:]
  private var migrations: [Sides: [ChangesetID]] = [:]
  /// What has been renamed since what the two commits have in common that are merged now.
  private var names = PresentNames()

  package init(
    _ graph: any CommitGraph,
    rules: MergeRules = MergeRules(),
    handler: RowHandler? = nil
  ) {
    self.graph = graph
    self.rules = rules
    self.handler = handler
  }

  /// Plans the merge of two commits: a function of the commits and the rules.
  package func plan(_ one: ChangesetID, _ other: ChangesetID) throws(ChangesetError) -> MergePlan {
    let (ours, theirs) = one < other ? (one, other) : (other, one)
    let common = try common(one: [ours], other: [theirs])
    names = try graph.presentNames { () throws(ChangesetError) in
      try migrations(one: [ours], other: [theirs])
    }
    let isPlain = !common.hasEditsBeside
    let shared = try SharedOriginals(graph: graph)
      .commits(ours: [ours], theirs: [theirs], common: common.best)
    let base = try base(of: common.best, and: shared, isPlain: isPlain)
    return try plan(base, ours: ours, theirs: theirs, isPlain: isPlain)
  }

  /// Plans the merge over bases that are given, such as a commit which is taken back; none is the empty database.
  ///
  /// No handler is asked, and the changes are against ours.
  ///
  /// - Parameters:
  ///   - bases: The bases.
  ///   - ours: What the changes are against.
  ///   - theirs: What comes to it; nil for the empty database.
  ///   - beside: What others bring to theirs, of which that counts which ours still has as the base had it.
  ///   - known: What leads from the base to ours under the present names, if somebody knows it.
  /// - Returns: The plan.
  /// - Throws: That the history is damaged, or lacks changes.
  package func plan(
    over bases: [ChangesetID],
    ours: ChangesetID,
    theirs: ChangesetID?,
    beside: StateDelta = StateDelta(),
    known: (PresentNames) throws(ChangesetError) -> StateDelta? = { (_) throws(ChangesetError) in
      nil
    }
  ) throws(ChangesetError) -> MergePlan {
    let others = bases + [theirs].compactMap(\.self)
    names = try graph.presentNames { () throws(ChangesetError) in
      var found = try migrations(one: [ours], other: others) + migrations(below: bases)
      // What is taken back may be a migration itself, which both descend from but for theirs.
      if let theirs {
        found += try migrations(one: [ours], other: [theirs]).filter { !found.contains($0) }
      }
      return found
    }
    let base = try base(of: bases, isPlain: false)
    let mine =
      if let known = try known(names) { known } else {
        try graph.changes(from: base, to: MergeBase(commit: ours), as: names)
      }
    let back = try graph.changes(from: base, to: MergeBase(commit: theirs), as: names)
    let other = try composing { () throws(ByteFault) in
      try back.leadingBack(beside: beside, present: mine, rules: rules)
    }
    var merge = DeltaMerge(
      rules: rules,
      isOntoOurs: true,
      starts: starts(over: bases, [ours], [theirs].compactMap(\.self))
    )
    try merge.merge(ours: mine, theirs: other)
    return try plan(merge, ours: ours, theirs: theirs ?? ours, nets: (mine, other))
  }

  /// What a commit brings to a state: all that it has made of what it has in common with another one.
  ///
  /// - Parameters:
  ///   - commit: The commit.
  ///   - side: What a merge has joined with it.
  ///   - state: The state, of the other side.
  /// - Returns: The changes of the state.
  /// - Throws: That the history is damaged, or lacks changes.
  package func changes(
    from commit: ChangesetID,
    mergedWith side: ChangesetID,
    to state: ChangesetID
  ) throws(ChangesetError) -> StateDelta {
    let common = try common(one: [side], other: [commit])
    return try plan(over: common.best, ours: state, theirs: commit).changes
  }

  private func plan(
    _ base: MergeBase,
    ours: ChangesetID,
    theirs: ChangesetID,
    isPlain: Bool
  ) throws(ChangesetError) -> MergePlan {
    let mine = try graph.changes(from: base, to: MergeBase(commit: ours), as: names)
    let other = try graph.changes(from: base, to: MergeBase(commit: theirs), as: names)
    var questions: MergeQuestions?
    if let handler, !isPlain {
      questions = MergeQuestions(graph, handler: handler, ours: ours, theirs: theirs)
    }
    var merge = DeltaMerge(
      rules: isPlain ? rules.plain : rules,
      isOntoOurs: mine.cellCount(without: rules.constants)
        >= other.cellCount(without: rules.constants),
      questions: questions,
      starts: starts(over: base.commits, [ours], [theirs])
    )
    try merge.merge(ours: mine, theirs: other)
    return try plan(merge, ours: ours, theirs: theirs, nets: (mine, other))
  }

  private func plan(
    _ merge: DeltaMerge,
    ours: ChangesetID,
    theirs: ChangesetID,
    nets: (ours: StateDelta, theirs: StateDelta)
  ) throws(ChangesetError) -> MergePlan {
    let headers = (try graph.header(of: ours), try graph.header(of: theirs))
    return MergePlan(
      ours: ours,
      theirs: theirs,
      parents: merge.isOntoOurs ? [ours, theirs] : [theirs, ours],
      generation: max(headers.0.generation, headers.1.generation) + 1,
      time: max(headers.0.time, headers.1.time),
      changes: merge.changes,
      conflicts: merge.conflicts,
      questions: merge.questions?.open ?? [],
      firstNet: merge.isOntoOurs ? nets.ours : nets.theirs,
      secondNet: merge.isOntoOurs ? nets.theirs : nets.ours,
      sharedRows: merge.shared,
      computed: merge.computed,
      rules: merge.rules
    )
  }

  private func starts(
    over bases: [ChangesetID],
    _ ours: [ChangesetID],
    _ theirs: [ChangesetID]
  ) -> CounterStarts {
    CounterStarts(graph: graph, names: names, bases: bases, ours: ours, theirs: theirs)
  }

  // MARK: Migrations

  private func common(
    one: [ChangesetID],
    other: [ChangesetID]
  ) throws(ChangesetError) -> CommonAncestors {
    let sides = Sides(one: one, other: other)
    if let known = searches[sides] { return known }
    let common = try AncestorSearch.search(graph, one: one, other: other)
    searches[sides] = common
    return common
  }

  /// The migrations that only one of two sides descends from, and those between their bases.
  private func migrations(
    one: [ChangesetID],
    other: [ChangesetID]
  ) throws(ChangesetError) -> [ChangesetID] {
    let sides = Sides(one: one, other: other)
    if let known = migrations[sides] { return known }
    let common = try common(one: one, other: other)
    let found = try common.migrationsBeside + migrations(below: common.best)
    migrations[sides] = found
    return found
  }

  private func migrations(below bases: [ChangesetID]) throws(ChangesetError) -> [ChangesetID] {
    var found: [ChangesetID] = []
    for place in bases.indices.dropFirst() {
      found += try migrations(one: [bases[place]], other: Array(bases[..<place]))
    }
    return found
  }

  // MARK: Bases

  /// The base of several best common ancestors: all of them, merged in order.
  private func base(
    of commits: [ChangesetID],
    isPlain: Bool
  ) throws(ChangesetError) -> MergeBase {
    guard commits.count > 1, !HistoryMutant.oneBase.isPresent else {
      return MergeBase(commit: commits.first)
    }
    let name = BaseName(commits: commits, isPlain: isPlain, names: names)
    if let known = bases[name] { return known }
    var merged = MergeBase(commit: commits[0])
    for place in 1..<commits.count {
      // What is common to the next one and to any of those before is no difference of theirs.
      let common = try common(
        one: [commits[place]],
        other: HistoryMutant.baseOfPair.isPresent ? [commits[0]] : Array(commits[..<place])
      )
      let isPlain = isPlain || !common.hasEditsBeside
      let shared = try SharedOriginals(graph: graph)
        .commits(ours: Array(commits[..<place]), theirs: [commits[place]], common: common.best)
      let below = try base(of: common.best, and: shared, isPlain: isPlain)
      merged = try self.merged(merged, with: commits[place], over: below, isPlain: isPlain)
    }
    bases[name] = merged
    return merged
  }

  /// The same with what commits have changed that stand for what is common besides.
  private func base(
    of commits: [ChangesetID],
    and shared: [ChangesetID],
    isPlain: Bool
  ) throws(ChangesetError) -> MergeBase {
    var merged = try base(of: commits, isPlain: isPlain)
    if shared.isEmpty { return merged }
    let name = BaseName(commits: commits, shared: shared, isPlain: isPlain, names: names)
    if let known = bases[name] { return known }
    for id in shared {
      let before = MergeBase(commit: try graph.header(of: id).parents.first)
      merged = try self.merged(merged, with: id, over: before, isPlain: false)
    }
    bases[name] = merged
    return merged
  }

  /// A base with what a commit has changed since another one.
  private func merged(
    _ base: MergeBase,
    with commit: ChangesetID,
    over below: MergeBase,
    isPlain: Bool
  ) throws(ChangesetError) -> MergeBase {
    let mine = try graph.changes(from: below, to: base, as: names)
    let other = try graph.changes(from: below, to: MergeBase(commit: commit), as: names)
    var merge = DeltaMerge(
      rules: isPlain ? rules.plain : rules,
      isOntoOurs: true,
      starts: starts(over: below.commits, base.commits, [commit])
    )
    try merge.merge(ours: mine, theirs: other)
    var merged = base
    merged.others.append(commit)
    merged.delta = try composing { () throws(ByteFault) in
      try base.delta.followed(by: merge.changes)
    }
    return merged
  }
}

/// Finds the originals that both sides of a merge have, each in commits of its own.
///
/// Two replicas may rebase one commit, each onto what it has. Their commits are merges with a second parent that is not
/// in the history: it is a common ancestor of both sides all the same, and counts once. One of the commits that stand
/// for it shows what it was.
struct SharedOriginals {
  let graph: any CommitGraph

  /// The commits that show what two sides have in common besides their best common ancestors, in order.
  func commits(
    ours: [ChangesetID],
    theirs: [ChangesetID],
    common: [ChangesetID]
  ) throws(ChangesetError) -> [ChangesetID] {
    if HistoryMutant.countedTwice.isPresent { return [] }
    let known = try rebased(before: common)
    let mine = try rebased(before: ours).subtracting(known)
    let others = try rebased(before: theirs).subtracting(known)
    let shared = Self.originals(of: mine).intersection(Self.originals(of: others))
    if shared.isEmpty { return [] }
    // One that stands for more than both have would take away what only one side has.
    var candidates: [(commit: RebasedCommit, generation: Int64)] = []
    for commit in mine.union(others) where commit.originals.isSubset(of: shared) {
      candidates.append((commit, try graph.header(of: commit.id).generation))
    }
    candidates.sort { one, other in
      let (mine, theirs) = (one.commit.originals.count, other.commit.originals.count)
      if mine != theirs { return mine > theirs }
      return (one.generation, one.commit.id) < (other.generation, other.commit.id)
    }
    var covered: Set<ChangesetID> = []
    var chosen: [(commit: RebasedCommit, generation: Int64)] = []
    for candidate in candidates where covered.isDisjoint(with: candidate.commit.originals) {
      covered.formUnion(candidate.commit.originals)
      chosen.append(candidate)
    }
    return chosen.sorted { ($0.generation, $0.commit.id) < ($1.generation, $1.commit.id) }
      .map(\.commit.id)
  }

  private func rebased(before commits: [ChangesetID]) throws(ChangesetError) -> Set<RebasedCommit> {
    var result: Set<RebasedCommit> = []
    for id in commits { result.formUnion(try graph.doubles(before: id)) }
    return result
  }

  private static func originals(of commits: Set<RebasedCommit>) -> Set<ChangesetID> {
    commits.reduce(into: []) { $0.formUnion($1.originals) }
  }
}

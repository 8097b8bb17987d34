/// The heads of branches, without merges that nobody needs any more.
///
/// A merge that nobody has gone on from stays a head of the log where its replica migrates what it had merged: nothing can
/// be made of it any more, since only the tables of its schema could have its rows. It has nothing of its own, so it is
/// passed over where other heads have all that it has merged.
struct BranchHeads {
  let work: HistoryWork

  /// Those of a branch, or of all.
  func heads(ofBranch branch: Int64? = nil) throws(ChangesetError) -> [Heads.Head] {
    try needed(among: work.heads.heads(ofBranch: branch))
  }

  /// Those of a branch that can be merged and gone to: those that are not beside the horizon.
  func joinable(ofBranch branch: Int64) throws(ChangesetError) -> [Heads.Head] {
    try needed(among: work.heads.joinable(ofBranch: branch))
  }

  private func needed(among heads: [Heads.Head]) throws(ChangesetError) -> [Heads.Head] {
    guard heads.count > 1 else { return heads }
    let left = try heads.filtered { (head) throws(ChangesetError) in
      try isLeftMerge(work.log.row(head.seq), allowing: [.merge])
    }
    if left.isEmpty { return heads }
    let others = heads.filter { head in !left.contains { $0.seq == head.seq } }
    let needless = try left.filtered { (head) throws(ChangesetError) in
      try have(
        all: head.seq,
        among: others.filter { $0.branch == head.branch }.map(\.seq)
      )
    }
    return heads.filter { head in !needless.contains { $0.seq == head.seq } }
  }

  /// Whether a commit has nothing of its own, and a schema that a migration to a known one has left behind.
  private func isLeftMerge(
    _ row: LogRow,
    allowing kinds: Set<CommitHeader.Kind>
  ) throws(ChangesetError) -> Bool {
    guard kinds.contains(row.kind), try work.knows(schema: row.schema) == false else {
      return false
    }
    return try work.isLeft(schema: row.schema)
  }

  /// Whether other heads have every edit that a merge goes on from.
  private func have(all merge: Int64, among others: [Int64]) throws(ChangesetError) -> Bool {
    var open = try work.log.row(merge).parents
    var seen = Set(open)
    while let next = open.popLast() {
      let holders = try others.filtered { (other) throws(ChangesetError) in
        try work.log.isAncestor(ancestor: next, of: other)
      }
      guard holders.isEmpty else { continue }
      let row = try work.log.row(next)
      guard try isLeftMerge(row, allowing: [.merge, .migration]) else { return false }
      for parent in row.parents where seen.insert(parent).inserted { open.append(parent) }
    }
    return true
  }
}

extension HistoryWork {
  /// The heads of branches, without merges that nobody needs any more.
  var branchHeads: BranchHeads { BranchHeads(work: self) }
}

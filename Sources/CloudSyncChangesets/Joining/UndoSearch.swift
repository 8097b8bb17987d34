/// Finds what undo takes back and redo puts back: this replica's own commits only.
///
/// A commit that takes one back is an undoing, one that takes that back a redoing, and so on.
struct UndoSearch {
  let work: HistoryWork

  /// The last commit of this replica that is not taken back, besides those of which nothing is left to take back; nil if
  /// there is none.
  func undoable(besides void: Set<ChangesetID> = []) throws(ChangesetError) -> LogRow? {
    try search(besides: void) { depth in depth % 2 == 0 ? .found : .passed }
  }

  /// The last undoing that nothing new was committed after; nil if there is none.
  func redoable() throws(ChangesetError) -> LogRow? {
    try search { depth in depth % 2 == 1 ? .found : depth == 0 ? .ended : .passed }
  }

  private enum Step {
    case found, passed, ended
  }

  private func search(
    besides void: Set<ChangesetID> = [],
    step: (Int) -> Step
  ) throws(ChangesetError) -> LogRow? {
    let replica = try work.replica()
    var takenBack: Set<ChangesetID> = []
    var found: LogRow?
    var walk = try HistoryWalk(work: work).steps(from: try work.heads.position().seq)
    while let row = try walk.next() {
      guard row.kind == .edit else { continue }
      // What lost its changes can neither be taken back nor put back.
      guard try work.log.body(seq: row.seq) != nil,
        try SnapshotRoots(connection: work.connection).contains(seq: row.seq) == false
      else { return nil }
      let commit = try work.changeset(row: row)
      guard commit.replica == replica, !takenBack.contains(row.id) else { continue }
      // The rows that were there before the history are no step of anybody's.
      if ImportMark.part(of: commit.meta) != nil { return nil }
      if let reverts = commit.reverts { takenBack.insert(reverts) }
      if void.contains(row.id) { continue }
      switch step(try depth(commit: commit, replica: replica)) {
      case .found: found = row
      case .passed: continue
      case .ended: return nil
      }
      break
    }
    return found
  }

  /// How many own commits each take the one before back, down to one that does not.
  private func depth(commit: Changeset, replica: String) throws(ChangesetError) -> Int {
    var (depth, next) = (0, commit)
    while let target = next.reverts, let seq = try work.log.number(of: target) {
      next = try work.changeset(row: try work.log.row(seq))
      guard next.replica == replica else { break }
      depth += 1
    }
    return depth
  }
}

/// Finds what undo takes back and redo puts back: this replica's own commits only.
///
/// What undo commits is no step, and can be redone until a step follows; what ``ChangesetRepository/revert(_:keeping:meta:)``
/// commits is a step like any other.
struct UndoSearch {
  let work: HistoryWork

  /// The last step of this replica that is not taken back, besides those of which nothing is left to take back; nil if
  /// there is none.
  func undoable(besides void: Set<ChangesetID> = []) throws(ChangesetError) -> LogRow? {
    try search(besides: void) { mark in mark == .undo ? .passed : .found }
  }

  /// The last undoing that no step was committed after; nil if there is none.
  func redoable() throws(ChangesetError) -> LogRow? {
    try search { mark in
      switch mark {
      case .undo: .found
      case .redo: .passed
      case nil: .ended
      }
    }
  }

  private enum Step {
    case found, passed, ended
  }

  private func search(
    besides void: Set<ChangesetID> = [],
    step: (StepMark?) -> Step
  ) throws(ChangesetError) -> LogRow? {
    let isOwn = try ReplicaName(work: work).ownership()
    var takenBack: Set<ChangesetID> = []
    var walk = try HistoryWalk(work: work).steps(from: try work.heads.position().seq)
    while let row = try walk.next() {
      guard row.kind == .edit else { continue }
      // What lost its changes can neither be taken back nor put back.
      guard try work.log.body(seq: row.seq) != nil,
        try SnapshotRoots(connection: work.connection).contains(seq: row.seq) == false
      else { return nil }
      let commit = try work.changeset(row: row)
      guard let replica = commit.replica, isOwn(row.seq, replica), !takenBack.contains(row.id)
      else { continue }
      // The rows that were there before the history are no step of anybody's.
      if ImportMark.part(of: commit.meta) != nil { return nil }
      if let reverts = commit.reverts { takenBack.insert(reverts) }
      if void.contains(row.id) { continue }
      switch step(commit.reverts == nil ? nil : StepMark(meta: commit.meta)) {
      case .found: return row
      case .passed: continue
      case .ended: return nil
      }
    }
    return nil
  }
}

import CloudSyncSQLite

/// The state that two commits are merged over: that of a commit, or one that several were merged into in memory.
struct MergeBase: Sendable {
  /// Nil for the empty database.
  var commit: ChangesetID?
  /// What leads from the commit's state to it.
  var delta = StateDelta()
}

extension CommitGraph {
  /// The net changes from a base to another.
  func changes(from base: MergeBase, to end: MergeBase) throws(ChangesetError) -> StateDelta {
    let path = try changes(from: base.commit, to: end.commit)
    if base.delta.isEmpty, end.delta.isEmpty { return path }
    let time = if let id = end.commit { try header(of: id).time } else { HybridTime.zero }
    return try composing { () throws(ByteFault) in
      var fold = DeltaFold()
      try fold.add(base.delta.inverted(at: time))
      try fold.add(path)
      try fold.add(end.delta)
      return fold.result
    }
  }
}

/// Runs a body that puts changes together: what does not follow is of no history.
func composing<Value>(_ body: () throws(ByteFault) -> Value) throws(ChangesetError) -> Value {
  do throws(ByteFault) { return try body() } catch {
    throw ChangesetError(
      .damaged,
      "commits of the history do not follow each other; “verify” tells more"
    )
  }
}

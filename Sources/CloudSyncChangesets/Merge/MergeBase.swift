import CloudSyncSQLite

/// The state that two commits are merged over: that of a commit, or one that several were merged into in memory.
struct MergeBase: Sendable {
  /// Nil for the empty database.
  var commit: ChangesetID?
  /// What leads from the commit's state to it.
  var delta = StateDelta()
  /// The commits that were merged into it besides, in order.
  var others: [ChangesetID] = []

  /// All commits that a row of it may come from.
  var commits: [ChangesetID] { [commit].compactMap(\.self) + others }
}

extension CommitGraph {
  /// The net changes from a base to another.
  func changes(
    from base: MergeBase,
    to end: MergeBase,
    as names: PresentNames
  ) throws(ChangesetError) -> StateDelta {
    let time = if let id = end.commit { try header(of: id).time } else { HybridTime.zero }
    let path = try changes(
      after: base.delta.inverted(at: time),
      from: base.commit,
      to: end.commit,
      as: names
    )
    if end.delta.isEmpty { return path }
    return try composing { () throws(ByteFault) in try path.followed(by: end.delta) }
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

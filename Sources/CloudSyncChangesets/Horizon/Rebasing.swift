import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// Puts what commits beside the horizon have changed on top of those that go on from it.
struct Rebasing {
  let work: HistoryWork

  /// How this copy is to the horizon.
  enum Standing: Sendable, Hashable {
    /// Nothing is to be done.
    case current
    /// The rows are those of a commit before the horizon, and all that was changed here is in the history.
    case lagging
    /// So many heads hold what the others' history has not.
    case behind(Int)
  }

  func standing() throws(ChangesetError) -> Standing {
    guard let horizon = try Horizon(work.connection) else { return .current }
    let beside = try work.heads.beside()
    if !beside.isEmpty { return .behind(beside.count) }
    let position = try work.heads.position()
    guard !position.isDetached, let seq = position.seq else { return .current }
    let head = try work.log.row(seq)
    if horizon.includes(head) { return .current }
    return try work.log.isAncestor(ancestor: seq, of: horizon.row.seq) ? .current : .lagging
  }

  /// Does it for all heads, and moves the rows unless an older commit is looked at; returns the commits that were made.
  func run() throws(ChangesetError) -> [LogRow] {
    guard let horizon = try Horizon(work.connection), try standing() != .current else { return [] }
    let position = try work.heads.position()
    if !position.isDetached { try work.checkNothingIsUncommitted() }
    try keepStart(of: position, horizon: horizon)
    var made: [LogRow] = []
    var heads: [LogRow] = []
    var beginnings: [(branch: Int64, at: LogRow)] = []
    for head in try work.heads.beside() {
      let old = try work.log.row(head.seq)
      if old.branch == head.branch {
        heads.append(old)
      } else {
        beginnings.append((head.branch, old))
      }
    }
    var placed: Placed = [:]
    for old in try withForks(of: heads) {
      let target = try target(for: old, placed: placed, horizon: horizon)
      let row = try rebase(row: old, onto: target, placed: placed)
      placed[old.seq] = row
      try work.heads.remove(seq: old.seq, branch: old.branch)
      if row.seq != target.seq {
        try work.heads.replace(by: row, after: [target])
        made.append(row)
      } else if try work.heads.heads(ofBranch: old.branch).isEmpty {
        try work.heads.add(target.seq, branch: old.branch)
      }
    }
    // What was begun on them, and has no commit of its own, begins where they are now.
    for (branch, old) in beginnings {
      try work.heads.begin(branch: branch, at: target(branch: old.branch, horizon: horizon).seq)
    }
    // Whoever looks at an older commit goes on looking at it.
    if position.isDetached { return made }
    let end = try target(branch: position.branch, horizon: horizon)
    if try work.heads.heads(ofBranch: position.branch).isEmpty {
      try work.heads.add(end.seq, branch: position.branch)
    }
    try Moving(work: work).move(to: end.seq)
    return made
  }

  /// What commits beside the horizon are on top of it.
  typealias Placed = [Int64: LogRow]

  /// What a commit is put on: the head of its branch, with what the commit goes on from.
  private func target(
    for row: LogRow,
    placed: Placed,
    horizon: Horizon
  ) throws(ChangesetError) -> LogRow {
    var target = try target(branch: row.branch, horizon: horizon)
    for base in try bases(of: row, placed: placed) {
      guard let start = placed[base.seq],
        try work.log.isAncestor(ancestor: start.seq, of: target.seq) == false
      else { continue }
      target =
        try work.log.isAncestor(ancestor: target.seq, of: start.seq)
        ? start : try Merging(work).merge(theirs: start, into: target, branch: row.branch)
    }
    return target
  }

  /// The head of a branch that goes on from the horizon; the horizon itself if it has none.
  private func target(branch: Int64, horizon: Horizon) throws(ChangesetError) -> LogRow {
    _ = try Merging(work).mergeAll(branch: branch)
    var heads: [LogRow] = []
    for head in try work.heads.joinable(ofBranch: branch) {
      let row = try work.log.row(head.seq)
      if horizon.includes(row), try work.knows(schema: row.schema) { heads.append(row) }
    }
    guard heads.count < 2 else {
      throw ChangesetError(
        .unmerged,
        "branch “\(try work.dictionaries.name(number: branch))” has \(heads.count) heads; merge them first"
      )
    }
    let target = heads.first ?? horizon.row
    // Whoever waits for an update can be on no commit of a newer app.
    try work.checkKnown(target)
    return target
  }

  /// What was decided on the way to a commit by others beside the horizon, which nobody will see any more.
  private func lost(
    before row: LogRow,
    placed: Placed
  ) throws(ChangesetError) -> [MergeConflict] {
    var conflicts: [MergeConflict] = []
    var (open, seen): ([LogRow], Set<Int64>) = ([row], [row.seq])
    while let next = open.popLast() {
      guard next.isBeside, placed[next.seq] == nil else { continue }
      if try work.log.body(seq: next.seq) != nil {
        conflicts += try work.log.commit(next).conflicts.filter { !$0.lost.isEmpty }
      }
      for parent in next.parents where seen.insert(parent).inserted {
        open.append(try work.log.row(parent))
      }
    }
    return conflicts
  }

  private func rebase(
    row: LogRow,
    onto target: LogRow,
    placed: Placed
  ) throws(ChangesetError) -> LogRow {
    try work.checkKnown(row)
    let bases = try bases(of: row, placed: placed)
    let plan = try Merging(work).rebase(of: row, over: bases, onto: target)
    let changes = plan.changes.withoutNewerValues
    let conflicts = try Set(plan.conflicts + lost(before: row, placed: placed)).sorted()
    // Where all of it has lost to what the others have done meanwhile there is that to tell.
    if changes.isEmpty, conflicts.allSatisfy(\.lost.isEmpty) { return target }
    let said = try work.changeset(row: row)
    let time = HybridTime.next(after: try work.heads.position().clock, now: work.now)
    let committing = Committing(work: work)
    let commit = try committing.commit(
      of: changes.written(at: time),
      meta: row.kind == .edit ? said.meta : "{}",
      conflicts: conflicts,
      at: time,
      on: target,
      branch: row.branch
    )
    try work.heads.notice(time: time)
    return try committing.store(commit: commit, parents: [target])
  }

  // MARK: Without old changes

  /// Lets the line of HEAD begin with its last commit that others have, where older changes were removed.
  ///
  /// From there on there are changes, and the rows tell the state.
  private func keepStart(
    of position: Heads.Position,
    horizon: Horizon
  ) throws(ChangesetError) {
    guard let seq = position.seq, let base = try start(of: try work.log.row(seq)),
      try work.log.isAncestor(ancestor: base.seq, of: horizon.row.seq) == false
    else { return }
    do throws(ChangesetError) {
      _ = try work.log.changes(from: nil, to: base.seq)
      return
    } catch { guard error.code == .historyTooShort else { throw error } }
    let making = SnapshotMaking(work: work)
    let schema = try work.dictionaries.schema(number: base.schema)
    let state = try making.state(of: base, schema: schema)
    var header = try work.log.header(row: base)
    let said = try work.changeset(row: base)
    header.parents = []
    (header.replica, header.meta, header.reverts) = (said.replica ?? "", said.meta, said.reverts)
    let body = CommitWriter.body(of: Commit(header: header, changes: state))
    try SnapshotRoots(connection: work.connection)
      .keep(
        root: .init(
          seq: base.seq,
          head: CommitWriter.head(of: header),
          body: [],
          fills: try StateFrames(work.connection).frame(of: base).fills,
          below: try making.below(row: base)
        )
      )
    try work.log.begin(with: base.seq, body: body)
    try StateFrames.forget(work.connection)
  }
}

extension CommitLog {
  /// Lets a line begin with a commit, whose changes are its whole state then.
  fileprivate func begin(with seq: Int64, body: [UInt8]) throws(ChangesetError) {
    try connection.run(
      "UPDATE changesets_log SET parent = NULL, merged = NULL, body = ?2 WHERE seq = ?1",
      .integer(seq),
      .blob(body)
    )
  }
}

import CloudSyncSQLite
import CloudSyncSQLiteSupport

// The commit that stands for others.
extension Rebasing {
  /// The commits that one is made of which nobody else has: those beside the horizon that nothing stands for yet.
  private func open(before row: LogRow, placed: Placed) throws(ChangesetError) -> [LogRow] {
    var found: [LogRow] = []
    var (open, seen): ([LogRow], Set<Int64>) = ([row], [row.seq])
    while let next = open.popLast() {
      guard placed.isOpen(next) else { continue }
      found.append(next)
      for source in try placed.sources(of: next) where seen.insert(source.seq).inserted {
        open.append(source)
      }
    }
    return found
  }

  /// What was decided by commits that nobody will see any more.
  private func lost(by commits: [LogRow]) throws(ChangesetError) -> [MergeConflict] {
    var conflicts: [MergeConflict] = []
    for row in commits where try work.log.body(seq: row.seq) != nil {
      conflicts += try work.log.commit(row).conflicts.filter { !$0.lost.isEmpty }
    }
    return conflicts
  }

  /// Makes the commit that stands for those which one is made of: a function of these and the target, so that all who
  /// put them there make the same.
  ///
  /// Where nothing of them is left to change there is one as well: it tells the others that nothing is missing.
  func rebase(
    row: LogRow,
    onto target: LogRow,
    placed: Placed,
    _ migrated: MigratedCommits,
    _ line: RebaseLine
  ) throws(ChangesetError) -> LogRow {
    let bases = try bases(of: row, placed: placed)
      .map { (base) throws(ChangesetError) in
        try migrated.comparable(base)
      }
    // What its maker's migration would make of it is named too: nothing is left to do for that either.
    let top = try migrated.readable(row)
    let plan = try Merging(work).rebase(of: top, over: bases, onto: target, along: line)
    let commits = try open(before: row, placed: placed)
    let originals = try originals(of: commits, placed)
    var header = CommitHeader(
      kind: .edit,
      schema: work.tables.id,
      parents: [target.id],
      generation: target.generation + 1,
      time: HybridTime.next(after: max(target.time, row.time), now: 0),
      replica: try maker(of: commits),
      branch: try work.dictionaries.name(number: row.branch),
      originals: top.seq == row.seq ? originals : (originals + [top.id]).sorted(),
      meta: try meta(of: row),
      stateHash: target.stateHash
    )
    let changes = try DefaultFills(work: work).stating(changes: plan.changes, after: target)
    let frames = try StateFrames(work.connection)
    try frames.keep()
    header.stateHash = target.stateHash.adding(
      changes,
      from: try frames.frame(of: target),
      to: try frames.frame(of: try work.schemaNumber(), after: target)
    )
    let conflicts = try Set(plan.conflicts + lost(by: commits)).sorted()
    let commit = Commit(header: header, changes: changes, conflicts: conflicts)
    let made = try Committing(work: work).store(commit: commit, parents: [target])
    try work.heads.notice(time: made.time)
    return made
  }

  /// What is said of a commit, unless that is true of the commit alone.
  private func meta(of row: LogRow) throws(ChangesetError) -> String {
    guard row.kind == .edit else { return "{}" }
    let meta = try work.changeset(row: row).meta
    return RestoreMark(meta: meta) == nil && StepMark(meta: meta) == nil ? meta : "{}"
  }

  /// Who has made the latest edit of some commits; this copy where none is an edit.
  private func maker(of commits: [LogRow]) throws(ChangesetError) -> String {
    let edits = commits.filter { $0.kind == .edit }
    let last = edits.max { ($0.generation, $0.id) < ($1.generation, $1.id) }
    if let last, let name = try work.changeset(row: last).replica { return name }
    return try work.replica()
  }

  /// What a commit stands for that is made of others: these, and in place of those that stand for others what of that is not
  /// in the history yet.
  private func originals(
    of commits: [LogRow],
    _ placed: Placed
  ) throws(ChangesetError) -> [ChangesetID] {
    var originals: Set<ChangesetID> = []
    for row in commits {
      if placed.covered.originals[row.seq] == nil {
        originals.insert(row.id)
      } else {
        originals.formUnion(try placed.missing(of: row))
      }
    }
    return originals.sorted()
  }
}

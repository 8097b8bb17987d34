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
    let made = try put(heads: heads, onTopOf: horizon)
    // What was begun on them, and has no commit of its own, begins where they are now.
    for (branch, old) in beginnings {
      try work.heads.begin(branch: branch, at: target(branch: old.branch, horizon: horizon).seq)
    }
    try follow(position: position, horizon: horizon)
    return made
  }

  /// Moves the rows to the head of their branch; whoever looks at an older commit goes on looking at it.
  func follow(position: Heads.Position, horizon: Horizon) throws(ChangesetError) {
    if position.isDetached { return }
    let end = try target(branch: position.branch, horizon: horizon)
    if try work.heads.heads(ofBranch: position.branch).isEmpty {
      try work.heads.add(end.seq, branch: position.branch)
    }
    try Moving(work: work).move(to: end.seq)
  }

  /// Makes commits on top of the others' history of what heads beside the horizon have, and returns them.
  func put(heads: [LogRow], onTopOf horizon: Horizon) throws(ChangesetError) -> [LogRow] {
    var placed = try RebasedCommits(connection: work.connection).places()
    var made: [LogRow] = []
    for old in try withForks(of: heads) {
      try work.heads.remove(seq: old.seq, branch: old.branch)
      if placed[old.seq] != nil { continue }
      let target = try target(for: old, placed: placed, horizon: horizon)
      let row = try rebase(row: old, onto: target, placed: placed)
      placed[old.seq] = row
      try work.heads.replace(by: row, after: [target])
      made.append(row)
    }
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

  /// The commits that one is made of which nobody else has: those beside the horizon that nothing stands for yet.
  private func open(before row: LogRow, placed: Placed) throws(ChangesetError) -> [LogRow] {
    var found: [LogRow] = []
    var (open, seen): ([LogRow], Set<Int64>) = ([row], [row.seq])
    while let next = open.popLast() {
      guard next.isBeside, placed[next.seq] == nil else { continue }
      found.append(next)
      for source in try sources(of: next) where seen.insert(source.seq).inserted {
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
  private func rebase(
    row: LogRow,
    onto target: LogRow,
    placed: Placed
  ) throws(ChangesetError) -> LogRow {
    try work.checkKnown(row)
    let bases = try bases(of: row, placed: placed)
    let plan = try Merging(work).rebase(of: row, over: bases, onto: target)
    let commits = try open(before: row, placed: placed)
    var header = CommitHeader(
      kind: .edit,
      schema: work.tables.id,
      parents: [target.id],
      generation: target.generation + 1,
      time: HybridTime.next(after: max(target.time, row.time), now: 0),
      replica: try maker(of: commits),
      branch: try work.dictionaries.name(number: row.branch),
      originals: try originals(of: commits),
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

  /// What a commit stands for that is made of others: these, and what they stand for themselves that is not here.
  private func originals(of commits: [LogRow]) throws(ChangesetError) -> [ChangesetID] {
    var originals = Set(commits.map(\.id))
    let known = try RebasedCommits(connection: work.connection)
      .originals(of: Set(commits.map(\.seq)))
    for id in known.values.joined() where try work.log.number(of: id) == nil { originals.insert(id) }
    return originals.sorted()
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
    let schema = try work.dictionaries.schema(number: base.schema)
    try Beginnings(work: work)
      .begin(
        with: base,
        state: SnapshotMaking(work: work).state(of: base, schema: schema),
        fills: StateFrames(work.connection).frame(of: base).fills
      )
  }
}

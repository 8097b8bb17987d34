import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// Puts what commits beside the horizon have changed on top of those that go on from it.
struct Rebasing {
  let work: HistoryWork
  /// What was made of commits of older schemas.
  var migrated: MigratedCommits.Made = [:]

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
    let open = try work.heads.beside()
    if !open.isEmpty { return .behind(open.count) }
    if try work.heads.allBeside().isEmpty == false { return .lagging }
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
    let covered = try CoveredCommits(work.connection)
    var beginnings: [(branch: Int64, at: LogRow)] = []
    for head in try work.heads.allBeside() {
      let old = try work.log.row(head.seq)
      if old.branch != head.branch {
        beginnings.append((head.branch, old))
      } else if try covered.isDone(old) {
        try work.heads.remove(seq: head.seq, branch: head.branch)
      } else {
        heads.append(old)
      }
    }
    let made = try putAndKeep(onTopOf: horizon, branch: nil) { heads }
    // What was begun on them, and has no commit of its own, begins where they are now.
    let put = try CoveredCommits(work.connection)
    for (branch, old) in beginnings where try put.isDone(old) {
      let ends = try work.heads.ends(ofBranch: branch)
        .filtered { (seq) throws(ChangesetError) in try work.log.row(seq).isBeside == false }
      if ends.isEmpty {
        try work.heads.begin(branch: branch, at: target(branch: old.branch, horizon: horizon).seq)
      } else {
        try work.heads.remove(seq: old.seq, branch: branch)
      }
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

  /// Makes commits on top of the others' history of what commits beside the horizon have, and returns them.
  ///
  /// What is needed for that and is not here, such as what others' commits go on from, is in the log meanwhile.
  ///
  /// - Parameters:
  ///   - horizon: The horizon.
  ///   - branch: The branch whose heads are put there, with what they have in common with others; nil for all.
  ///   - heads: Brings the commits into the log, and gives those that no others of them go on from.
  /// - Returns: The commits.
  /// - Throws: Why they cannot be made.
  func putAndKeep(
    onTopOf horizon: Horizon,
    branch: String?,
    heads: () throws(ChangesetError) -> [LogRow]
  ) throws(ChangesetError) -> [LogRow] {
    let commits = try work.connection.undoing { () throws(ChangesetError) in
      let heads = try heads()
      let last = try work.connection.integer("SELECT max(seq) FROM changesets_log") ?? 0
      try put(heads: heads, ofBranch: branch, onTopOf: horizon)
      return try self.commits(after: last)
    }
    var made: [LogRow] = []
    for commit in commits {
      let parents = try commit.header.parents.map { (id) throws(ChangesetError) in
        try work.log.row(try HistoryGraph(work).number(id: id))
      }
      let row = try Committing(work: work).store(commit: commit, parents: parents)
      try work.heads.replace(by: row, after: parents)
      try work.heads.notice(time: row.time)
      if !commit.header.originals.isEmpty { made.append(row) }
    }
    return made
  }

  /// The commits that were made since another one and go on from the horizon, as they were written.
  private func commits(after seq: Int64) throws(ChangesetError) -> [Commit] {
    let numbers = try work.connection.rows(
      "SELECT seq FROM changesets_log WHERE seq > ?1 AND remote <> 2 ORDER BY seq",
      .integer(seq)
    ) { $0.integer(0) }
    return try numbers.map { (seq) throws(ChangesetError) in
      try work.log.written(row: try work.log.row(seq))
    }
  }

  /// Makes the commits.
  ///
  /// Those wait that have tables or columns which the app here lacks, unless these are all.
  private func put(
    heads: [LogRow],
    ofBranch name: String?,
    onTopOf horizon: Horizon
  ) throws(ChangesetError) {
    let migrated = MigratedCommits(work: work, made: migrated)
    var (ready, obstacle): ([LogRow], ChangesetError?) = ([], nil)
    for head in heads {
      do throws(ChangesetError) {
        _ = try migrated.readable(head)
        ready.append(head)
      } catch {
        guard error.code == .needsUpgrade else { throw error }
        obstacle = error
      }
    }
    let branch = try name.map { (name) throws(ChangesetError) in
      try work.dictionaries.number(forName: name)
    }
    let wanted = ready.filter { branch == nil || $0.branch == branch }
    if wanted.isEmpty, let obstacle { throw obstacle }
    var placed = try Placed(work)
    let line = RebaseLine(work)
    let required = Set(try withForks(of: ready).map(\.seq))
    for old in try OpenCommits(work: work, heads: ready, placed).ends(before: wanted) {
      if try placed.take(doubled: old) { continue }
      // What no app can read any more goes with what was made of it.
      if !required.contains(old.seq), try migrated.has(old) == false { continue }
      let target = try target(for: old, placed: placed, horizon: horizon)
      let row = try rebase(row: old, onto: target, placed: placed, migrated, line)
      placed.add([row], for: old)
      try work.heads.replace(by: row, after: [target])
    }
  }

  /// What a commit is put on: the head of its branch, with what the commit goes on from.
  private func target(
    for row: LogRow,
    placed: Placed,
    horizon: Horizon
  ) throws(ChangesetError) -> LogRow {
    var target = try target(branch: row.branch, horizon: horizon)
    for base in try bases(of: row, placed: placed) {
      // What stands for it may be from before the horizon, which has all of that then.
      for start in placed[base.seq] ?? [] where horizon.includes(start) {
        if try isBefore(start, target) { continue }
        target =
          try work.log.isAncestor(ancestor: target.seq, of: start.seq)
          ? start : try Merging(work).merge(theirs: start, into: target, branch: row.branch)
      }
    }
    return target
  }

  /// Whether a commit is another one or before it, be it before what its line begins with here.
  private func isBefore(_ row: LogRow, _ other: LogRow) throws(ChangesetError) -> Bool {
    if try work.log.isAncestor(ancestor: row.seq, of: other.seq) { return true }
    let roots = try SnapshotRoots(connection: work.connection).all()
    for root in roots where root.contains(row.id) {
      if try work.log.isAncestor(ancestor: root.seq, of: other.seq) { return true }
    }
    return false
  }

  /// The head of a branch that goes on from the horizon; the horizon itself if it has none.
  private func target(branch: Int64, horizon: Horizon) throws(ChangesetError) -> LogRow {
    _ = try Merging(work).mergeAll(branch: branch)
    var heads: [LogRow] = []
    for head in try work.branchHeads.joinable(ofBranch: branch) {
      let row = try work.log.row(head.seq)
      if horizon.includes(row), try work.knows(row) { heads.append(row) }
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

  // MARK: Without old changes

  /// Lets the line of HEAD begin with its last commit that the others' history has, where changes were removed between that
  /// and the horizon.
  ///
  /// From there on there are changes, and the rows tell the state.
  func keepStart(
    of position: Heads.Position,
    horizon: Horizon
  ) throws(ChangesetError) {
    guard let seq = position.seq, let base = try start(of: try work.log.row(seq)),
      try work.log.hasChanges(from: base.seq, to: horizon.row.seq) == false
    else { return }
    let schema = try work.dictionaries.schema(number: base.schema)
    try Beginnings(work: work)
      .begin(
        with: base,
        state: SnapshotMaking(work: work).state(of: base, schema: schema),
        fills: StateFrames(work.connection).frame(of: base).fills
      )
  }
}

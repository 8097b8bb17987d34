import CloudSyncSQLiteSupport

/// Moves the rows from one commit's state to another's.
struct Moving {
  let work: HistoryWork

  /// Makes the rows those of a commit, and HEAD that commit; nil is the empty database.
  ///
  /// Rows that are not committed stay in the way, but of a move to where HEAD is: they go along with it.
  func move(
    to seq: Int64?,
    branch: Int64? = nil,
    isDetached: Bool = false
  ) throws(ChangesetError) {
    var position = try work.heads.position()
    if position.seq != seq { try work.checkNothingIsUncommitted() }
    let target: LogRow? = if let seq { try work.log.row(seq) } else { nil }
    if let target { try work.checkKnown(target) }
    if position.seq != seq {
      try apply(target: target, from: position.seq)
    }
    try work.parked.tidy()
    position.seq = seq
    position.branch = branch ?? position.branch
    position.isDetached = isDetached
    if let target { position.clock = max(position.clock, target.time) }
    try work.heads.set(position)
  }

  /// Throws if the rows cannot become those of a commit, as far as the history tells.
  func check(target: LogRow) throws(ChangesetError) {
    try work.checkKnown(target)
    _ = try work.log.changes(from: try work.heads.position().seq, to: target.seq)
  }

  /// Writes what differs into the tables, and holds the outcome against the commit's hash.
  private func apply(target: LogRow?, from seq: Int64?) throws(ChangesetError) {
    let start: LogRow? = if let seq { try work.log.row(seq) } else { nil }
    let changes = try work.log.changes(from: seq, to: target?.seq)
    let frames = try StateFrames(work.connection)
    let (before, after) = (try frames.frame(of: start), try frames.frame(of: target))
    let ofTables = changes.kept(in: work.tables)
    let hash: StateHash
    // Without rows nothing is left out.
    if start == nil || target == nil || before.isComparable(with: after, all: frames.all) {
      hash = (start?.stateHash ?? .zero).adding(changes, from: before, to: after)
      try check(hash: hash, of: target)
      try work.parking.apply(delta: ofTables)
    } else {
      // One line had a column from its beginning and the other was given it: only all rows tell.
      try work.parking.apply(delta: ofTables)
      hash = try Verification(work: work).rowHash(at: target).hash
      try check(hash: hash, of: target)
    }
  }

  private func check(hash: StateHash, of target: LogRow?) throws(ChangesetError) {
    guard hash == target?.stateHash ?? .zero else {
      throw ChangesetError(
        .damaged,
        "commit \(target?.id.short ?? "") leads to another state than it says; “verify” tells more"
      )
    }
  }
}

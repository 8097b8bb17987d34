import CloudSyncSQLiteSupport

/// What leads from where commits go on to where they are put, for one after the other: both ways grow by what comes to them,
/// and are not read again each time.
final class RebaseLine {
  /// Where one goes on from, and where it is put.
  private struct Ends: Equatable {
    var base: Int64?
    var target: Int64
    var names: PresentNames
  }

  private let log: CommitLog
  private var ends: Ends?
  /// From where both ways part to the one end, and to the other.
  private var toBase = DeltaFold()
  private var toTarget = DeltaFold()
  /// Whether the way has a migration: what that has made is as new as what all of the way has made of a row.
  private var hasMigration = false

  init(_ work: HistoryWork) { log = work.log }

  /// The net changes from a commit to another, as if they were read at once.
  func changes(
    from base: Int64?,
    to target: Int64,
    as names: PresentNames
  ) throws(ChangesetError) -> StateDelta {
    let next = Ends(base: base, target: target, names: names)
    if try goOn(to: next) == false {
      (toBase, toTarget, hasMigration) = (DeltaFold(), DeltaFold(), false)
      let path = try CommitPath(from: base, to: target, in: log)
      try add(path.up.reversed(), to: &toBase, names)
      try add(path.down, to: &toTarget, names)
      ends = next
    }
    if hasMigration { return try log.changes(from: base, to: target, as: names) }
    let time = try log.row(target).time
    return try composing { () throws(ByteFault) in
      try toBase.result.inverted(at: time).followed(by: toTarget.result)
    }
  }

  /// Adds what has come to both ways; false if they do not go on from where they ended.
  private func goOn(to next: Ends) throws(ChangesetError) -> Bool {
    guard let ends, ends.names == next.names else { return false }
    let base = try CommitPath(from: ends.base, to: next.base, in: log)
    guard base.up.isEmpty else { return false }
    let target = try CommitPath(from: ends.target, to: next.target, in: log)
    guard target.up.isEmpty else { return false }
    try add(base.down, to: &toBase, next.names)
    try add(target.down, to: &toTarget, next.names)
    self.ends = next
    return true
  }

  private func add(
    _ commits: some Sequence<LogRow>,
    to fold: inout DeltaFold,
    _ names: PresentNames
  ) throws(ChangesetError) {
    let upgrade = try SchemaUpgrade(log.connection, to: log.schema, names: names)
    for row in commits {
      if row.kind == .migration { hasMigration = true }
      let changes = try log.commit(row, upgrade: upgrade).changes
      try composing { () throws(ByteFault) in try fold.add(changes) }
    }
  }
}

import CloudSyncSQLiteSupport

/// Moves the rows from one commit's state to another's.
struct Moving {
  let work: HistoryWork

  /// Makes the rows those of a commit, and HEAD that commit; nil is the empty database.
  func move(
    to seq: Int64?,
    branch: Int64? = nil,
    isDetached: Bool = false
  ) throws(ChangesetError) {
    try work.checkNothingIsUncommitted()
    var position = try work.heads.position()
    let target: LogRow? = if let seq { try work.log.row(seq) } else { nil }
    try checkSchema(target: target)
    if position.seq != seq {
      let before = try hash(seq: position.seq)
      let changes = try work.log.changes(from: position.seq, to: seq)
      guard before.adding(changes, fills: try work.fills()) == target?.stateHash ?? .zero else {
        throw ChangesetError(
          .damaged,
          "commit \(target?.id.short ?? "") leads to another state than it says; “verify” tells more"
        )
      }
      try work.applying.apply(delta: changes)
    }
    position.seq = seq
    position.branch = branch ?? position.branch
    position.isDetached = isDetached
    if let target { position.clock = max(position.clock, target.time) }
    try work.heads.set(position)
  }

  private func hash(seq: Int64?) throws(ChangesetError) -> StateHash {
    guard let seq else { return .zero }
    return try work.log.row(seq).stateHash
  }

  /// Throws if the tables here cannot hold a commit's state.
  private func checkSchema(target: LogRow?) throws(ChangesetError) {
    guard let target, try work.dictionaries.schemaID(number: target.schema) != work.tables.id else {
      return
    }
    let theirs = try work.dictionaries.schema(number: target.schema)
    try SchemaComparison(mine: work.tables.description, theirs: theirs).checkReadable(id: target.id)
  }
}

import CloudSyncCore
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
    try checkSchema(target)
    if position.seq != seq {
      let before = try hash(position.seq)
      let changes = try work.log.changes(from: position.seq, to: seq)
      guard before.adding(changes, fills: try work.fills()) == target?.stateHash ?? .zero else {
        throw ChangesetError(
          .damaged,
          "commit \(target?.id.short ?? "") leads to another state than it says; “verify” tells more"
        )
      }
      try work.applying.apply(changes)
    }
    position.seq = seq
    position.branch = branch ?? position.branch
    position.isDetached = isDetached
    if let target { position.clock = max(position.clock, target.time) }
    try work.heads.set(position)
  }

  private func hash(_ seq: Int64?) throws(ChangesetError) -> StateHash {
    guard let seq else { return .zero }
    return try work.log.row(seq).stateHash
  }

  private func checkSchema(_ target: LogRow?) throws(ChangesetError) {
    guard let target, try work.dictionaries.schemaID(target.schema) != work.tables.id else {
      return
    }
    let theirs = try work.dictionaries.schema(target.schema)
    try SchemaComparison(mine: work.tables.description, theirs: theirs).checkReadable(target.id)
  }
}

extension HistoryWork {
  var applying: DeltaApplier { DeltaApplier(connection: connection, tables: tables) }
}

extension ChangesetRepository {
  /// Runs a body in a transaction that writes rows as the history has them: foreign keys do nothing meanwhile.
  func move<Value: Sendable>(
    _ body: @Sendable (HistoryWork) throws(ChangesetError) -> Value
  ) throws(ChangesetError) -> Value {
    let (value, head) = try database.use { (connection) throws(ChangesetError) in
      try Self.refuseTransaction(connection)
      return try connection.withoutForeignKeys { () throws(ChangesetError) in
        try connection.transaction { () throws(ChangesetError) in
          let work = try self.work(on: connection)
          let before = try work.heads.position()
          let value = try body(work)
          let isMoved = try work.heads.position() != before
          return (value, isMoved ? try work.head() : nil)
        }
      }
    }
    if let head { headSubject.send(head) }
    return value
  }
}

extension HistoryConnection {
  /// Runs a body outside of transactions during which foreign keys are not enforced.
  func withoutForeignKeys<Value>(
    _ body: () throws(ChangesetError) -> Value
  ) throws(ChangesetError) -> Value {
    guard try integer("PRAGMA foreign_keys") == 1 else { return try body() }
    try execute("PRAGMA foreign_keys = OFF")
    let result: Result<Value, ChangesetError>
    do throws(ChangesetError) { result = .success(try body()) } catch { result = .failure(error) }
    try execute("PRAGMA foreign_keys = ON")
    return try result.get()
  }
}

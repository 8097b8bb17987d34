import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// A history during one call: a connection, the tables as they are declared, and what the app has settled.
struct HistoryWork {
  let connection: HistoryConnection
  let tables: TrackedTables
  let options: ChangesetOptions

  var log: CommitLog { CommitLog(connection: connection, schema: tables.description) }
  var heads: Heads { Heads(connection: connection) }
  var dictionaries: Dictionaries { Dictionaries(connection: connection) }
  var info: Info { Info(connection) }
  var uncommitted: UncommittedRows {
    UncommittedRows(connection: connection, tables: tables)
  }

  var applying: DeltaApplier { DeltaApplier(connection: connection, tables: tables) }
  /// The same for what commits of others may have brought: rows that the tables here refuse are parked.
  var parking: DeltaApplier {
    DeltaApplier(connection: connection, tables: tables, refusals: .parks)
  }
  var parked: ParkedRows { ParkedRows(connection: connection) }

  /// The present in milliseconds since 1970.
  var now: Int64 { options.environment.now().nanoseconds / 1_000_000 }

  /// How many rows are not committed.
  func uncommittedCount() throws(ChangesetError) -> Int {
    try uncommitted.changes(at: .zero).rowCount
  }

  /// Throws if rows differ from those of HEAD.
  func checkNothingIsUncommitted() throws(ChangesetError) {
    let count = try uncommittedCount()
    guard count > 0 else { return try uncommitted.clear() }
    throw ChangesetError(
      .uncommittedChanges,
      "\(count == 1 ? "1 row is" : "\(count) rows are") not committed; commit or discard them first"
    )
  }

  func changeset(row: LogRow) throws(ChangesetError) -> Changeset {
    var header = try log.header(row: row)
    let body = try log.body(seq: row.seq)
    let start =
      if let body { body } else {
        try GoneChanges(connection: connection).preamble(seq: row.seq)
      }
    if let start {
      try reading("commit \(row.id.short)") { () throws(ByteFault) in
        var reader = ByteReader(start)
        try CommitReader.preamble(reader: &reader, header: &header)
      }
    }
    if try log.parentsByBranch(of: row) != row.parents { header.parents.reverse() }
    return Changeset(id: row.id, header, isPushed: row.isRemote)
  }

  func head() throws(ChangesetError) -> Head {
    let position = try heads.position()
    return Head(
      branch: try dictionaries.name(number: position.branch),
      id: try log.id(seq: position.seq),
      isDetached: position.isDetached
    )
  }
}

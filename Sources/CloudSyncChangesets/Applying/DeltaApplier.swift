import CloudSyncSQLite
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Writes changes into the tables, of whose rows it checks that they are what they were.
struct DeltaApplier {
  let connection: HistoryConnection
  let tables: TrackedTables

  private var uncommitted: UncommittedRows {
    UncommittedRows(connection: connection, tables: tables.tables)
  }

  /// Writes changes; nothing is uncommitted before, and nothing is afterwards.
  ///
  /// Triggers of the app run, so that what they keep up to date follows; but a row is what the history says: what
  /// they have changed of it is put back.
  func apply(delta: StateDelta) throws(ChangesetError) {
    let touched = try delta.tables.map { (change) throws(ChangesetError) in
      try table(name: change.name)
    }
    guard touched.contains(where: \.hasAppTriggers) else {
      return try connection.withoutTriggers { () throws(ChangesetError) in try write(delta) }
    }
    try write(delta)
    let actual = try uncommitted.changes(at: .zero)
    let correction = try reading("what triggers have done") { () throws(ByteFault) in
      try actual.inverted(at: .zero).followed(by: delta)
    }
    try connection.withoutTriggers { () throws(ChangesetError) in try write(correction) }
    try uncommitted.clear()
  }

  private func table(name: String) throws(ChangesetError) -> TrackedTable {
    if let table = tables.table(name) { return table }
    throw ChangesetError(
      .needsUpgrade,
      "the history has a table \(name.quotedName), which this database lacks; update the app"
    )
  }

  /// Writes changes while no trigger is called.
  func write(_ delta: StateDelta) throws(ChangesetError) {
    var writers: [TableWriter] = []
    for change in delta.tables {
      writers.append(TableWriter(connection: connection, table: try table(name: change.name)))
    }
    for (writer, change) in zip(writers, delta.tables) {
      for row in change.rows where row.kind == .delete { try writer.delete(change: row) }
    }
    var moved: [(TableWriter, RowDelta)] = []
    for (writer, change) in zip(writers, delta.tables) {
      for row in change.rows where row.kind == .update {
        if let whole = try writer.update(change: row) { moved.append((writer, whole)) }
      }
    }
    for (writer, change) in zip(writers, delta.tables) {
      for row in change.rows where row.kind == .insert { try writer.insert(change: row) }
    }
    // What stood in the way of another row's unique key is free now.
    for (writer, row) in moved { try writer.insert(change: row) }
  }
}

extension HistoryConnection {
  /// Runs a body during which no trigger is called.
  func withoutTriggers<Value>(
    _ body: () throws(ChangesetError) -> Value
  ) throws(ChangesetError) -> Value {
    let result = try failing { () throws(SQLiteError) in
      try sqlite.withoutTriggers { () throws(SQLiteError) -> Result<Value, ChangesetError> in
        do throws(ChangesetError) { return .success(try body()) } catch { return .failure(error) }
      }
    }
    return try result.get()
  }
}

import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

extension EngineWork {
  /// Merges a record that the cloud has into its row, after so many pages.
  func merge(_ one: Incoming, page: Int64) throws(SQLiteError) {
    var row = try present(one)
    let isInFlight = row.isEdited && row.operation != nil
    // What is uploaded again while it waits has no other place to be.
    if !isInFlight || !row.isHeld { row.waitsFor = nil }
    row.payload = nil
    row.page = page
    let values = try rows(of: one.table).values(of: one.key)
    if isInFlight {
      // Whether this tells of the edit already, only the answer says; a counter would count it twice.
      row.payload = one.record
      return try store.save(row)
    }
    if row.isOfOtherRecord(than: one.record) { row.mark(void: 2) }
    guard row.isEdited else { return try take(one, over: values, row) }
    tally.counts.merged += 1
    let merged = merged(row, one.table, values, with: one.version)
    row.former = nil
    row.server = one.record
    row.take(merged)
    row.mark(void: one.void)
    let whole = merged.merged
    let changes = row.shelf == nil ? merged.changesForRow : whole.columns
    switch merged.local {
    case .none:
      row.unshelve()
      try store.save(row)
    case .update, .insert: try write(one, row, values, changes, whole)
    case .replace: try write(one, row, values, whole.columns, whole, replaces: true)
    case .delete: try delete(row, one.table, one.key, values)
    }
  }

  /// What comes of a row's own edits and the cloud's version of it.
  func merged(
    _ row: RowState,
    _ table: SyncTable,
    _ values: [SQLiteValue]?,
    with server: RowVersion
  ) -> RowMerge.Result {
    var server = server
    let former = row.server == nil ? row.former?.rowVersion : nil
    if let ended = former?.createdAt, server.createdAt ?? .zero > ended {
      // The row before this one is gone, and only its deletion was put off.
      server.deletedAt = max(server.deletedAt ?? .zero, ended)
    }
    let acknowledged = row.server?.rowVersion ?? former
    let local = version(of: row, table, values: values, server: acknowledged)
    return RowMerge.merge(
      ancestor: ancestor(of: row, acknowledged, local, server),
      local: local,
      server: server,
      policy: policy(of: table)
    )
  }

  /// The version that both sides come from.
  private func ancestor(
    of row: RowState,
    _ known: RowVersion?,
    _ local: RowVersion,
    _ server: RowVersion
  ) -> RowVersion? {
    guard var ancestor = known else {
      // Its creation came to the cloud, and the answer to this device did not.
      return row.isMadeHere(server) ? RowVersion(columns: [], createdAt: server.createdAt) : nil
    }
    if !row.isVoid || row.isDeleted { return ancestor }
    // The zone was lost, and others have uploaded what they had, which may be older than what this
    // device has had from the cloud: of columns that were not edited here, the newer version stays.
    for column in local.columns where row.editTime(of: column.name) == nil {
      guard let theirs = server[column.name], theirs.time < column.time else { continue }
      ancestor[column.name] = theirs
    }
    return ancestor
  }

  /// Takes a record over a row without edits.
  private func take(
    _ one: Incoming,
    over values: [SQLiteValue]?,
    _ row: RowState
  ) throws(SQLiteError) {
    var row = row
    // The row before this one is gone, and only its deletion was put off.
    var isNew = row.former != nil && row.server == nil
    row.former = nil
    let known = row.server?.rowVersion
    row.server = one.record
    row.mark(void: one.void)
    row.errorCode = nil
    row.error = nil
    let whole = one.version
    if whole.isDeleted { return try delete(row, one.table, one.key, values) }
    if let known, let deletedAt = whole.deletedAt {
      // It was deleted and made again: columns that it does not know get their defaults.
      isNew = known.createdAt ?? .zero <= deletedAt
    }
    try write(one, row, values, whole.columns, whole, replaces: isNew)
  }

  /// Writes a row without being captured; what SQLite refuses is set aside.
  ///
  /// A row that replaces another one is written over it: those that refer to it refer to the new one.
  private func write(
    _ one: Incoming,
    _ row: RowState,
    _ values: [SQLiteValue]?,
    _ columns: [VersionedColumn],
    _ whole: RowVersion,
    replaces: Bool = false
  ) throws(SQLiteError) {
    if row.shelf != nil || one.row.isEdited {
      // What it refers to may be out of the table as it was.
      let own = Incoming(one.record, of: one.table, row, key: one.key, isNew: false)
      own.version = whole
      own.isMerged = true
      if let parent = try missingParent(of: own, []) {
        var row = row
        try shelve(&row, one.table, whole, nil)
        row.waitsFor = parent
        return try store.save(row)
      }
    }
    let refusal = try attempt(one.table, row, one.key, values, columns, replaces: replaces)
    let isDone = try finish(one, row, values, whole, refusal)
    if !isDone { tally.counts.parked += 1 }
  }

  /// The columns that the table has and whose values differ.
  func changes(
    _ columns: [VersionedColumn],
    _ table: SyncTable,
    _ values: [SQLiteValue]?
  ) throws(SQLiteError) -> [(column: String, value: SQLiteValue)] {
    let transport = transport
    var changes: [(column: String, value: SQLiteValue)] = []
    for (place, column) in table.schema.writableColumns.enumerated() {
      guard let one = columns.first(where: { $0.name == column.name }),
        let value = try transport.stored(one)
      else { continue }
      if let values, values[place] == value { continue }
      // With INSERT OR ABORT the default that NULL means is given to a column that is left out only.
      if values == nil, value == .null, column.replacesNull { continue }
      changes.append((column.name, value))
    }
    return changes
  }
}

import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

extension EngineWork {
  /// Makes one row of two; returns whether that could be done.
  func mergeRows(of conflict: KeyConflict) throws(SQLiteError) -> Bool {
    let (shelved, holder) = (conflict.shelved, conflict.holder)
    let isShelvedKept = UTF8Bytes.order(shelved.recordName, holder.row.recordName) < 0
    let kept = isShelvedKept ? shelved : holder.row
    let gone = isShelvedKept ? holder.row : shelved
    let own = isShelvedKept ? conflict.shelvedVersion : holder.version
    let other = isShelvedKept ? holder.version : conflict.shelvedVersion
    let table = conflict.table
    var merged = own
    var edits: [RowState.Edit] = []
    for column in table.schema.writableColumns where !table.schema.primaryKey.contains(column.name)
    {
      let policy = options.table(table.name).merging.policy(for: column.name)
      guard let one = RowMerge.one(own[column.name], other[column.name], policy),
        one != own[column.name]
      else { continue }
      merged[column.name] = one
      edits.append(RowState.Edit(column: column.name, time: one.time))
    }
    return try undoingRefusals { () throws(SQLiteError) in
      try connection.execute("PRAGMA defer_foreign_keys = ON")
      try redirect(from: (gone, other), to: (kept, merged), table)
      try drop(gone, table)
      guard let present = try store.row(kept.table, kept.key) else { return }
      if try store(merged, edits, present, table) { return }
      // Another row is in the way, too: those that refer to this one wait with it.
      let key = try table.keyValues(of: kept.key, in: connection)
      let values = table.schema.writableColumns.map { column -> SQLiteValue in
        if let place = table.schema.primaryKey.firstIndex(of: column.name) { return key[place] }
        return merged.values([column.name])?.first ?? .null
      }
      if try rows(of: table).values(of: key) == nil {
        try takeOutChildren(of: present, table, values)
      }
    }
  }

  /// Does something, or nothing of it if SQLite or a trigger refuses a part.
  func undoingRefusals(
    _ body: () throws(SQLiteError) -> Void
  ) throws(SQLiteError) -> Bool {
    do throws(SQLiteError) { try connection.transaction(body) } catch {
      guard error.isRefusal, connection.isInTransaction else { throw error }
      return false
    }
    return true
  }

  /// Deletes the row that has gone into another one, here and in the cloud.
  private func drop(_ row: RowState, _ table: SyncTable) throws(SQLiteError) {
    let key = try table.keyValues(of: row.key, in: connection)
    let values = try rows(of: table).values(of: key)
    if let refusal = try attempt(table, row, key, values, nil) {
      throw SQLiteError(code: Int32(truncatingIfNeeded: refusal.code), message: refusal.reason)
    }
    var row = row
    row.unshelve()
    row.waitsFor = nil
    if row.server == nil, row.operation == nil { return try store.remove(row) }
    let time = try now()
    row.edits = []
    row.deletedAt = time
    // After the rows that referred to it, which no longer do.
    row.dirty = time.rawValue
    try store.save(row)
  }
}

extension RowMerge {
  /// The merge of a column of two rows that become one; the same whichever device makes it, and again.
  static func one(
    _ kept: VersionedColumn?,
    _ gone: VersionedColumn?,
    _ policy: MergePolicy
  ) -> VersionedColumn? {
    guard let kept, let gone else { return kept ?? gone }
    if ValueContent.areEqual(kept.value, gone.value) { return kept }
    let conflict = ColumnConflict(
      column: kept.name,
      ancestor: nil,
      local: kept.value,
      localTime: kept.time,
      server: gone.value,
      serverTime: gone.time
    )
    let value: FieldValue =
      switch policy.kind {
      case .newest, .client, .server: conflict.newest
      // A sum would grow each time that a device makes it.
      case .counter, .maximum: MergePolicy.maximum.merge(conflict)
      case .setUnion, .custom: policy.merge(conflict)
      }
    if ValueContent.areEqual(value, kept.value) { return kept }
    return VersionedColumn(name: kept.name, value: value, time: max(kept.time, gone.time))
  }
}

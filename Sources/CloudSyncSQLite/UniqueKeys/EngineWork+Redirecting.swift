import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// A foreign key whose rows are to refer to another row.
private struct Redirection {
  var child: SyncTable
  var columns: [String]
  var old: [SQLiteValue]
  var new: [SQLiteValue]

  /// Whether a row of the child gets another key so.
  var movesRows: Bool { columns.contains { child.schema.primaryKey.contains($0) } }
}

extension EngineWork {
  /// Makes rows of synchronized tables that refer to one row refer to another one.
  func redirect(
    from gone: (row: RowState, version: RowVersion),
    to kept: (row: RowState, version: RowVersion),
    _ table: SyncTable
  ) throws(SQLiteError) {
    for child in tables.inOrder {
      for reference in child.schema.foreignKeys where reference.table == table.name {
        guard let old = try values(reference.referencedColumns, of: gone.row, gone.version, table),
          let new = try values(reference.referencedColumns, of: kept.row, kept.version, table),
          old != new
        else { continue }
        let redirection = Redirection(child: child, columns: reference.columns, old: old, new: new)
        for key in try rows(of: child).keys(where: reference.columns, old) {
          try redirect(key, redirection)
        }
        try redirectShelved(redirection, awaiting: gone.row.recordName)
      }
    }
    try store.setApplying(nil)
  }

  private func values(
    _ columns: [String],
    of row: RowState,
    _ version: RowVersion,
    _ table: SyncTable
  ) throws(SQLiteError) -> [SQLiteValue]? {
    let key = try table.keyValues(of: row.key, in: connection)
    var values: [SQLiteValue] = []
    for column in columns {
      if let place = table.schema.primaryKey.firstIndex(of: column) {
        values.append(key[place])
      } else if let value = version.values([column]) {
        values += value
      } else {
        return nil
      }
    }
    return values
  }

  /// Changes a row in its table, as an edit that the triggers capture.
  private func redirect(
    _ key: [SQLiteValue],
    _ redirection: Redirection
  ) throws(SQLiteError) {
    let child = redirection.child
    let changes = redirection.columns.enumerated().map { "\($1.quotedName) = ?\($0 + 1)" }
    let condition = child.keyCondition(from: redirection.columns.count + 1)
    let statement = try connection.statement(
      "UPDATE OR ABORT \(child.name.quotedName) SET \(changes.joined(separator: ", "))"
        + " WHERE \(condition)"
    )
    for (place, value) in (redirection.new + key).enumerated() {
      statement.bind(value, at: Int32(place + 1))
    }
    try store.setApplying(nil)
    do throws(SQLiteError) { try statement.run() } catch {
      guard error.isRefusal, Refusal.isUnique(Int64(error.code)) else { throw error }
      // The row that stays has such a row already.
      if redirection.movesRows { return try rows(of: child).delete(key) }
      let stored = try child.key(of: key, in: connection)
      guard let row = try store.row(child.id, stored) else { throw error }
      let why = Refusal(code: Int64(error.code), reason: error.message)
      guard try takeOut(row, child, why), let out = try store.row(child.id, stored) else {
        throw error
      }
      try redirectShelved(out, redirection, why)
    }
  }

  /// Changes the rows beside the table, among them those that wait for the row that goes.
  private func redirectShelved(
    _ redirection: Redirection,
    awaiting name: String
  ) throws(SQLiteError) {
    for row in try store.shelvedRows() where row.table == redirection.child.id && row.payload == nil
    {
      try redirectShelved(row, redirection, nil)
    }
    for row in try store.rows(waitingFor: name) where row.table == redirection.child.id {
      guard let payload = row.payload, let server = RowVersion(record: payload),
        let row = try taking(payload, server, row, redirection.child)
      else { continue }
      try redirectShelved(row, redirection, nil)
    }
  }

  /// A row that waits, with what it waits with taken into what it is to be; nil if it is to be gone.
  private func taking(
    _ payload: Record,
    _ server: RowVersion,
    _ row: RowState,
    _ table: SyncTable
  ) throws(SQLiteError) -> RowState? {
    var (row, whole) = (row, server)
    if row.isEdited {
      let key = try table.keyValues(of: row.key, in: connection)
      let ancestor = row.server?.rowVersion
      let values = try rows(of: table).values(of: key)
      let merged = RowMerge.merge(
        ancestor: ancestor,
        local: version(of: row, table, values: values, server: ancestor),
        server: server,
        policy: options.table(table.name).merging
      )
      if merged.local == .none || merged.local == .delete { return nil }
      row.take(merged)
      whole = merged.merged
    }
    row.server = payload
    row.payload = nil
    try shelve(&row, table, whole, nil)
    return row
  }

  private func redirectShelved(
    _ row: RowState,
    _ redirection: Redirection,
    _ why: Refusal?
  ) throws(SQLiteError) {
    var row = row
    let child = redirection.child
    guard var whole = shelfVersion(of: row), whole.values(redirection.columns) == redirection.old
    else { return }
    let time = try now()
    for (name, value) in zip(redirection.columns, redirection.new) {
      guard case .field(let field) = ValueCodec.encode(value, assetThreshold: .max) else {
        continue
      }
      whole[name] = VersionedColumn(name: name, value: field, time: time)
    }
    if redirection.movesRows { return try move(row, whole, child, time) }
    row.add(redirection.columns.map { RowState.Edit(column: $0, time: time) })
    row.dirty = row.dirty ?? 0
    row.waitsFor = nil
    try shelve(
      &row,
      child,
      whole,
      why
        ?? row.shelfCode.map { code in
          Refusal(code: code, reason: row.shelfError ?? "")
        }
    )
    try store.save(row)
  }

  /// Makes a row anew under another key, and deletes the one that it was.
  private func move(
    _ row: RowState,
    _ whole: RowVersion,
    _ table: SyncTable,
    _ time: HybridTime
  ) throws(SQLiteError) {
    var row = row
    row.unshelve()
    row.waitsFor = nil
    row.edits = []
    row.deletedAt = time
    row.dirty = time.rawValue
    try store.save(row)
    guard let key = whole.values(table.schema.primaryKey) else { return }
    try store.setApplying(nil)
    do throws(SQLiteError) {
      try rows(of: table).insert(key, changes(whole.columns, table, nil))
    } catch {
      // The row that stays has such a row already.
      guard error.isRefusal, connection.isInTransaction else { throw error }
    }
  }
}

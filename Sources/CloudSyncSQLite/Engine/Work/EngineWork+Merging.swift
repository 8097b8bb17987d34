import CloudSyncCore
import CloudSyncSQLiteSupport

extension EngineWork {
  /// Merges a record that the cloud has into its row, after so many pages.
  func merge(_ one: Incoming, page: Int64) throws(SQLiteError) {
    var row = try present(one)
    row.waitsFor = nil
    row.payload = nil
    row.page = page
    let values = try rows(of: one.table).values(of: one.key)
    if row.isEdited, row.operation != nil {
      // Whether this tells of the edit already, only the answer says; a counter would count it twice.
      row.payload = one.record
      return try store.save(row)
    }
    guard row.isEdited else { return try take(one, over: values, row) }
    tally.counts.merged += 1
    let acknowledged = row.server.flatMap(RowVersion.init(record:))
    let local = version(of: row, one.table, values: values, server: acknowledged)
    let merged = RowMerge.merge(
      ancestor: acknowledged,
      local: local,
      server: one.version,
      policy: options.table(one.table.name).merging
    )
    if row.isDeleted, merged.local != .none,
      let parent = try missingParent(of: one, [], isBack: true)
    {
      return try wait(one, for: parent)
    }
    row.server = one.record
    row.take(merged)
    let whole = merged.merged
    let changes = row.shelf == nil ? merged.changesForRow : whole.columns
    switch merged.local {
    case .none:
      row.unshelve()
      try store.save(row)
    case .update, .insert: try write(one, row, values, changes, whole)
    case .replace: try replace(one, row, values, whole)
    case .delete: try write(one, row, values, nil, nil)
    }
  }

  /// Takes a record over a row without edits.
  private func take(
    _ one: Incoming,
    over values: [SQLiteValue]?,
    _ row: RowState
  ) throws(SQLiteError) {
    var row = row
    let known = row.server.flatMap(RowVersion.init(record:))
    row.server = one.record
    row.errorCode = nil
    row.error = nil
    let whole = one.version
    if whole.isDeleted { return try write(one, row, values, nil, nil) }
    guard values != nil, let known, let deletedAt = whole.deletedAt,
      known.createdAt ?? .zero <= deletedAt
    else { return try write(one, row, values, whole.columns, whole) }
    try replace(one, row, values, whole)
  }

  /// Makes a row anew that was deleted and made again: columns that are not known get their defaults.
  private func replace(
    _ one: Incoming,
    _ row: RowState,
    _ values: [SQLiteValue]?,
    _ whole: RowVersion
  ) throws(SQLiteError) {
    let refusal = try attempt(one.table, row, one.key, values, nil)
    // A row that cannot go is changed into the new one.
    try write(one, row, refusal == nil ? nil : values, whole.columns, whole)
    guard refusal == nil, let values, try rows(of: one.table).values(of: one.key) == nil else {
      return
    }
    try takeOutChildren(of: row, one.table, values)
  }

  /// Writes a row, or deletes it, without being captured; what SQLite refuses is set aside.
  private func write(
    _ one: Incoming,
    _ row: RowState,
    _ values: [SQLiteValue]?,
    _ columns: [VersionedColumn]?,
    _ whole: RowVersion?
  ) throws(SQLiteError) {
    if row.shelf != nil || one.row.isEdited, let whole {
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
    let refusal = try attempt(one.table, row, one.key, values, columns)
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

  // MARK: Deletions

  /// Takes that the cloud has a row's record no more.
  func takeDeletion(of row: RowState) throws(SQLiteError) {
    guard let table = tables.byID[row.table] else { return try store.remove(row) }
    let key = try table.keyValues(of: row.key, in: connection)
    let values = try rows(of: table).values(of: key)
    var row = row
    let acknowledged = row.server.flatMap(RowVersion.init(record:))
    row.server = nil
    row.page = try store.lastPage()
    row.waitsFor = nil
    row.payload = nil
    if row.isEdited, !row.isDeleted {
      let merged = RowMerge.merge(
        ancestor: acknowledged,
        local: version(of: row, table, values: values, server: acknowledged),
        server: .missing,
        policy: options.table(table.name).merging
      )
      if merged.cloud == .create {
        // The row is made again in the cloud, whole.
        row.take(merged)
        return try store.save(row)
      }
    }
    if try hasChildrenThatStay(table, key, values) {
      let time = try now()
      row.edits = [RowState.Edit(column: nil, time: time)]
      row.createdAt = time
      row.dirty = row.dirty ?? 0
      return try store.save(row)
    }
    if let refusal = try attempt(table, row, key, values, nil) {
      row.settle()
      try shelve(&row, table, nil, refusal)
      return try store.save(row)
    }
    if row.operation == nil { return try store.remove(row) }
    row.settle()
    row.unshelve()
    try store.save(row)
  }

  /// Whether rows refer to a row and forbid that it goes: then it comes back.
  private func hasChildrenThatStay(
    _ table: SyncTable,
    _ key: [SQLiteValue],
    _ values: [SQLiteValue]?
  ) throws(SQLiteError) -> Bool {
    guard tables.enforcesForeignKeys, let values else { return false }
    for child in tables.inOrder {
      for reference in child.schema.foreignKeys
      where reference.table == table.name
        && (reference.onDelete == .noAction || reference.onDelete == .restrict)
      {
        var referred: [SQLiteValue] = []
        for column in reference.referencedColumns {
          guard let place = table.schema.writableColumns.firstIndex(where: { $0.name == column })
          else { break }
          referred.append(values[place])
        }
        guard referred.count == reference.columns.count else { continue }
        if try rows(of: child).hasRow(where: reference.columns, referred) { return true }
      }
    }
    return false
  }
}

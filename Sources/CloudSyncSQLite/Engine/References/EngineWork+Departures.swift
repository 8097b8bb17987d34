import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Rows that somebody has deleted here, without enforcement, although others refer to them by `NO ACTION`.
///
/// SQL looks at such references at the end of a transaction. So does the engine, before the deletions
/// are sent: if nobody refers to a row any more it is gone, and otherwise the policy for orphans decides.
extension EngineWork {
  /// Settles the rows that have gone so, with all edits that were captured read.
  func settleDepartures() throws(SQLiteError) {
    let departed = try store.departedRows()
    if departed.isEmpty { return }
    try outbox.readAll()
    try connection.execute("PRAGMA defer_foreign_keys = ON")
    var back: [RowPlace] = []
    for place in departed where try comesBack(place) {
      back.append(place)
    }
    if !back.isEmpty {
      let plan = try DeletionPlan(back, self)
      try carryOut(plan, departed: Set(back))
      for place in plan.kept { try bringBackParents(of: place) }
    }
    try connection.execute("DELETE FROM cloudsync_departed")
    try store.setApplying(nil)
  }

  /// Makes a row again as it was, until it is clear whether it may go; false if nobody minds.
  private func comesBack(_ place: RowPlace) throws(SQLiteError) -> Bool {
    guard let table = tables.byID[place.table] else { return false }
    let key = try table.keyValues(of: place.key, in: connection)
    let rows = rows(of: table)
    guard try rows.values(of: key) == nil else { return false }
    let values = try store.departedValues(of: place)
    let columns = table.schema.writableColumns
    // It was remembered with the columns that the table had then.
    guard values.count == columns.count else { return false }
    try store.setApplying((place.table, place.key))
    do throws(SQLiteError) {
      try rows.insert(key, zip(columns, values).map { ($0.name, $1) })
    } catch {
      // Another row has its place now.
      guard error.kind == .constraint || error.kind == .foreignKey else { throw error }
      return false
    }
    if try isReferredTo(table, key) { return true }
    try rows.delete(key)
    return false
  }

  /// Notes that a row is there after all, whose deletion the cloud does not know.
  func bringBack(_ place: RowPlace) throws(SQLiteError) {
    guard let table = tables.byID[place.table] else { return }
    let name = try table.recordName(of: place.key, in: connection)
    var row =
      try store.row(place.table, place.key)
      ?? RowState(table: place.table, key: place.key, recordName: name)
    let time: HybridTime
    if let deletedAt = row.deletedAt { time = deletedAt } else { time = try now() }
    row.deletedAt = nil
    row.createdAt = nil
    row.dirty = row.dirty ?? 0
    guard let known = row.server?.rowVersion else {
      row.edits = [RowState.Edit(column: nil, time: time)]
      row.createdAt = time
      return try store.save(row)
    }
    let key = try table.keyValues(of: place.key, in: connection)
    let values = try rows(of: table).values(of: key)
    // What had been edited before it was deleted differs from what the cloud has.
    row.edits = [RowState.Edit(column: nil, time: time)]
    let present = version(of: row, table, values: values, server: nil)
    row.edits = present.columns.compactMap { column in
      if let old = known[column.name], ValueContent.areEqual(old.value, column.value) { return nil }
      return RowState.Edit(column: column.name, time: time)
    }
    if row.edits.isEmpty { row.settle() }
    try store.save(row)
  }
}

extension EngineWork {
  /// Sees to it that a row which has come back refers to rows that are there.
  ///
  /// Its parents may have been deleted after it. They come back too, as the cloud has them; a parent that
  /// the cloud never had cannot, and the row lets go of it, if it can.
  private func bringBackParents(of place: RowPlace) throws(SQLiteError) {
    var stack = [place]
    while let place = stack.popLast() {
      guard let table = tables.byID[place.table] else { continue }
      for reference in tables.references(from: table) {
        guard let parent = tables.table(named: reference.parent.name),
          let key = try missingKey(of: place, table, reference)
        else { continue }
        let known = RowPlace(table: parent.id, key: try parent.key(of: key, in: connection))
        if reference.key.referencedColumns == parent.schema.primaryKey,
          try restore(known, parent, key)
        {
          stack.append(known)
        } else if reference.canBeNull {
          try detach(
            DeletionPlan.Detachment(place: place, reference: reference, usesDefaults: false)
          )
        }
      }
    }
  }

  /// The key that a row refers to and no row has; nil if all is well.
  private func missingKey(
    of place: RowPlace,
    _ table: SyncTable,
    _ reference: TableReference
  ) throws(SQLiteError) -> [SQLiteValue]? {
    let columns = reference.key.columns.map { "c.\($0.quotedName)" }
    let isSet = columns.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")
    let query = try connection.statement(
      "SELECT \(columns.joined(separator: ", ")) FROM \(table.name.quotedName) c"
        + " WHERE \(table.keyCondition(from: 1, of: "c")) AND \(isSet) AND NOT EXISTS("
        + "SELECT 1 FROM \(reference.parent.name.quotedName) p"
        + " WHERE \(reference.match(parent: "p", child: "c")))"
    )
    let key = try table.keyValues(of: place.key, in: connection)
    for (index, value) in key.enumerated() { query.bind(value, at: Int32(index + 1)) }
    defer { query.reset() }
    return try query.step() ? columns.indices.map { query.value(Int32($0)) } : nil
  }

  /// Takes back the deletion of a row that is not sent yet; false if there is none.
  private func restore(
    _ place: RowPlace,
    _ table: SyncTable,
    _ key: [SQLiteValue]
  ) throws(SQLiteError) -> Bool {
    guard var row = try store.row(place.table, place.key), row.isDeleted, row.operation == nil,
      let known = row.server?.rowVersion, !known.isDeleted
    else { return false }
    try store.setApplying((place.table, place.key))
    do throws(SQLiteError) {
      var values: [(column: String, value: SQLiteValue)] = []
      for column in known.columns where table.schema.column(named: column.name) != nil {
        if let value = try transport.stored(column) { values.append((column.name, value)) }
      }
      try rows(of: table).insert(key, values)
    } catch {
      guard error.kind == .constraint || error.kind == .foreignKey else { throw error }
      return false
    }
    row.settle()
    try store.save(row)
    return true
  }

  /// Applies what waits for parents that are here, or that need not be here any more.
  func adoptWaiting() throws(SQLiteError) {
    var records: [Incoming] = []
    for row in try store.rowsWaitingForParents() {
      guard let payload = row.payload, let one = try incoming(payload) else { continue }
      one.void = row.void
      records.append(one)
    }
    try apply(records)
    try store.setApplying(nil)
  }
}

extension MetadataStore {
  fileprivate func departedRows() throws(SQLiteError) -> [RowPlace] {
    let query = try connection.fixedStatement(
      "SELECT DISTINCT table_id, key FROM cloudsync_departed ORDER BY table_id, key"
    )
    var rows: [RowPlace] = []
    try query.forEachRow { rows.append(RowPlace(table: query.integer(0), key: query.value(1))) }
    return rows
  }

  fileprivate func departedValues(of place: RowPlace) throws(SQLiteError) -> [SQLiteValue] {
    let query =
      try connection.fixedStatement(
        "SELECT value FROM cloudsync_departed WHERE table_id = ?1 AND key IS ?2 ORDER BY place"
      )
      .bind(place.table, at: 1).bind(place.key, at: 2)
    var values: [SQLiteValue] = []
    try query.forEachRow { values.append(query.value(0)) }
    return values
  }
}

import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Rows that the cloud has no more go when everything that has happened there is known.
///
/// A row that others refer to is put off until the end of the fetch: the deletion of those others, or their
/// new references, may be on a later page. Then all such rows are looked at together, so that neither
/// the order of the changes nor the size of the pages matters.
extension EngineWork {
  /// Takes that the cloud has a row's record no more.
  func takeDeletion(of row: RowState) throws(SQLiteError) {
    guard let table = tables.byID[row.table] else { return try store.remove(row) }
    let key = try table.keyValues(of: row.key, in: connection)
    let values = try rows(of: table).values(of: key)
    var row = row
    if row.isEdited, row.operation != nil {
      // Whether that was before the edit came there or after, only the answer says.
      row.payload = .deleted(recordID(row.recordName), in: table)
      row.page = try store.lastPage()
      return try store.save(row)
    }
    if row.void == RowState.doubtful, values != nil, row.waitsFor == nil {
      // That was this device's own deletion, of the row before it.
      row.page = try store.lastPage()
      return try store.save(row)
    }
    let held = row.isHeld ? row.payload : nil
    row.former = row.server ?? held ?? row.former
    row.server = nil
    row.void = nil
    row.payload = nil
    row.page = try store.lastPage()
    row.waitsFor = nil
    if let back = recreated(row, table, values) {
      // The row is made again in the cloud, whole.
      return try store.save(back)
    }
    try delete(row, table, key, values)
  }

  /// Deletes a row that the cloud has deleted, or puts that off.
  func delete(
    _ row: RowState,
    _ table: SyncTable,
    _ key: [SQLiteValue],
    _ values: [SQLiteValue]?
  ) throws(SQLiteError) {
    var row = row
    if values != nil, try isReferredTo(table, key) {
      row.waitsFor = RowState.endOfFetch
      return try store.save(row)
    }
    try forget(row, unless: try attempt(table, row, key, values, nil))
  }

  /// Forgets a row that is gone, here and in the cloud, unless something here keeps it.
  private func forget(_ row: RowState, unless refusal: Refusal? = nil) throws(SQLiteError) {
    var row = row
    row.waitsFor = nil
    row.payload = nil
    row.former = nil
    if row.isEdited, row.isDeleted, row.sentPage != nil, row.server == nil {
      // The session may have set a save aside that would make it again.
      return try store.save(row)
    }
    row.settle()
    row.unshelve()
    if let refusal, let table = tables.byID[row.table] {
      try shelve(&row, table, nil, refusal)
      return try store.save(row)
    }
    guard row.operation == nil, row.server == nil else { return try store.save(row) }
    if row.sentPage != nil { tally.gone.append(recordID(row.recordName)) }
    try store.remove(row)
  }

  /// The state of a row that the cloud has deleted and that an edit of this device makes again.
  private func recreated(
    _ row: RowState,
    _ table: SyncTable,
    _ values: [SQLiteValue]?
  ) -> RowState? {
    guard row.isEdited, !row.isDeleted, row.server == nil else { return nil }
    let merged = merged(row, table, values, with: .missing)
    guard merged.cloud == .create else { return nil }
    // What other versions of the app know of it is kept until it is there.
    var row = row
    row.take(merged)
    return row
  }

  func isReferredTo(_ table: SyncTable, _ key: [SQLiteValue]) throws(SQLiteError) -> Bool {
    for reference in tables.references(to: table) {
      let query = try connection.statement(
        "SELECT 1 FROM \(table.name.quotedName) p JOIN \(reference.child.name.quotedName) c"
          + " ON \(reference.match(parent: "p", child: "c"))"
          + " WHERE \(table.keyCondition(from: 1, of: "p")) LIMIT 1"
      )
      for (index, value) in key.enumerated() { query.bind(value, at: Int32(index + 1)) }
      defer { query.reset() }
      if try query.step() { return true }
    }
    return false
  }

  // MARK: The end of a fetch

  /// Whether deletions are put off until the end of a fetch.
  func hasDeletionsPutOff() throws(SQLiteError) -> Bool {
    try store.rows(waitingFor: RowState.endOfFetch).isEmpty == false
  }

  /// Deletes the rows that were put off, and does what follows from that, or keeps them.
  func settleDeletions() throws(SQLiteError) {
    var roots: [RowPlace] = []
    for row in try store.rows(waitingFor: RowState.endOfFetch) {
      guard let table = tables.byID[row.table] else { continue }
      let key = try table.keyValues(of: row.key, in: connection)
      let values = try rows(of: table).values(of: key)
      if row.server != nil, row.server?.rowVersion?.isDeleted != true {
        // It has come back.
        var row = row
        row.waitsFor = nil
        row.former = nil
        try store.save(row)
      } else if let back = recreated(row, table, values) {
        var back = back
        back.waitsFor = nil
        try store.save(back)
      } else if values == nil {
        try forget(row)
      } else if row.isEdited, !row.isDeleted, row.server != nil {
        // The deletion is a mark in the record, and an edit that was made since takes it back.
        try makeAgain(row.place)
      } else {
        roots.append(row.place)
      }
    }
    if roots.isEmpty { return }
    try carryOut(try DeletionPlan(roots, self))
  }

  /// Does what follows from deletions, and deletes.
  ///
  /// - Parameters:
  ///   - plan: What is to be done.
  ///   - departed: The rows that were deleted here and are made again meanwhile.
  /// - Throws: SQLite's reason.
  func carryOut(
    _ plan: DeletionPlan,
    departed: Set<RowPlace> = []
  ) throws(SQLiteError) {
    // Rows in a circle have each other deleted by the database itself.
    try connection.execute("PRAGMA defer_foreign_keys = ON")
    let mark = try connection.integer("SELECT coalesce(max(id), 0) FROM cloudsync_outbox")
    for place in plan.kept {
      if departed.contains(place) { try bringBack(place) } else { try makeAgain(place) }
    }
    for detachment in plan.detachments { try detach(detachment) }
    var refusals: [RowPlace: Refusal] = [:]
    for place in plan.deletions {
      guard let table = tables.byID[place.table] else { continue }
      refusals[place] = try delete(place, table)
    }
    for place in plan.deletions {
      try store.forgetOutbox(of: place, after: mark)
      guard !departed.contains(place), let row = try store.row(place.table, place.key)
      else { continue }
      if row.waitsFor == RowState.endOfFetch || row.shelf?.rowVersion?.isDeleted == true {
        try forget(row, unless: refusals[place])
      } else if refusals[place] == nil {
        try takeAlong(row)
      }
    }
    try store.setApplying(nil)
  }

  /// Deletes a row that nobody refers to any more; returns why that is refused.
  private func delete(_ place: RowPlace, _ table: SyncTable) throws(SQLiteError) -> Refusal? {
    let key = try table.keyValues(of: place.key, in: connection)
    // In a circle another deletion may have taken it along.
    guard let values = try rows(of: table).values(of: key) else { return nil }
    let name = try table.recordName(of: place.key, in: connection)
    let row = RowState(table: place.table, key: place.key, recordName: name)
    return try attempt(table, row, key, values, nil)
  }

  /// Notes that a row went with its parent: the cloud is told.
  ///
  /// The life that ends is the one that was known. So a row that was made again meanwhile stays.
  private func takeAlong(_ row: RowState) throws(SQLiteError) {
    var row = row
    row.server = row.payload ?? row.server
    row.payload = nil
    row.former = nil
    row.waitsFor = nil
    row.errorCode = nil
    row.error = nil
    row.unshelve()
    if row.server == nil, row.operation == nil, row.sentPage == nil {
      return try store.remove(row)
    }
    let known = row.server?.rowVersion
    row.deletedAt = max(row.createdAt ?? known?.createdAt ?? .zero, HybridTime.zero.successor)
    if known != nil { row.createdAt = nil }
    row.edits = []
    row.dirty = row.dirty ?? 0
    try store.save(row)
  }

  /// Gives a row other references, as an edit that is just later than what it replaces.
  ///
  /// So every device does the same edit, and whoever has chosen another parent since then is right.
  func detach(_ one: DeletionPlan.Detachment) throws(SQLiteError) {
    guard let table = tables.byID[one.place.table] else { return }
    let key = try table.keyValues(of: one.place.key, in: connection)
    let values =
      one.usesDefaults ? one.reference.defaults : one.reference.key.columns.map { _ in "NULL" }
    try set(one.reference.key.columns, values, of: one.place, table, key)
  }

  func set(
    _ columns: [String],
    _ values: [String],
    of place: RowPlace,
    _ table: SyncTable,
    _ key: [SQLiteValue],
    isCaptured: Bool = false
  ) throws(SQLiteError) {
    let list = zip(columns, values).map { "\($0.quotedName) = \($1)" }
    let statement = try connection.statement(
      "UPDATE \(table.name.quotedName) SET \(list.joined(separator: ", "))"
        + " WHERE \(table.keyCondition(from: 1))"
    )
    for (index, value) in key.enumerated() { statement.bind(value, at: Int32(index + 1)) }
    try store.setApplying(isCaptured ? nil : (place.table, place.key))
    try statement.run()
    guard !isCaptured, var row = try store.row(place.table, place.key) else { return }
    let known = row.server?.rowVersion
    for column in columns {
      let time = row.editTime(of: column) ?? known?[column]?.time ?? .zero
      row.edits.removeAll { $0.column == column }
      row.edits.append(RowState.Edit(column: column, time: time.successor))
    }
    row.edits.sort { ($0.column ?? "") < ($1.column ?? "") }
    row.dirty = row.dirty ?? 0
    try store.save(row)
  }

  /// Has a row that the cloud has deleted come back there, with all of its values.
  ///
  /// Its values keep their times, and its new life begins just after the one that has ended: every
  /// device that brings it back does the same.
  private func makeAgain(_ place: RowPlace) throws(SQLiteError) {
    guard var row = try store.row(place.table, place.key), let table = tables.byID[place.table]
    else { return }
    row.waitsFor = nil
    row.dirty = row.dirty ?? 0
    if let marked = row.server?.rowVersion {
      let deletedAt = marked.deletedAt ?? .zero
      row.createdAt = max(row.createdAt ?? marked.createdAt ?? .zero, deletedAt).successor
      row.deletedAt = nil
      return try store.save(row)
    }
    let known = row.former?.rowVersion
    row.createdAt = (row.createdAt ?? known?.createdAt ?? .zero).successor
    row.deletedAt = nil
    var edits: [RowState.Edit] = []
    for column in table.schema.writableColumns {
      guard let time = row.editTime(of: column.name) ?? known?[column.name]?.time else { continue }
      edits.append(RowState.Edit(column: column.name, time: time))
    }
    row.edits = edits.sorted { ($0.column ?? "") < ($1.column ?? "") }
    try store.save(row)
  }
}

extension RowState {
  /// What a row waits for that is deleted when everything is known: no record has this name.
  static let endOfFetch = "*"
}

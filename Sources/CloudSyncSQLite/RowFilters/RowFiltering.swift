import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Which rows stay on this device: those that do not match the condition of their table's rows that are sent, and those
/// that need such a row in the cloud.
///
/// SQLite is asked of the row in its table whenever a row is stored, and again before it is sent. Of a row that is beside
/// its table, and of one that was deleted, what was so last counts.
struct RowFiltering: TransactionPart {
  let transaction: SyncTransaction

  /// Looks which of the transaction's rows stay here, and lets those go that have waited for one of them.
  func settle() throws(SQLiteError) {
    guard tables.hasFilters else { return }
    // What has gone with a row that does not match tells so itself, where the tables' references are not known.
    var keys = transaction.rows.values
      .filter { tables.mayFilterRows(of: $0.place) || $0.endsMismatched == true }
      .map(\.order).sorted { $0.precedes($1) }.map(\.rowKey)
    let hasDependents = try stored.pending.hasFilteredByRecord()
    var place = 0
    while place < keys.count {
      if let row = transaction.rows[keys[place]], hasDependents {
        for key in try stored.pending.filtered(by: row.key.name) where transaction.rows[key] == nil
        {
          guard let dependent = try self.row(key) else { continue }
          keep(dependent)
          keys.append(key)
        }
      }
      place += 1
    }
    // All are looked at before any is changed: what a row was so far tells of those that need it.
    var found: [(key: RowKey, filtering: Filtering?)] = []
    for key in keys {
      if let row = transaction.rows[key] { found.append((key, try filtering(of: row))) }
    }
    for (key, filtering) in found {
      guard var row = transaction.rows[key] else { continue }
      row.state.filtering = filtering
      // Nobody has heard of it, and it was made and deleted on this device: nothing is left of it, unless it goes on
      // under another key, which a record under a former one is to tell.
      if filtering?.isUnsent == true, row.values == nil, row.state.placement == .inTable,
        row.isDeleted,
        try transaction.renamed.successor(of: row) == nil
      {
        row.state = RecordState()
      }
      keep(row)
    }
  }

  /// Has a row stay here that was to be sent; returns whether it does.
  func stop(_ row: LoadedRow) throws(SQLiteError) -> Bool {
    guard tables.mayFilterRows(of: row.place), let filtering = try filtering(of: row) else {
      return false
    }
    var stopped = row
    stopped.state.filtering = filtering
    keep(stopped)
    transaction.hasStoppedRows = true
    return true
  }

  /// Whether edits of a row stay here.
  func isFiltered(_ row: LoadedRow) throws(SQLiteError) -> Bool {
    guard tables.mayFilterRows(of: row.place), let version = row.state.row else { return false }
    return try reason(for: row, version: version) != nil
  }

  /// Whether the deletion of a row stays here: others keep the row.
  func isDeletedHereAlone(_ row: LoadedRow) throws(SQLiteError) -> Bool {
    guard row.state.isDirty, row.isDeleted else { return false }
    return try isFiltered(row)
  }

  /// Whether the row of a key stays here, of which nothing is known.
  func isFiltered(rowOf key: RecordKey, in place: Int) throws(SQLiteError) -> Bool {
    guard tables.mayFilterRows(of: place) else { return false }
    if let filter = tables[place].filter,
      try filter.matches(rowOf: key, on: connection) == false
    {
      return true
    }
    // Whom it needs tells its state.
    return tables.links(from: place).contains { tables.mayFilterRows(of: $0.parent) }
  }

  // MARK: One row

  /// Why a row stays here; nil if it does not, or has nothing to send.
  private func filtering(of row: LoadedRow) throws(SQLiteError) -> Filtering? {
    guard row.state.isDirty, let version = row.state.row,
      let reason = try reason(for: row, version: version)
    else { return nil }
    let former = row.state.filtering
    // What was found may have been sent as it was, which is noted nowhere.
    let isNew = row.source == .unknown && version.created != RecordClock.foundCreation
    let isUnsent = row.state.cloud == .absent && (former?.isUnsent ?? isNew)
    return Filtering(parent: reason.parent, isUnsent: isUnsent)
  }

  private struct Reason {
    /// The record that it needs; nil if it does not match itself.
    var parent: String?
  }

  private func reason(
    for row: LoadedRow,
    version: RecordVersion
  ) throws(SQLiteError) -> Reason? {
    if row.isDeleted { return try reason(forDeleted: row, version: version) }
    if try isMismatched(row) { return Reason() }
    for parent in try parents(of: row, version: version)
    where try staysHere(parent, neededBy: row.rowKey) {
      return Reason(parent: parent.key.name)
    }
    return nil
  }

  private func reason(
    forDeleted row: LoadedRow,
    version: RecordVersion
  ) throws(SQLiteError) -> Reason? {
    let former = row.state.filtering.map { Reason(parent: $0.parent) }
    // A row that has got another key is in the cloud until it is there under that one.
    if let move = version.clock.move(of: version.clock) {
      guard let key = try transaction.key(ofRow: move.name, in: row.place) else { return former }
      var target = try self.row(key, in: row.place)
      guard target.state.row != nil else { return former ?? Reason() }
      if target.isDeleted {
        guard let last = try transaction.renamed.successor(of: target) else {
          return try filtering(of: target).map { _ in Reason(parent: target.key.name) }
        }
        target = last
      }
      return try staysHere(target, neededBy: row.rowKey) ? Reason(parent: target.key.name) : nil
    }
    guard let endsMismatched = row.endsMismatched else { return former }
    return endsMismatched ? Reason() : nil
  }

  /// Whether a row that lives does not match.
  private func isMismatched(_ row: LoadedRow) throws(SQLiteError) -> Bool {
    guard let filter = tables[row.place].filter else { return false }
    guard row.values != nil, row.state.placement == .inTable else {
      return row.state.filtering.map { $0.parent == nil } ?? false
    }
    return try filter.matches(rowOf: row.key, on: connection) == false
  }

  /// Whether a row is not in the cloud and does not get there, for its own condition or for that of a row that it needs,
  /// by however many others.
  private func staysHere(_ row: LoadedRow, neededBy first: RowKey) throws(SQLiteError) -> Bool {
    var visited: Set<RowKey> = [first]
    var open = [row]
    while let row = open.popLast() {
      if let known = row.state.known, !known.clock.isDeleted { continue }
      guard row.values != nil || row.state.row != nil, visited.insert(row.rowKey).inserted else {
        continue
      }
      if try isMismatched(row) { return true }
      if let version = row.state.row { open += try parents(of: row, version: version) }
    }
    return false
  }

  /// The rows that a row refers to and that may stay here.
  private func parents(
    of row: LoadedRow,
    version: RecordVersion
  ) throws(SQLiteError) -> [LoadedRow] {
    var parents: [LoadedRow] = []
    for link in tables.links(from: row.place) where tables.mayFilterRows(of: link.parent) {
      guard let values = version.storedValues(of: link.columns) else { continue }
      let table = tables[link.parent]
      var key: RecordKey?
      if link.refersToKey {
        key = table.format.key(spelled: values)
      } else {
        key = try table.rows(on: connection)
          .keys(where: link.referencedColumns, are: values, limit: 1).first
          .map { table.format.key(spelled: $0) }
      }
      if let key { parents.append(try self.row(key, in: link.parent)) }
    }
    return parents
  }
}

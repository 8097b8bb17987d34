import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Rows that leave their tables together, each after those that refer to it.
private struct Family {
  var rows: [RowKey] = []
  /// Those of them that refer to a row which is to leave before.
  var circular: [(row: RowKey, link: TableLink)] = []
}

/// Takes rows out of their tables that are kept beside them for a while: nothing of that is an edit.
struct RowRemoval: TransactionPart {
  let transaction: SyncTransaction

  /// Takes a row out of its table, and before it the rows that refer to it, where foreign keys are enforced.
  ///
  /// Those wait until they can be written again; the row itself is placed by the caller.
  ///
  /// - Returns: The rows that are out of their tables now; nil if the row has to stay, because a trigger wants it, or
  ///   rows refer to it that are not synchronized.
  /// - Throws: SQLite's reason.
  func evict(_ key: RowKey) throws(SQLiteError) -> [RowKey]? {
    // What others have edited meanwhile has to be known while it is in the table.
    if transaction.hasSideEffects { try transaction.readEdits() }
    guard let row = try self.row(key) else { return nil }
    guard let family = try family(of: try transaction.adopted(row.key, in: row.place)) else {
      return nil
    }
    for member in family.rows { try keepContent(of: member) }
    // Who is in a circle would have SQLite delete others with it.
    for (member, link) in family.circular {
      guard try transaction.release(member, from: link) else { return nil }
    }
    for member in family.rows {
      guard try removeFromTable(member) else { return nil }
    }
    return family.rows
  }

  /// Takes the rows out of their tables that refer to a row which is not in its own.
  func takeOutChildren(of row: LoadedRow) throws(SQLiteError) {
    guard tables.enforcesForeignKeys, let version = row.state.row else { return }
    for link in tables.links(to: row.place) {
      guard let place = link.child,
        let values = version.storedValues(of: link.referencedColumns)
          ?? (link.refersToKey ? row.key.values : nil)
      else { continue }
      let child = tables[place]
      // Another row may have the value that it would have had.
      if !link.refersToKey,
        try tables[row.place].rows(on: connection)
          .hasRow(where: link.referencedColumns, are: values)
      {
        continue
      }
      for key in try child.rows(on: connection).keys(where: link.columns, are: values) {
        let one = try self.row(child.format.key(spelled: key), in: place)
        _ = try evict(one.rowKey)
      }
    }
  }

  /// Whether no row of a table that is not synchronized refers to a row.
  func isFree(_ row: LoadedRow) throws(SQLiteError) -> Bool {
    guard let values = row.values else { return true }
    for link in tables.links(to: row.place) where link.child == nil {
      guard let referred = tables[row.place].values(of: link.referencedColumns, in: values) else {
        continue
      }
      if try hasRow(referringTo: referred, by: link) { return false }
    }
    return true
  }

  /// The table that is not synchronized whose rows refer to a row by values that it is about to lose, and would refer to
  /// nothing then; nil if there is none.
  func tableKeeping(_ row: LoadedRow, from version: RecordVersion) throws(SQLiteError) -> String? {
    guard tables.enforcesForeignKeys, let values = row.values else { return nil }
    let table = tables[row.place]
    for link in tables.links(to: row.place) where link.child == nil && !link.refersToKey {
      switch link.reference.key.onUpdate {
      case .cascade, .setNull, .setDefault: continue
      case .noAction, .restrict: break
      }
      let former = link.referencedColumns.map { table.value(of: $0, in: values) ?? .null }
      let next = table.values(of: link.referencedColumns, in: version, over: values)
      if former.contains(.null) { continue }
      if tables.compared(former, by: link) == tables.compared(next, by: link) { continue }
      if try transaction.isTaken(former, from: row, by: link) { continue }
      if try hasRow(referringTo: former, by: link) { return link.reference.child.name }
    }
    return nil
  }

  private func hasRow(
    referringTo values: [SQLiteValue],
    by link: TableLink
  ) throws(SQLiteError) -> Bool {
    let child = link.reference.child
    let sql = TableSQL(
      name: child.name,
      columns: child.writableColumns.map(\.name),
      key: child.primaryKey,
      hasConflictRules: false
    )
    return try TableRows(connection: connection, sql: sql).hasRow(where: link.columns, are: values)
  }

  /// A row in its table with all that refer to it, these first; nil if rows refer to one of them that are not
  /// synchronized.
  private func family(of root: LoadedRow) throws(SQLiteError) -> Family? {
    var family = Family()
    var stack: [(row: RowKey, open: [(RowKey, TableLink)])] = []
    var entered: Set<RowKey> = []
    var open: Set<RowKey> = []
    var next: LoadedRow? = root
    while next != nil || !stack.isEmpty {
      if let row = next, row.values != nil, entered.insert(row.rowKey).inserted {
        guard try isFree(row) else { return nil }
        stack.append((row.rowKey, try referring(to: row)))
        open.insert(row.rowKey)
      }
      next = nil
      guard let top = stack.last else { continue }
      guard let (child, link) = top.open.last else {
        family.rows.append(top.row)
        open.remove(top.row)
        stack.removeLast()
        continue
      }
      stack[stack.count - 1].open.removeLast()
      if child != top.row, open.contains(child) {
        family.circular.append((child, link))
      } else if !entered.contains(child), let row = try row(child) {
        next = try transaction.adopted(row.key, in: row.place)
      }
    }
    return family
  }

  /// The rows that refer to a row in its table, where foreign keys are enforced.
  private func referring(to row: LoadedRow) throws(SQLiteError) -> [(RowKey, TableLink)] {
    guard tables.enforcesForeignKeys else { return [] }
    var found: [(RowKey, TableLink)] = []
    for link in tables.links(to: row.place) {
      for child in try transaction.children(of: row, by: link) { found.append((child, link)) }
    }
    return found
  }

  /// Has a row's state have all that its table has: its BLOBs are nowhere else.
  private func keepContent(of key: RowKey) throws(SQLiteError) {
    guard var row = try self.row(key), row.values != nil else { return }
    let table = tables[row.place]
    row.complete(in: table)
    if let version = row.state.row, let staging = AssetStaging(table, connection) {
      row.state.row = staging.inlined(version, of: row)
    }
    keep(row)
  }

  private func removeFromTable(_ key: RowKey) throws(SQLiteError) -> Bool {
    guard var row = try self.row(key), row.values != nil else { return true }
    let table = tables[row.place]
    let spelled = row.key.values
    let values = row.values
    let hasTriggers = try transaction.mayCallTriggers(of: table)
    let placement = try transaction.withoutCapture(of: row) { () throws(SQLiteError) in
      let writer = RowWriter(of: table, in: transaction, mayCallTriggers: hasTriggers)
      return try writer.write(nil, key: spelled, values: values).placement
    }
    guard placement == .inTable else {
      keep(row)
      return false
    }
    row.values = nil
    row.needsWrite = true
    keep(row)
    transaction.removals += 1
    transaction.touched.insert(row.place)
    transaction.freed.insert(key)
    if hasTriggers { transaction.hasSideEffects = true }
    return true
  }
}

extension SyncTransaction {
  /// Takes rows out of their tables.
  var removal: RowRemoval { RowRemoval(transaction: self) }
}

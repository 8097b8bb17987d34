import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Takes rows out of their tables that are kept beside them for a while: nothing of that is an edit.
extension SyncTransaction {
  /// Takes a row out of its table, and before it the rows that refer to it, where foreign keys are enforced.
  ///
  /// Those wait until they can be written again; the row itself is placed by the caller.
  ///
  /// - Returns: The rows that are out of their tables now; nil if the row has to stay, because a trigger wants it, or
  ///   rows refer to it that are not synchronized.
  /// - Throws: SQLite's reason.
  mutating func takeOut(_ key: RowKey) throws(SQLiteError) -> [RowKey]? {
    // What others have edited meanwhile has to be known while it is in the table.
    if hasSideEffects { try readOutbox() }
    guard let row = try self.row(key) else { return nil }
    var family: [RowKey] = []
    var seen: Set<RowKey> = []
    guard try gather(try adopted(row.key, in: row.place), &seen, &family) else { return nil }
    for member in family {
      guard try removeFromTable(member) else { return nil }
    }
    return family
  }

  /// Takes the rows out of their tables that refer to a row which is not in its own.
  mutating func takeOutChildren(of row: LoadedRow) throws(SQLiteError) {
    guard tables.enforcesForeignKeys, let version = row.state.row else { return }
    for link in tables.links(to: row.place) {
      guard let place = link.child,
        let values = version.storedValues(of: link.referencedColumns)
          ?? (link.refersToKey ? row.key.values : nil)
      else { continue }
      let child = tables[place]
      // Another row may have the value that it would have had.
      if !link.refersToKey,
        try tables[row.place].rows(connection).hasRow(where: link.referencedColumns, values)
      {
        continue
      }
      for key in try child.rows(connection).keys(where: link.columns, values) {
        let one = try self.row(child.format.key(spelled: key), in: place)
        _ = try takeOut(one.rowKey)
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
      let child = link.reference.child
      let rows = TableRows(
        connection: connection,
        name: child.name,
        columns: child.writableColumns.map(\.name),
        key: child.primaryKey,
        hasConflictRules: false
      )
      if try rows.hasRow(where: link.columns, referred) { return false }
    }
    return true
  }

  /// Lists a row in a table with all that refer to it, these first.
  private mutating func gather(
    _ row: LoadedRow,
    _ seen: inout Set<RowKey>,
    _ family: inout [RowKey]
  ) throws(SQLiteError) -> Bool {
    guard let values = row.values, seen.insert(row.rowKey).inserted else { return true }
    if tables.enforcesForeignKeys {
      guard try isFree(row) else { return false }
      for link in tables.links(to: row.place) {
        guard let place = link.child,
          let referred = tables[row.place].values(of: link.referencedColumns, in: values)
        else { continue }
        let child = tables[place]
        for key in try child.rows(connection).keys(where: link.columns, referred) {
          let one = try adopted(child.format.key(spelled: key), in: place)
          guard try gather(one, &seen, &family) else { return false }
        }
      }
    }
    family.append(row.rowKey)
    return true
  }

  private mutating func removeFromTable(_ key: RowKey) throws(SQLiteError) -> Bool {
    guard var row = try self.row(key), row.values != nil else { return true }
    let table = tables[row.place]
    row.complete(table)
    if let version = row.state.row, let staging = AssetStaging(table, connection) {
      // Its BLOBs are nowhere else.
      row.state.row = staging.inlined(version, of: row)
    }
    let spelled = row.key.values
    let values = row.values
    let placement = try withoutCapture(of: row) { (transaction) throws(SQLiteError) in
      let writer = RowWriter(table: table, connection: transaction.connection)
      return try writer.write(nil, key: spelled, values: values).placement
    }
    guard placement == .inTable else {
      keep(row)
      return false
    }
    row.values = nil
    row.needsWrite = true
    keep(row)
    removals += 1
    touched.insert(row.place)
    freed.insert(row.place)
    hasSideEffects = hasSideEffects || table.hasTriggersOfTheApp
    return true
  }
}

extension RecordTable {
  /// The values of some columns in a row; nil if one is NULL: then nobody refers to them.
  func values(of names: [String], in row: [SQLiteValue]) -> [SQLiteValue]? {
    var values: [SQLiteValue] = []
    for name in names {
      guard let place = places.number(of: name), row[place] != .null else { return nil }
      values.append(row[place])
    }
    return values
  }
}

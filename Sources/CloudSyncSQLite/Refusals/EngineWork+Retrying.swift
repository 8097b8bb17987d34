import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

extension EngineWork {
  /// Tries again to store what could not be stored.
  ///
  /// All of it, as after a migration; or what other rows or missing ones stand in the way of.
  func retryShelved(all: Bool = false) throws(SQLiteError) {
    // Each round puts newer rows into the place of older ones, or children under their parents.
    for _ in 0..<64 {
      var hasChanged = false
      for row in try shelvedInOrder() where all || row.isWorthRetrying {
        guard let present = try store.row(row.table, row.key), present.shelf != nil,
          present.waitsFor != RowState.endOfFetch
        else {
          continue
        }
        if try retry(present) { hasChanged = true }
      }
      if !hasChanged { break }
    }
    try store.setApplying(nil)
  }

  /// The rows that are not in their tables as they should be: parents first, and newer keys first.
  private func shelvedInOrder() throws(SQLiteError) -> [RowState] {
    let rows = try store.shelvedRows()
    if rows.count < 2 { return rows }
    var ordered: [RowState] = []
    for table in tables.inOrder {
      let ranked = rows.filter { $0.table == table.id }
        .map { (row: $0, rank: rank(of: $0, table, shelfVersion(of: $0))) }
      ordered += ranked.sorted { $1.rank < $0.rank }.map(\.row)
    }
    return ordered
  }

  /// Tries again to store one row; returns whether it is stored.
  private func retry(_ row: RowState) throws(SQLiteError) -> Bool {
    guard let table = tables.byID[row.table], let shelf = row.shelf,
      let whole = shelfVersion(of: row)
    else { return false }
    let key = try table.keyValues(of: row.key, in: connection)
    let one = Incoming(shelf, of: table, row, key: key, isNew: false)
    one.version = whole
    one.isMerged = true
    let values = try rows(of: table).values(of: key)
    if whole.isDeleted {
      if values != nil, try isReferredTo(table, key) {
        // Its children go with it, or keep it.
        try carryOut(try DeletionPlan([row.place], self))
        return try store.row(row.table, row.key)?.shelf == nil
      }
      let refusal = try attempt(table, row, key, values, nil)
      guard refusal == nil else { return try finish(one, row, values, nil, refusal) }
      try store.remove(row)
      return true
    }
    var row = row
    if let parent = try missingParent(of: one, []) {
      if row.waitsFor != parent {
        row.waitsFor = parent
        try store.save(row)
      }
      return false
    }
    if row.payload == nil { row.waitsFor = nil }
    let refusal = try attempt(table, row, key, values, whole.columns)
    guard try finish(one, row, values, whole, refusal) else { return false }
    try apply(children(waitingFor: row.recordName))
    if table.schema.uniqueKeys.isEmpty == false { try apply(children(waitingFor: table.anyRecord)) }
    return true
  }

  // MARK: Out of the table

  /// Takes a row out of its table, and with it the rows that refer to it; all of it stays beside.
  ///
  /// Tells whether it is out; something may forbid that.
  func takeOut(_ row: RowState, _ table: SyncTable, _ why: Refusal) throws(SQLiteError) -> Bool {
    try takeOut { (taken) throws(SQLiteError) in try collect(row, table, why, nil, &taken) }
  }

  /// Takes the rows out of their tables that refer to a row which is out already.
  func takeOutChildren(
    of row: RowState,
    _ table: SyncTable,
    _ values: [SQLiteValue]
  ) throws(SQLiteError) {
    _ = try takeOut { (taken) throws(SQLiteError) in
      try collectChildren(of: row, table, values, &taken)
    }
  }

  private typealias Taken = [(row: RowState, table: SyncTable)]

  private func takeOut(
    _ collect: (inout Taken) throws(SQLiteError) -> Void
  ) throws(SQLiteError) -> Bool {
    do throws(SQLiteError) {
      try connection.transaction { () throws(SQLiteError) in
        let last = try connection.integer("SELECT max(id) FROM cloudsync_outbox")
        var taken: Taken = []
        try collect(&taken)
        for (row, table) in taken.reversed() {
          let key = try table.keyValues(of: row.key, in: connection)
          let values = try rows(of: table).values(of: key)
          guard let refusal = try attempt(table, row, key, values, nil) else { continue }
          throw SQLiteError(code: Int32(truncatingIfNeeded: refusal.code), message: refusal.reason)
        }
        // Nobody has deleted them, whatever actions of foreign keys have made of it.
        for (row, _) in taken { try store.forgetOutbox(of: row.place, after: last) }
      }
    } catch {
      guard error.isRefusal, connection.isInTransaction else { throw error }
      return false
    }
    return true
  }

  /// Notes a row, and those that refer to it, as taken out of their tables.
  private func collect(
    _ row: RowState,
    _ table: SyncTable,
    _ why: Refusal?,
    _ parent: String?,
    _ taken: inout Taken
  ) throws(SQLiteError) {
    if taken.contains(where: { $0.row.recordName == row.recordName }) { return }
    let key = try table.keyValues(of: row.key, in: connection)
    guard let values = try rows(of: table).values(of: key) else { return }
    var row = row
    let server = row.server?.rowVersion
    let whole = version(of: row, table, values: values, server: server)
    try shelve(&row, table, whole, why)
    if let parent, row.waitsFor == nil { row.waitsFor = parent }
    try store.save(row)
    taken.append((row, table))
    try collectChildren(of: row, table, values, &taken)
  }

  private func collectChildren(
    of row: RowState,
    _ table: SyncTable,
    _ values: [SQLiteValue],
    _ taken: inout Taken
  ) throws(SQLiteError) {
    guard tables.enforcesForeignKeys else { return }
    for (child, key) in try children(of: table, values) {
      guard let state = try store.row(child.id, try child.key(of: key, in: connection)) else {
        continue
      }
      try collect(state, child, nil, row.recordName, &taken)
    }
  }

  /// The rows that refer to a row, with their tables.
  func children(
    of table: SyncTable,
    _ values: [SQLiteValue]
  ) throws(SQLiteError) -> [(table: SyncTable, key: [SQLiteValue])] {
    var children: [(table: SyncTable, key: [SQLiteValue])] = []
    for child in tables.inOrder {
      for reference in child.schema.foreignKeys where reference.table == table.name {
        guard let referred = table.values(reference.referencedColumns, of: values) else { continue }
        for key in try rows(of: child).keys(where: reference.columns, referred) {
          children.append((child, key))
        }
      }
    }
    return children
  }
}

extension MetadataStore {
  /// The rows that are not in their tables as they should be.
  func shelvedRows() throws(SQLiteError) -> [RowState] {
    try rows(where: "shelf IS NOT NULL ORDER BY record_name")
  }
}

extension SyncTable {
  /// The values of some columns, of the writable ones' in their order; nil if one is not among them.
  func values(_ columns: [String], of values: [SQLiteValue]) -> [SQLiteValue]? {
    var found: [SQLiteValue] = []
    for column in columns {
      guard let place = schema.writableColumns.firstIndex(where: { $0.name == column }) else {
        return nil
      }
      found.append(values[place])
    }
    return found
  }
}

extension RowTable {
  /// The keys of the rows with these values, in their order.
  func keys(
    where columns: [String],
    _ values: [SQLiteValue]
  ) throws(SQLiteError) -> [[SQLiteValue]] {
    let list = table.schema.primaryKey.map(\.quotedName).joined(separator: ", ")
    let condition = columns.enumerated().map { "\($1.quotedName) = ?\($0 + 1)" }
      .joined(separator: " AND ")
    let query = try connection.statement(
      "SELECT \(list) FROM \(table.name.quotedName) WHERE \(condition) ORDER BY \(list)"
    )
    for (place, value) in values.enumerated() { query.bind(value, at: Int32(place + 1)) }
    var keys: [[SQLiteValue]] = []
    try query.forEachRow {
      keys.append(table.schema.primaryKey.indices.map { query.value(Int32($0)) })
    }
    return keys
  }
}

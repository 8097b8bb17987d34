import CloudSyncCore
import CloudSyncSQLiteSupport

extension SyncTransaction {
  /// Writes all rows that are to be otherwise, parents first, and those that waited for them.
  mutating func writeRows() throws(SQLiteError) {
    var open = Array(unwritten)
    if open.isEmpty { return }
    while !open.isEmpty {
      var changed: [RowKey] = []
      let former = removals
      var isRefused = false
      var refused: [RowKey] = []
      for row in try inOrder(open) {
        // Its parent may just have been refused, or taken out of the way of another row.
        if isRefused || removals > former, try isParentMissing(row) { continue }
        if try write(row) { changed.append(row) }
        let isInTable = rows[row].map { $0.state.placement == .inTable && !$0.needsWrite } ?? true
        if !isInTable { refused.append(row) }
        isRefused = isRefused || !isInTable
      }
      for key in refused {
        // Rows that were written before it may refer to it.
        guard let row = rows[key], row.values == nil else { continue }
        try takeOutChildren(of: row)
      }
      _ = try childrenWaiting(for: changed)
      open = Array(unwritten)
    }
  }

  // MARK: Parents first

  /// The rows that can be written, in their order; the others are noted to wait for their parents.
  private mutating func inOrder(_ keys: [RowKey]) throws(SQLiteError) -> [RowKey] {
    let sorted = keys.compactMap { rows[$0]?.order }.sorted { $0.precedes($1) }
    let found = sorted.compactMap { rows[$0.rowKey] }
    var nodes: [DependencyOrder.Node] = []
    for row in found {
      let isDeleted = row.isDeleted(tables[row.place].rules)
      nodes.append(
        DependencyOrder.Node(
          name: row.key.name,
          rank: row.place,
          parents: isDeleted ? [] : try parents(of: row),
          isDeleted: isDeleted
        )
      )
    }
    let order = try DependencyOrder(nodes) { (name) throws(SQLiteError) in try isInTable(name) }
    for (place, parent) in order.waiting {
      var row = found[place]
      row.place(.awaitsParent(parent), tables[row.place].rules)
      awaitedParents.insert(parent)
      keep(row)
    }
    return order.ready.map { found[$0].rowKey }
  }

  /// The records that a row refers to; where foreign keys are not enforced nobody waits for them, but for those
  /// that are known not to be there: what becomes of their children is settled at the end of the fetch.
  private mutating func parents(of row: LoadedRow) throws(SQLiteError) -> [String] {
    guard let version = row.state.row else { return [] }
    var names: [String] = []
    for link in tables.links(from: row.place) {
      guard let values = version.storedValues(of: link.columns) else { continue }
      let parent = tables[link.parent]
      if link.refersToKey {
        let key = parent.format.key(spelled: values)
        // A row may refer to itself.
        if UTF8Bytes.equal(key.name, row.key.name) { continue }
        let isAwaited =
          tables.enforcesForeignKeys ? true : try isKnownToBeMissing(key, in: link.parent)
        if isAwaited { names.append(key.name) }
        // Such a name does not tell the key.
        if RecordKey.isDigest(key.name) { digestKeys[key.name] = (link.parent, key) }
      } else if !tables.enforcesForeignKeys {
        continue
      } else if try parent.rows(connection).hasRow(where: link.referencedColumns, values) {
        continue
      } else if let other = comingRow(having: values, by: link) {
        if other != row.rowKey, let name = rows[other]?.key.name { names.append(name) }
      } else {
        names.append(tables.name(of: values, link))
      }
    }
    return names
  }

  /// The row about to be written that is to have the values that a foreign key refers to.
  private func comingRow(
    having values: [SQLiteValue],
    by link: TableLink
  ) -> RowKey? {
    let rules = tables[link.parent].rules
    return loose.parents(having: values, by: link, self)
      .filter { key in
        guard let row = rows[key], row.needsWrite, !row.isDeleted(rules),
          let version = row.state.row
        else { return false }
        return tables.has(version, values, of: link)
      }
      .min { UTF8Bytes.order($0.key.literal, $1.key.literal) < 0 }
  }

  private mutating func isParentMissing(_ key: RowKey) throws(SQLiteError) -> Bool {
    guard let row = rows[key], !row.isDeleted(tables[row.place].rules) else { return false }
    for name in try parents(of: row) where try isInTable(name) == false { return true }
    return false
  }

  /// Whether a row is deleted, or waits for its own parent.
  private func isKnownToBeMissing(
    _ key: RecordKey,
    in place: Int
  ) throws(SQLiteError) -> Bool {
    let row = try row(key, in: place)
    guard row.state.row != nil else { return false }
    return row.isDeleted(tables[place].rules) || row.waitsForParent
  }

  /// Whether the row of a record is in its table, and stays there.
  private func isInTable(_ name: String) throws(SQLiteError) -> Bool {
    guard let (place, key) = tables.place(ofRecord: name) ?? digestKeys[name] else { return false }
    return try tables[place].rows(connection).values(of: key.values) != nil
  }

  private mutating func childrenWaiting(for parents: [RowKey]) throws(SQLiteError) -> [RowKey] {
    if parents.isEmpty { return [] }
    var children: Set<RowKey> = []
    for parent in parents {
      guard let row = rows[parent] else { continue }
      children.formUnion(
        try childrenWaiting(for: [row.key.name] + alternateNames(of: row))
      )
    }
    return Array(children)
  }

  /// What rows wait for that refer to a row by other keys than its primary one.
  private func alternateNames(of row: LoadedRow) -> [String] {
    guard let values = row.values else { return [] }
    return tables.links(to: row.place).filter { !$0.refersToKey }
      .compactMap { link in
        tables[row.place].values(of: link.referencedColumns, in: values)
          .map { tables.name(of: $0, link) }
      }
  }

  /// Has the rows written that wait for one of these.
  mutating func childrenWaiting(for names: [String]) throws(SQLiteError) -> Set<RowKey> {
    var children: Set<RowKey> = []
    for name in names {
      let stored = try PendingRows(connection: connection).waiting(for: name)
      for key in stored + (awaiting[name] ?? []) {
        guard var child = try self.row(key), child.state.placement == .awaitsParent(name) else {
          continue
        }
        child.needsWrite = true
        keep(child)
        children.insert(key)
      }
    }
    return children
  }

  // MARK: One row

  /// Makes a table's row what its state says.
  ///
  /// - Parameters:
  ///   - key: The row's.
  ///   - isInCircle: Whether the rows that refer to it are deleted too, in the same breath.
  /// - Returns: Whether the table's row is another one now, so that others may have waited for that.
  /// - Throws: SQLite's reason.
  mutating func write(_ key: RowKey, isInCircle: Bool = false) throws(SQLiteError) -> Bool {
    guard let row = rows[key] else { return false }
    let isDeleted = row.isDeleted(tables[row.place].rules)
    if isDeleted, row.values != nil, !isInCircle, try DeferredDeletions.isReferredTo(row, self) {
      try deferDeletion(of: row)
      return false
    }
    let version = isDeleted ? nil : row.state.row
    let followers = try KeyChangePropagation.letGo(of: row, to: version, &self)
    let isChanged = try place(key)
    let isWritten = rows[key].map { $0.state.placement == .inTable && !$0.needsWrite } ?? false
    try KeyChangePropagation.follow(followers, isWritten: isWritten, &self)
    return isChanged
  }

  /// Puts a deletion off: that of the rows which refer to the row, or their new references, may be on a later page.
  private mutating func deferDeletion(of row: LoadedRow) throws(SQLiteError) {
    var row = row
    let table = tables[row.place]
    if row.state.row == nil, let values = row.values {
      // Nothing is known of it any more: it is remembered as one that is gone.
      let edits = table.edits(of: values)
      _ = row.reduce(.edited(.found(edits)), table.rules)
      _ = row.reduce(.edited(.deleted(edits, at: .zero)), table.rules)
    }
    row.place(.deletionDeferred, table.rules)
    needsFetch = true
    keep(row)
  }

  /// Writes a row, and takes others out of its way where it may have their place.
  ///
  /// - Parameters:
  ///   - key: The row's.
  ///   - attempt: How often others were taken out of its way before.
  /// - Returns: Whether the table's row is another one now.
  /// - Throws: SQLite's reason.
  private mutating func place(_ key: RowKey, attempt: Int = 0) throws(SQLiteError) -> Bool {
    guard var row = rows[key] else { return false }
    let table = tables[row.place]
    let isDeleted = row.isDeleted(table.rules)
    let former = row.values
    var placement = try writeInTable(row, isDeleted ? nil : row.state.row)
    if case .violates(let code, _) = placement, SQLiteError.isUnique(code), !isDeleted {
      switch try UniqueKeyResolver.makeRoom(for: row, &self) {
      // A trigger of the app's may bring back what was in the way.
      case .free: if attempt <= table.searches.count { return try place(key, attempt: attempt + 1) }
      case .later: return false
      case .held(let reason): placement = reason ?? placement
      }
      row = rows[key] ?? row
    }
    // What SQLite has made of the values is read back.
    if !isDeleted || placement != .inTable {
      row.values = try table.rows(connection).values(of: row.key.values)
    } else {
      row.values = nil
    }
    if placement.isViolation, row.state.placement != placement { counts.parked += 1 }
    row.place(placement, table.rules)
    row.complete(table)
    keep(row)
    if placement == .inTable { touched.insert(row.place) }
    freed.insert(row.rowKey)
    if placement == .inTable, isDeleted ? former != nil : former != row.values {
      hasSideEffects = hasSideEffects || isDeleted || table.hasTriggersOfTheApp
    }
    return row.values != nil && former != row.values
  }

  private mutating func writeInTable(
    _ row: LoadedRow,
    _ version: RecordVersion?
  ) throws(SQLiteError) -> Placement {
    let table = tables[row.place]
    return try withoutCapture(of: row) { (transaction) throws(SQLiteError) in
      let writer = RowWriter(table: table, connection: transaction.connection)
      let (placement, written) = try writer.write(
        version,
        key: row.key.values,
        values: row.values,
        isNewLife: row.isNewLife
      )
      if placement == .inTable, version != nil {
        try transaction.appTriggers.note(row, table, written, transaction.connection)
      }
      return placement
    }
  }

  /// Lets the app's triggers see that it is the engine that writes, until the transaction's end.
  private mutating func beginWriting() throws(SQLiteError) {
    if isWriting { return }
    isWriting = true
    // Rows may refer to each other in a circle, or to a row that comes later: SQLite looks at that in the end.
    try connection.execute("PRAGMA defer_foreign_keys = ON")
    try CaptureSuppression(connection: connection).setSynchronizing(true)
  }

  /// Lets them see that it is not any more.
  mutating func endWriting() throws(SQLiteError) {
    guard isWriting else { return }
    isWriting = false
    try CaptureSuppression(connection: connection).setSynchronizing(false)
  }

  /// Writes a row so that it is not captured; what follows from it is.
  mutating func withoutCapture<Value>(
    of row: LoadedRow,
    _ body: (inout SyncTransaction) throws(SQLiteError) -> Value
  ) throws(SQLiteError) -> Value {
    try beginWriting()
    return try CaptureSuppression(connection: connection)
      .withoutCapture(
        ofRowsOf: tables[row.place].captured,
        from: row.key.values,
        mapping: { $0 }
      ) { (_) throws(SQLiteError) in try body(&self) }
  }
}

extension RecordVersion {
  /// The values of some columns as they are stored; nil if one is NULL or unknown: then they refer to nothing.
  func storedValues(of columns: [String]) -> [SQLiteValue]? {
    var values: [SQLiteValue] = []
    for column in columns {
      guard let value = value(of: column), case .value(let stored)? = ValueCodec.decode(value),
        stored != .null
      else { return nil }
      values.append(stored)
    }
    return values
  }
}

extension SQLiteError {
  /// SQLite's code for a unique key that is taken.
  static let unique: Int64 = 2_067

  /// Whether SQLite's code says that a unique key is taken.
  static func isUnique(_ code: Int64) -> Bool {
    // SQLITE_CONSTRAINT_UNIQUE, …_PRIMARYKEY and …_ROWID.
    [unique, 1_555, 2_579].contains(code)
  }
}

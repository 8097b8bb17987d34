import CloudSyncCore
import CloudSyncSQLiteSupport

/// Writes all rows that are to be otherwise, parents first, and those that waited for them.
struct RowWriting: TransactionPart {
  let transaction: SyncTransaction

  /// Writes all rows that are to be otherwise, parents first, and those that waited for them.
  func writeRows() throws(SQLiteError) {
    var open = Array(transaction.unwritten)
    if open.isEmpty { return }
    while !open.isEmpty {
      var changed: [RowKey] = []
      let former = transaction.removals
      var isRefused = false
      var refused: [RowKey] = []
      for row in try inOrder(rowsOf: open) {
        // Its parent may just have been refused, or taken out of the way of another row.
        if isRefused || transaction.removals > former, try isParentMissing(of: row) { continue }
        if try write(row) { changed.append(row) }
        let isInTable =
          transaction.rows[row].map { $0.state.placement == .inTable && !$0.needsWrite } ?? true
        if !isInTable { refused.append(row) }
        isRefused = isRefused || !isInTable
      }
      for key in refused {
        // Rows that were written before it may refer to it.
        guard let row = transaction.rows[key], row.values == nil else { continue }
        try transaction.removal.takeOutChildren(of: row)
      }
      _ = try childrenWaiting(for: changed)
      open = Array(transaction.unwritten)
    }
  }

  // MARK: Parents first

  /// The rows that can be written, in their order; the others are noted to wait for their parents.
  private func inOrder(rowsOf keys: [RowKey]) throws(SQLiteError) -> [RowKey] {
    let sorted = keys.compactMap { transaction.rows[$0]?.order }.sorted { $0.precedes($1) }
    let found = sorted.compactMap { transaction.rows[$0.rowKey] }
    var nodes: [DependencyOrder.Node] = []
    for row in found {
      let isDeleted = row.isDeleted
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
      row.place(.awaitsParent(parent), rules: tables[row.place].rules)
      transaction.awaitedParents.insert(parent)
      keep(row)
    }
    return order.ready.map { found[$0].rowKey }
  }

  /// The records that a row refers to; where foreign keys are not enforced nobody waits for them, but for those
  /// that are known not to be there: what becomes of their children is settled at the end of the fetch.
  private func parents(of row: LoadedRow) throws(SQLiteError) -> [String] {
    guard let version = row.state.row else { return [] }
    var names: [String] = []
    for link in tables.links(from: row.place) {
      guard let values = version.storedValues(of: link.columns),
        try FoundReference(transaction: transaction, row: row, link: link).isToNobody(values)
          == false
      else { continue }
      let parent = tables[link.parent]
      if link.refersToKey {
        let key = parent.format.key(spelled: values)
        // A row may refer to itself.
        if UTF8Bytes.equal(key.name, row.key.name) { continue }
        if try isAwaited(key, in: link.parent) { names.append(key.name) }
        // Such a name does not tell the key.
        if RecordName.isDigest(key.name) { transaction.digestKeys[key.name] = (link.parent, key) }
      } else if !tables.enforcesForeignKeys {
        continue
      } else if try parent.rows(on: connection).hasRow(where: link.referencedColumns, are: values) {
        continue
      } else if let other = comingRow(having: values, by: link) {
        if other != row.rowKey, let name = transaction.rows[other]?.key.name { names.append(name) }
      } else {
        names.append(tables.name(of: values, by: link))
      }
    }
    return names
  }

  /// The row about to be written that is to have the values that a foreign key refers to.
  private func comingRow(
    having values: [SQLiteValue],
    by link: TableLink
  ) -> RowKey? {
    transaction.loose.parents(having: values, by: link, in: transaction)
      .filter { key in
        guard let row = transaction.rows[key], row.needsWrite, !row.isDeleted,
          let version = row.state.row
        else { return false }
        return tables.has(version, values: values, of: link)
      }
      .min { UTF8Bytes.order($0.key.literal, $1.key.literal) < 0 }
  }

  private func isParentMissing(of key: RowKey) throws(SQLiteError) -> Bool {
    guard let row = transaction.rows[key], !row.isDeleted else {
      return false
    }
    for name in try parents(of: row) where try isInTable(name) == false { return true }
    return false
  }

  /// Whether rows wait for a parent that they refer to: where nobody enforces foreign keys no longer than somebody may say
  /// what becomes of them.
  private func isAwaited(_ key: RecordKey, in place: Int) throws(SQLiteError) -> Bool {
    if tables.enforcesForeignKeys { return true }
    return transaction.isWaitingSettled ? false : try isKnownToBeMissing(key, in: place)
  }

  /// Whether a row is deleted, or waits for its own parent.
  private func isKnownToBeMissing(
    _ key: RecordKey,
    in place: Int
  ) throws(SQLiteError) -> Bool {
    let row = try row(key, in: place)
    guard row.state.row != nil else { return false }
    return row.isDeleted || row.waitsForParent
  }

  /// Whether the row of a record is in its table, and stays there.
  private func isInTable(_ name: String) throws(SQLiteError) -> Bool {
    guard let (place, key) = tables.place(ofRecord: name) ?? transaction.digestKeys[name] else {
      return false
    }
    return try tables[place].rows(on: connection).values(of: key.values) != nil
  }

  private func childrenWaiting(for parents: [RowKey]) throws(SQLiteError) -> [RowKey] {
    if parents.isEmpty { return [] }
    var children: Set<RowKey> = []
    for parent in parents {
      guard let row = transaction.rows[parent] else { continue }
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
          .map { tables.name(of: $0, by: link) }
      }
  }

  /// Has the rows written that wait for one of these.
  func childrenWaiting(for names: [String]) throws(SQLiteError) -> Set<RowKey> {
    var children: Set<RowKey> = []
    for name in names {
      let stored = try stored.pending.waiting(for: name)
      for key in stored + (transaction.awaiting[name] ?? []) {
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
  func write(_ key: RowKey, isInCircle: Bool = false) throws(SQLiteError) -> Bool {
    guard let row = transaction.rows[key] else { return false }
    let isDeleted = row.isDeleted
    if isDeleted, row.values != nil, !isInCircle, try transaction.isReferredTo(row) {
      try deferDeletion(of: row)
      return false
    }
    let version = isDeleted ? nil : row.state.row
    let followers = try KeyChangePropagation(transaction: transaction).letGo(of: row, to: version)
    let isChanged = try place(key)
    let isWritten =
      transaction.rows[key].map { $0.state.placement == .inTable && !$0.needsWrite } ?? false
    try KeyChangePropagation(transaction: transaction).follow(followers, isWritten: isWritten)
    return isChanged
  }

  /// Puts a deletion off: that of the rows which refer to the row, or their new references, may be on a later page.
  private func deferDeletion(of row: LoadedRow) throws(SQLiteError) {
    var row = row
    let table = tables[row.place]
    row.takeDeletion(in: table)
    row.place(.deletionDeferred, rules: table.rules)
    transaction.needsFetch = true
    keep(row)
  }

  /// Writes a row, and takes others out of its way where it may have their place.
  ///
  /// - Parameters:
  ///   - key: The row's.
  ///   - attempt: How often others were taken out of its way before.
  /// - Returns: Whether the table's row is another one now.
  /// - Throws: SQLite's reason.
  private func place(_ key: RowKey, attempt: Int = 0) throws(SQLiteError) -> Bool {
    guard var row = transaction.rows[key] else { return false }
    let table = tables[row.place]
    let isDeleted = row.isDeleted
    let former = row.values
    let lackedFile = row.state.placement.lacksFile
    var placement = try writeInTable(row, as: isDeleted ? nil : row.state.row)
    if case .violates(let code, _) = placement, SQLiteError.isUnique(code), !isDeleted {
      switch try UniqueKeyContention(transaction: transaction).makeRoom(for: row) {
      // A trigger of the app's may bring back what was in the way.
      case .free: if attempt <= table.searches.count { return try place(key, attempt: attempt + 1) }
      case .later: return false
      case .held(where: let reason): placement = reason ?? placement
      }
      row = transaction.rows[key] ?? row
    }
    // What SQLite has made of the values is read back.
    if !isDeleted || placement != .inTable {
      row.values = try table.rows(on: connection).values(of: row.key.values)
    } else {
      row.values = nil
    }
    if isDeleted, placement.isViolation { row.takeDeletion(in: table) }
    if placement.isViolation, row.state.placement != placement { transaction.counts.parked += 1 }
    row.place(placement, rules: table.rules)
    row.complete(in: table)
    keep(row)
    try noteFile(of: row, formerly: lackedFile)
    if placement == .inTable { transaction.touched.insert(row.place) }
    transaction.freed.insert(row.rowKey)
    if placement == .inTable, isDeleted ? former != nil : former != row.values {
      let isEcho = isDeleted ? true : try transaction.mayCallTriggers(of: table)
      if isEcho { transaction.hasSideEffects = true }
    }
    return row.values != nil && former != row.values
  }

  /// Has the cloud asked for the record of a row that lacks a file: nobody else brings it.
  private func noteFile(of row: LoadedRow, formerly lackedFile: Bool) throws(SQLiteError) {
    if case .violates(_, let reason) = row.state.placement, row.state.placement.lacksFile {
      try stored.unfetched.keep(named: row.key.name, because: reason, at: transaction.now)
    } else if lackedFile {
      try stored.unfetched.remove(named: row.key.name)
    }
  }

  private func writeInTable(
    _ row: LoadedRow,
    as version: RecordVersion?
  ) throws(SQLiteError) -> Placement {
    let table = tables[row.place]
    let hasTriggers = try transaction.mayCallTriggers(of: table)
    return try transaction.withoutCapture(of: row) { () throws(SQLiteError) in
      let writer = RowWriter(of: table, in: transaction, mayCallTriggers: hasTriggers)
      if let version, spellsItselfOtherwise(version, of: row) {
        return writer.selfReference(of: row.key.values)
      }
      if let version, let other = try transaction.removal.tableKeeping(row, from: version) {
        return writer.reference(to: row.key.values, from: other)
      }
      let (placement, written) = try writer.write(
        version,
        key: row.key.values,
        values: row.values,
        isNewLife: row.isNewLife
      )
      guard placement == .inTable, version != nil, hasTriggers else { return placement }
      let isThere = try transaction.retouched
        .note(row, of: table, written: written, on: connection)
      return isThere ? placement : writer.removal(of: row.key.values)
    }
  }

  /// Whether a row refers to itself by another spelling of its key.
  ///
  /// SQLite compares a row with itself by the bytes, whatever the collation, and would refuse the whole transaction.
  private func spellsItselfOtherwise(_ version: RecordVersion, of row: LoadedRow) -> Bool {
    guard tables.enforcesForeignKeys else { return false }
    return tables.links(from: row.place)
      .contains { link in
        guard link.parent == row.place, let own = version.storedValues(of: link.columns),
          let key = version.storedValues(of: link.referencedColumns), own != key
        else { return false }
        return tables.compared(own, by: link) == tables.compared(key, by: link)
      }
  }
}

extension SyncTransaction {
  /// Writes rows into their tables.
  var writing: RowWriting { RowWriting(transaction: self) }
}

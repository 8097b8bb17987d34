public import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

extension SyncEngine {
  // MARK: One record

  /// How far a row and its record in the cloud have come together.
  ///
  /// - Parameters:
  ///   - key: The values of the row's key, in the order of the key's columns.
  ///   - table: The table's name.
  /// - Returns: Nil if nothing is known of such a row: it was never there, or is gone everywhere.
  /// - Throws: That the table is not synchronized, the key has another number of columns, or the
  ///   database cannot be read.
  public func status(
    of key: FieldValue...,
    in table: String
  ) throws(SyncEngineError) -> RecordStatus? {
    let tables = try control.refreshTables()
    let place = try synchronizedTable(table, of: tables)
    let key = try tables[place].key(ofApp: key)
    let isOnItsWay =
      control.run?.state
      .withLock { state in
        state.inFlight.values.contains { $0.rows.contains { $0.key == key } }
      } ?? false
    return try control.transaction { (transaction) throws(SQLiteError) in
      let row = try transaction.row(key, in: place)
      guard row.state.row != nil else {
        // A row that was there before is not looked at before everything was fetched.
        return row.values == nil ? nil : .dirty
      }
      let status = RecordStatus(row.state, isOnItsWay: isOnItsWay)
      // A tombstone that the cloud has says no more than that there is no row.
      return status == .clean && row.values == nil ? nil : status
    }
  }

  private func synchronizedTable(
    _ name: String,
    of tables: SyncTables
  ) throws(SyncEngineError) -> Int {
    guard let place = tables.place(named: name) else {
      throw SyncEngineError(
        .schema,
        "table \(name.quotedName) is not synchronized; name one that the engine was made with"
      )
    }
    return place
  }

  // MARK: Parked records

  /// Tries records again that are parked: what was refused is sent or stored anew.
  ///
  /// While the engine is stopped they are made ready for the next start.
  ///
  /// - Parameters:
  ///   - table: The table whose records are tried; nil for all tables.
  ///   - keys: The keys of the rows, each with the values of its columns in the key's order; nil for all
  ///     parked records of the table.
  /// - Returns: How many there were.
  /// - Throws: That the table is not synchronized, a key has another number of columns, or the
  ///   database cannot be written.
  @discardableResult
  public func retryParked(
    in table: String? = nil,
    keys: [[FieldValue]]? = nil
  ) throws(SyncEngineError) -> Int {
    precondition(
      table != nil || keys == nil,
      "retryParked(in:keys:) needs the table that the keys are of."
    )
    let tables = try control.refreshTables()
    let selected = try table.map { (name) throws(SyncEngineError) in
      try synchronizedTable(name, of: tables)
    }
    var rowKeys: [RowKey]?
    if let selected, let keys {
      let table = tables[selected]
      rowKeys = try keys.map { (key) throws(SyncEngineError) in
        table.rowKey(of: try table.key(ofApp: key))
      }
    }
    let id = selected.map { tables[$0].id }
    let count = try control.transaction { [rowKeys] (transaction) throws(SQLiteError) in
      let parked = try transaction.stored.pending.parked(in: id)
      let chosen = rowKeys.map { keys in parked.filter { keys.contains($0) } } ?? parked
      for key in chosen { try transaction.retry(key) }
      try transaction.facts.set(.triedKinds, to: nil)
      let records = id == nil ? try transaction.stored.foreign.retry() : 0
      return chosen.count + records
    }
    sendChanges()
    return count
  }
}

extension RecordTable {
  /// The key that the app gives.
  fileprivate func key(ofApp key: [FieldValue]) throws(SyncEngineError) -> RecordKey {
    guard key.count == self.key.count else {
      throw SyncEngineError(
        .schema,
        "the key of table \(name.quotedName) has \(self.key.count) columns"
          + " (\(self.key.joined(separator: ", "))), and \(key.count) values were given"
      )
    }
    var values: [SQLiteValue] = []
    for (value, column) in zip(key, self.key) {
      guard case .value(let stored)? = ValueCodec.decode(value) else {
        throw SyncEngineError(
          .schema,
          "a \(value.kind) cannot be a value of \(name.quotedName).\(column.quotedName)"
        )
      }
      values.append(stored)
    }
    return format.key(spelled: values)
  }
}

extension SyncTransaction {
  /// Has a parked row tried again: sent, or written into its table.
  fileprivate func retry(_ key: RowKey) throws(SQLiteError) {
    guard let known = try row(key) else { return }
    var row = try reduce(.retried, of: known.key, in: known.place)
    if row.state.placement.isViolation { row.needsWrite = true }
    keep(row)
  }
}

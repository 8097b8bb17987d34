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
    let table = try synchronizedTable(table)
    let values = try table.values(ofKey: key)
    return try Self.write(to: database) { (connection) throws(SyncEngineError) in
      try sqlite { () throws(SQLiteError) in
        let store = MetadataStore(connection: connection)
        let stored = try table.key(of: values, in: connection)
        let row = try store.row(table.id, stored)
        let status = row.map { RecordStatus($0) } ?? .clean
        // What the triggers have captured since counts too, whoever reads it when.
        guard status == .clean else { return status }
        guard let isDeleted = try store.isDeletedUnread(table.id, stored) else {
          return row == nil ? nil : .clean
        }
        return row == nil && isDeleted ? nil : .dirty
      }
    }
  }

  private func synchronizedTable(_ name: String) throws(SyncEngineError) -> SyncTable {
    guard let table = tables.inOrder.first(where: { $0.name.isSameName(as: name) }) else {
      throw SyncEngineError(
        .schema,
        "table \(name.quotedName) is not synchronized; name one that the engine was made with"
      )
    }
    return table
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
    var selected: SyncTable?
    var values: [[SQLiteValue]]?
    if let table {
      let found = try synchronizedTable(table)
      selected = found
      if let keys {
        var list: [[SQLiteValue]] = []
        for key in keys { list.append(try found.values(ofKey: key)) }
        values = list
      }
    }
    let records = try transaction { [selected, values] (work) throws(SQLiteError) in
      try work.retryParked(in: selected, keys: values)
    }
    if !records.isEmpty { session?.dropParked(records) }
    sendChanges()
    return records.count
  }
}

extension SyncTable {
  /// The values of a key as the app gives it.
  fileprivate func values(ofKey key: [FieldValue]) throws(SyncEngineError) -> [SQLiteValue] {
    guard key.count == schema.primaryKey.count else {
      throw SyncEngineError(
        .schema,
        "the key of table \(name.quotedName) has \(schema.primaryKey.count) columns"
          + " (\(schema.primaryKey.joined(separator: ", "))), and \(key.count) values were given"
      )
    }
    var values: [SQLiteValue] = []
    for (value, column) in zip(key, schema.primaryKey) {
      guard case .value(let stored)? = ValueCodec.decode(value) else {
        throw SyncEngineError(
          .schema,
          "a \(value.kind) cannot be a value of \(name.quotedName).\(column.quotedName)"
        )
      }
      values.append(stored)
    }
    return values
  }
}

extension EngineWork {
  /// Makes parked rows ready to be tried again; returns their records.
  func retryParked(
    in table: SyncTable?,
    keys: [[SQLiteValue]]?
  ) throws(SQLiteError) -> [RecordID] {
    try outbox.readAll()
    var rows: [RowState] = []
    if let table, let keys {
      for key in keys {
        if let row = try store.row(table.id, try table.key(of: key, in: connection)) {
          rows.append(row)
        }
      }
    } else {
      rows = try store.parkedRows(of: table?.id)
    }
    var records: [RecordID] = []
    for row in rows where row.errorCode != nil || row.shelfCode != nil {
      records.append(recordID(row.recordName))
      if row.errorCode != nil { try retry(row) }
    }
    // They may stand in each other's way, so all are tried where any is.
    if rows.contains(where: { $0.shelfCode != nil }) { try retryShelved(all: true) }
    try store.setApplying(nil)
    return records
  }

  private func retry(_ parked: RowState) throws(SQLiteError) {
    var row = parked
    row.errorCode = nil
    row.error = nil
    let payload = row.payload
    row.payload = nil
    try store.save(row)
    // What the cloud has could not be stored here: perhaps it can be now.
    guard let payload, let one = try incoming(payload, isRetry: true) else { return }
    one.void = row.void
    try apply([one])
  }
}

extension MetadataStore {
  /// Whether the triggers have captured an edit of a row that nobody has read, and the last one is that
  /// the row went; nil if they have not.
  fileprivate func isDeletedUnread(
    _ table: Int64,
    _ key: SQLiteValue
  ) throws(SQLiteError) -> Bool? {
    let query =
      try connection.prepare(
        """
        SELECT change IS '' FROM cloudsync_outbox WHERE table_id = ?1 AND key IS ?2
        ORDER BY id DESC LIMIT 1
        """
      )
      .bind(table, at: 1).bind(key, at: 2)
    return try query.step() ? query.integer(0) == 1 : nil
  }

  /// The rows that were set aside, of one table or of all.
  fileprivate func parkedRows(of table: Int64?) throws(SQLiteError) -> [RowState] {
    let query =
      try connection.prepare(
        """
        SELECT table_id, key FROM cloudsync_rows
        WHERE coalesce(error_code, shelf_code) IS NOT NULL AND table_id = coalesce(?1, table_id)
        ORDER BY table_id, record_name
        """
      )
      .bind(table.map { .integer($0) } ?? .null, at: 1)
    var keys: [(table: Int64, key: SQLiteValue)] = []
    try query.forEachRow { keys.append((query.integer(0), query.value(1))) }
    var rows: [RowState] = []
    for one in keys { if let row = try row(one.table, one.key) { rows.append(row) } }
    return rows
  }
}

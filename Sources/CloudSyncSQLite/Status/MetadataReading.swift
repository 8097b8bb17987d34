import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Reads ``SyncMetadata``.
struct MetadataReading {
  let connection: SQLiteConnection

  /// Reads everything in one transaction that does not write.
  func read() throws(SyncEngineError) -> SyncMetadata? {
    try sqlite { () throws(SQLiteError) in try connection.execute("SAVEPOINT cloudsync_reading") }
    let result: Result<SyncMetadata?, SyncEngineError>
    do throws(SyncEngineError) { result = .success(try readAll()) } catch {
      result = .failure(error)
    }
    try sqlite { () throws(SQLiteError) in try connection.execute("RELEASE cloudsync_reading") }
    return try result.get()
  }

  private func readAll() throws(SyncEngineError) -> SyncMetadata? {
    guard let version = try OutboxSchema.checkedVersion(on: connection) else { return nil }
    return try sqlite { () throws(SQLiteError) in
      let registered = try TableRegistry(connection: connection).tables()
      let schema = try DatabaseSchema.read(connection)
      let counts = try counts(of: registered, in: schema)
      let changes = try changes(of: registered, in: schema)
      let described = registered.map { table in
        SyncMetadata.Table(
          name: table.name,
          columns: table.present(in: schema),
          counts: counts[table.id] ?? SyncMetadata.Counts(),
          rowFilter: table.filter,
          change: changes[table.id]
        )
      }
      let states = zip(described, registered)
      let tables = states.filter { $1.isSynchronized }.map(\.0)
      let lastSync = try Facts(connection: connection).integer(.lastSync)
      return SyncMetadata(
        version: Int(clamping: version),
        tables: tables,
        leftOutTables: states.filter { !$1.isSynchronized && schema.table(named: $1.name) != nil }
          .map(\.0),
        leftOutRecords: try held(
          where: "(p.error_code IS NOT NULL OR p.waits_for IS NOT NULL)",
          isSynchronized: false
        ),
        parked: try held(where: "p.error_code IS NOT NULL") + displaced(),
        waiting: try held(where: "p.error_code IS NULL AND p.waits_for IS NOT NULL"),
        unreadableRecords: try unreadableRecords(),
        unknownRecords: Int(
          clamping: try ForeignRecords(connection: connection).unknownCount()
        ),
        unnamedRows: try unnamedRows(of: tables, in: schema),
        lastSync: lastSync.map { Timestamp(nanoseconds: $0 * 1_000_000) }
      )
    }
  }

  /// What was done to tables since their edits were captured, or was done before and is still to be looked into.
  private func changes(
    of tables: [RegisteredTable],
    in schema: DatabaseSchema
  ) throws(SQLiteError) -> [Int64: SyncMetadata.Change] {
    let synchronized = tables.filter(\.isSynchronized)
    let findings = try CaptureCheck(connection: connection)
      .findings(of: synchronized.map(\.name), in: schema)
    var changes: [Int64: SyncMetadata.Change] = [:]
    for id in try Facts(connection: connection).rebuiltTables() { changes[id] = .rebuilt }
    for (name, finding) in findings {
      guard let table = synchronized.first(where: { $0.name.isSameName(as: name) }) else {
        continue
      }
      switch finding {
      case .rebuilt: changes[table.id] = .rebuilt
      case .missing: changes[table.id] = .missing
      case .columnsChanged(let added, _) where !added.isEmpty:
        changes[table.id] = .hasNewColumns(added)
      case .unchanged, .columnsChanged, .leftOut, .new: break
      }
    }
    return changes
  }

  /// The records that cannot be read, and those that the cloud could not give, by their names.
  private func unreadableRecords() throws(SQLiteError) -> [SyncMetadata.UnreadableRecord] {
    // A row that lacks a file is parked, and its record asked for besides.
    let parked = Set(
      try held(where: "p.error_code = \(SQLiteError.missingFile)").map(\.recordName)
    )
    let records =
      try ForeignRecords(connection: connection).unreadable()
      + UnfetchedRecords(connection: connection).all().filter { !parked.contains($0.recordName) }
    return records.sorted { UTF8Bytes.order($0.recordName, $1.recordName) < 0 }
  }

  /// The rows without a whole key, of the tables that are still there.
  private func unnamedRows(
    of tables: [SyncMetadata.Table],
    in schema: DatabaseSchema
  ) throws(SQLiteError) -> [UnnamedRow] {
    var rows: [UnnamedRow] = []
    for table in tables.compactMap({ schema.table(named: $0.name) }) {
      rows += try table.unnamedRows(limit: 100, in: connection)
    }
    return rows
  }

  // MARK: Counts

  /// The counts by the tables' numbers: as in the view, and with the rows that a table had before it was
  /// synchronized.
  private func counts(
    of tables: [RegisteredTable],
    in schema: DatabaseSchema
  ) throws(SQLiteError) -> [Int64: SyncMetadata.Counts] {
    let status = StatusQuery(tables)
    var counts: [Int64: SyncMetadata.Counts] = [:]
    let query = try connection.prepare(
      """
      SELECT table_id, 'clean', count(*) FROM cloudsync_known GROUP BY table_id
      UNION ALL SELECT p.table_id, \(status.pendingStatus), count(*) FROM cloudsync_pending p
      WHERE \(status.isShown) GROUP BY 1, 2
      UNION ALL SELECT p.table_id, 'held edit', count(*) FROM cloudsync_pending p
      WHERE p.is_dirty AND (p.error_code IS NOT NULL OR p.waits_for IS NOT NULL) GROUP BY 1
      UNION ALL SELECT table_id, 'parked', sum(is_displacing) FROM cloudsync_pending
      WHERE is_displacing IS NOT NULL GROUP BY table_id
      UNION ALL SELECT u.table_id, 'dirty', count(*) FROM (\(status.unread)) u
      WHERE NOT EXISTS(
        SELECT 1 FROM cloudsync_pending p WHERE p.table_id = u.table_id AND p.key = u.key)
      GROUP BY 1
      UNION ALL SELECT u.table_id, 'unclean', count(*) FROM (\(status.unread)) u
      JOIN cloudsync_known k ON k.table_id = u.table_id AND k.key = u.key GROUP BY 1
      """
    )
    try query.forEachRow {
      let count = Int(clamping: query.integer(2))
      counts[query.integer(0), default: .init()].add(count, as: query.text(1) ?? "")
    }
    for id in try Facts(connection: connection).unreconciledTables() {
      guard let table = tables.first(where: { $0.id == id }) else { continue }
      counts[id, default: .init()].dirty += try unseenCount(of: table, in: schema, status: status)
    }
    return counts
  }

  /// How many rows there are of which nothing is known and no edit was captured.
  private func unseenCount(
    of table: RegisteredTable,
    in schema: DatabaseSchema,
    status: StatusQuery
  ) throws(SQLiteError) -> Int {
    guard let captured = table.captured(in: schema) else { return 0 }
    let isWhole = captured.hasKey("t").map { "\($0) AND " } ?? ""
    var counted = captured
    // A migration may have renamed what the condition names.
    let check = RowFilterCheck(table: captured.schema, whole: captured.schema)
    if let filter = captured.filter, check.reason(against: filter) != nil { counted.filter = nil }
    let count = try connection.integer(
      """
      SELECT count(*) FROM \(counted.sentRows) t
      WHERE \(isWhole)\(captured.isUnknown("t"))
        AND \(status.isRead(rowOf: "\(table.id), \(captured.lookedUpKey("t"))"))
      """
    )
    return Int(clamping: count)
  }

  // MARK: Held records

  /// The records that a condition on pending rows `p` holds for.
  func held(
    where condition: String,
    isSynchronized: Bool = true
  ) throws(SQLiteError) -> [SyncMetadata.HeldRecord] {
    try held(
      "p.error_code, p.error, p.waits_for",
      from: "cloudsync_pending p",
      where: condition,
      isSynchronized: isSynchronized
    )
  }

  /// The rows whose keys other rows have got.
  private func displaced() throws(SQLiteError) -> [SyncMetadata.HeldRecord] {
    try held(
      StatusQuery.displaced,
      from: StatusQuery.displacing,
      where: StatusQuery.isDisplacing
    )
  }

  private func held(
    _ reasons: String,
    from source: String,
    where condition: String,
    isSynchronized: Bool = true
  ) throws(SQLiteError) -> [SyncMetadata.HeldRecord] {
    let tables = try TableRegistry(connection: connection).tables()
    let query = try connection.prepare(
      """
      SELECT p.table_id, p.key, p.record_name, \(reasons)
      FROM \(source) JOIN cloudsync_tables t ON t.id = p.table_id
      WHERE t.is_synchronized = \(isSynchronized ? 1 : 0) AND \(condition) ORDER BY p.table_id, p.record_name
      """
    )
    return try query.mapRows { query in
      let id = query.integer(0)
      let table = tables.first { $0.id == id }
      let status: RecordStatus =
        query.isNull(3)
        ? .waiting(recordName: query.text(5) ?? "")
        : .parked(
          code: Int(clamping: query.integer(3)),
          reason: query.text(4) ?? "no reason is known"
        )
      return SyncMetadata.HeldRecord(
        table: table?.name ?? "",
        key: CompoundKey.literals(of: query.value(1), isCompound: (table?.key.count ?? 0) > 1),
        recordName: query.text(2) ?? "",
        status: status
      )
    }
  }
}

extension CompoundKey {
  /// A row's key for people, as SQL: a literal, or those of several columns with commas between them.
  static func literals(of key: SQLiteValue, isCompound: Bool) -> String {
    guard isCompound, let values = values(of: key) else { return key.literal }
    return values.map(\.literal).joined(separator: ",")
  }
}

extension SyncMetadata.Counts {
  fileprivate mutating func add(_ count: Int, as status: String) {
    switch status {
    case "parked": parked += count
    case "held edit": heldEdits += count
    case "waiting": waiting += count
    case "dirty": dirty += count
    case "local": local += count
    case "unclean": clean -= count
    default: clean += count
    }
  }
}

extension RegisteredTable {
  /// The columns that the triggers watch and the table still has.
  fileprivate func present(in schema: DatabaseSchema) -> [String] {
    guard let columns = schema.table(named: name)?.writableColumns.map(\.name) else { return [] }
    return self.columns.filter(columns.contains)
  }
}

import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// The tables of an engine as they were read from the database.
struct PreparedTables: Sendable {
  let tables: SyncTables
  /// The version of the schema that they were read from.
  let schemaVersion: Int64
}

/// Prepares a database for an engine: its own tables, the triggers, and what a new schema needs.
struct EngineSetup {
  let connection: SQLiteConnection
  let options: SyncEngineOptions
  /// Gives numbers that no other database is likely to get.
  let nonce: @Sendable () -> UInt64

  /// Does all of it in one transaction, or nothing.
  func prepare(_ names: [String]) throws(SyncEngineError) -> PreparedTables {
    try connection.transaction(
      { () throws(SyncEngineError) in
        let whole = try sqlite { () throws(SQLiteError) in try DatabaseSchema.read(connection) }
        try check(names, in: whole)
        let schema = options.synchronized(whole)
        try EngineTables.prepare(on: connection)
        let search = try sqlite { () throws(SQLiteError) in
          try SchemaRenamingSearch(connection: connection, schema: schema)
        }
        try ReusedNameCheck(search: search).check(names)
        return try sqlite { () throws(SQLiteError) in try install(names, renamedBy: search) }
      },
      mapping: { SyncEngineError($0) }
    )
  }

  private func check(_ names: [String], in schema: DatabaseSchema) throws(SyncEngineError) {
    if names.isEmpty {
      throw SyncEngineError(.schema, "No tables are named; name at least one to synchronize.")
    }
    let violations = options.violations(in: schema, tables: names)
    let errors = violations.filter { !$0.isWarning }
    guard errors.isEmpty else {
      throw SyncEngineError(.schema, errors.map(\.reason).joined(separator: "\n"))
    }
    try HistoryTablesCheck(connection: connection).check(names, in: schema)
  }

  private func install(
    _ names: [String],
    renamedBy search: SchemaRenamingSearch
  ) throws(SQLiteError) -> PreparedTables {
    let schema = search.schema
    let renamings = try search.renamings(of: names)
    try takeNames(by: renamings)
    let isEnforcing = try connection.integer("PRAGMA foreign_keys") == 1
    let check = CaptureCheck(connection: connection)
    let version = try check.schemaVersion()
    let findings = try check.findings(of: names, in: schema)
    let isSame = findings.allSatisfy { $0.finding == .unchanged || $0.finding == .new }
    let isCopy = try isCopy()
    if !isSame { try removeTriggers(of: findings) }
    try carryRows(over: renamings, in: schema)
    if !isSame || isCopy { try readFormerEdits(in: schema, isCopied: isCopy) }
    // What both files have is of the old number, so that nobody's additions are counted twice.
    if isCopy { try Facts(connection: connection).set(.writer, to: nil) }
    let kinds = ColumnKinds(connection: connection)
    let shown = try kinds.takeShown()
    let ordered = schema.parentsFirst(names).joined().compactMap { schema.table(named: $0) }
    let registry = TableRegistry(connection: connection)
    let registered = try registry.tables()
    let captured = try CaptureInstallation(connection: connection, clock: options.captureClock)
      .install(ordered.map { request(for: $0, references: schema.references) })
    let tables = SyncTables(
      try captured.map { (table) throws(SQLiteError) in try make(table) },
      references: schema.references,
      enforcesForeignKeys: isEnforcing,
      leftOut: LeftOutTable.all(
        among: try registry.tables(),
        but: captured.map(\.name),
        references: schema.references
      )
    )
    try rekey(registered, to: tables)
    try forget(registered, unlessIn: try registry.tables())
    // What a deletion causes is captured before the deletion itself only by triggers that were made later.
    let filters = RowFilterChange(connection: connection, tables: tables, registered: registered)
    if !filters.places.isEmpty { try ActionTriggers.remove(from: connection) }
    try ActionTriggers(tables.inOrder, schema.references)
      .install(on: connection, isEnforcing: isEnforcing)
    try StatusView.install(on: connection)
    // What another table's rows have kept may be written by an engine for that table too.
    let facts = Facts(connection: connection)
    let isNewSchema =
      try facts.value(.schemaVersion) != .integer(version)
      || findings.contains { $0.finding == .leftOut }
    let readded = ReaddedColumns(connection: connection, registered: registered)
    try take(findings, of: tables, registered, readded: isNewSchema ? readded : nil)
    try IntegerKeyRanges(connection: connection, writer: tables.writer)
      .settle(options.countedTables(of: tables))
    try retryRefused(of: tables, isNewSchema: isNewSchema)
    if isNewSchema { try facts.set(.triedKinds, to: nil) }
    let isTrying = try kinds.isTrying()
    if !shown.isEmpty || isTrying { try retryInvalid(of: tables) }
    if !isSame { try holdForgetfulRows(of: tables) }
    try filters.askAgain(isNewSchema: isNewSchema)
    let prepared = PreparedTables(tables: tables, schemaVersion: try check.schemaVersion())
    try facts.set(.schemaVersion, to: .integer(prepared.schemaVersion))
    return prepared
  }

  /// Gives the tables that are registered the names that these and their columns have now.
  private func takeNames(by renamings: [SchemaRenaming]) throws(SQLiteError) {
    for renaming in renamings {
      try TableRegistry(connection: connection).save(renaming.present)
      try FormerNames(connection: connection)
        .note(renaming.present, formerly: renaming.former.name, columns: renaming.columns)
      try AddedCounters(connection: connection)
        .rename(renaming.columns, of: renaming.present.id)
      if !renaming.isTold, !renaming.columns.isEmpty {
        let formerColumns = FormerColumns(connection: connection)
        try formerColumns.note(renaming.columns, of: renaming.present.id)
      }
    }
  }

  /// Removes the triggers of tables that have changed.
  ///
  /// Where they name a column that is dropped SQLite writes no row. What they have captured stays, and others take their
  /// place.
  private func removeTriggers(
    of findings: [(table: String, finding: CaptureFinding)]
  ) throws(SQLiteError) {
    let changed = findings.filter { one in
      switch one.finding {
      case .columnsChanged, .rebuilt: true
      case .unchanged, .leftOut, .new, .missing: false
      }
    }
    try CaptureInstallation(connection: connection).removeTriggers(of: changed.map(\.table))
    try ActionTriggers.remove(from: connection)
  }

  /// Carries over what is known of the rows of tables that have, or whose columns have, other names.
  private func carryRows(
    over renamings: [SchemaRenaming],
    in schema: DatabaseSchema
  ) throws(SQLiteError) {
    for renaming in renamings {
      guard let captured = renaming.present.captured(in: schema) else { continue }
      let tables = SyncTables(
        [try make(captured)],
        references: [],
        enforcesForeignKeys: false
      )
      let transaction = SyncTransaction(connection: connection, tables: tables, now: 0) { 0 }
      transaction.isCopied = try isCopy()
      try RowRenaming(transaction: transaction, renaming: renaming, place: 0).rename()
    }
  }

  /// Carries over what is known of the rows of tables that got another number, because they have another key.
  private func rekey(_ former: [RegisteredTable], to tables: SyncTables) throws(SQLiteError) {
    for table in former where tables.place(ofID: table.id) == nil {
      guard let place = tables.place(named: table.name) else { continue }
      let transaction = SyncTransaction(connection: connection, tables: tables, now: 0) { 0 }
      try RowRekeying(transaction: transaction, former: table, place: place).rekey()
    }
  }

  /// Tries rows again that SQLite has refused: another schema may take them, or have no trigger that said no, and another
  /// connection may have the function that a trigger calls.
  private func retryRefused(of tables: SyncTables, isNewSchema: Bool) throws(SQLiteError) {
    let ids = tables.inOrder.map(\.id)
    let refused = try PendingRows(connection: connection).violating(in: ids)
    if refused.isEmpty { return }
    let transaction = SyncTransaction(connection: connection, tables: tables, now: 0) { 0 }
    // What was edited since is not in what was refused.
    try transaction.readOutbox()
    for key in refused {
      if !isNewSchema {
        guard case .violates(let code, _)? = try transaction.row(key)?.state.placement,
          SQLiteError.isOfTrigger(code)
        else { continue }
      }
      try transaction.retryWriting(key)
    }
    try transaction.finish()
  }

  /// Has rows wait that were to be sent without columns which their table has dropped.
  private func holdForgetfulRows(of tables: SyncTables) throws(SQLiteError) {
    let transaction = SyncTransaction(connection: connection, tables: tables, now: 0) { 0 }
    try transaction.readOutbox()
    for table in tables.inOrder {
      for key in try PendingRows(connection: connection).rows(of: table.id) {
        guard let row = try transaction.row(key), !row.forgottenColumns.isEmpty else { continue }
        try transaction.reduce(.recalled([]), of: row.key, in: row.place)
      }
    }
    try transaction.finish()
  }

  /// Sends rows again that the cloud has refused, since their values lie elsewhere now.
  private func retryInvalid(of tables: SyncTables) throws(SQLiteError) {
    let transaction = SyncTransaction(connection: connection, tables: tables, now: 0) { 0 }
    for row in try InvalidRows(transaction: transaction).find() {
      try transaction.reduce(.retried, of: row.key, in: row.place)
    }
    try transaction.finish()
  }

  /// Forgets what is known of tables that got another number, because they have another key.
  private func forget(
    _ former: [RegisteredTable],
    unlessIn present: [RegisteredTable]
  ) throws(SQLiteError) {
    for table in former where !present.contains(where: { $0.id == table.id }) {
      for name in ["known", "pending", "seen", "departed", "former_keys"] {
        try connection.execute("DELETE FROM cloudsync_\(name) WHERE table_id = \(table.id)")
      }
    }
  }

  /// Takes what old triggers have captured, by the tables as they were registered: rows cannot be found by
  /// another key.
  private func readFormerEdits(
    in schema: DatabaseSchema,
    isCopied: Bool
  ) throws(SQLiteError) {
    let captured = try TableRegistry(connection: connection).tables()
      .filter(\.isSynchronized).compactMap { $0.captured(in: schema) }
      // By another key nothing of it can be found.
      .filter { table in table.key.allSatisfy { table.schema.column(named: $0.name) != nil } }
    let tables = SyncTables(
      try captured.map { (table) throws(SQLiteError) in try make(table) },
      references: [],
      enforcesForeignKeys: false
    )
    let transaction = SyncTransaction(connection: connection, tables: tables, now: 0) { 0 }
    transaction.isCopied = isCopied
    try transaction.readOutbox()
    try transaction.finish()
  }

  // MARK: One table

  /// Values are captured of the columns whose policies need them, and where edits win of all; and of those that others
  /// refer to beside the primary key.
  private func request(
    for schema: TableSchema,
    references: [TableReference]
  ) -> CaptureInstallation.Request {
    let referenced = references.map(\.key)
      .filter { $0.table.isSameName(as: schema.name) && $0.referencedColumns != schema.primaryKey }
      .flatMap(\.referencedColumns)
    let rules = RowRules(writer: 0, policy: options.table(schema).merging)
    let kept = schema.writableColumns.map(\.name)
      .filter { column in
        rules.deletes == .editWins || rules.isCounter(column) || rules.looksAtValues(of: column)
          || referenced.contains { $0.isSameName(as: column) }
      }
    let filter = options.table(schema.name).rowFilter
    return CaptureInstallation.Request(
      schema: schema,
      kept: kept,
      filter: filter,
      actions: ReferenceActions(on: schema, of: references)
    )
  }

  private func make(_ captured: CapturedTable) throws(SQLiteError) -> RecordTable {
    var defaults: [SQLiteValue?] = []
    for column in captured.schema.writableColumns {
      defaults.append(try connection.constantDefault(of: column))
    }
    let writer = try writer()
    let kinds = try kinds(of: captured.schema)
    let encrypted = try encryptedFields(of: captured.schema)
    do throws(RecordFormatError) {
      return try RecordTable(
        captured: captured,
        options: options.table(captured.schema),
        kinds: kinds,
        encrypted: encrypted,
        writer: writer,
        defaults: defaults,
        transport: ValueTransport(options)
      )
    } catch {
      throw SQLiteError(code: 1, message: "table \(captured.name) cannot be stored: \(error)")
    }
  }

  /// The kinds of the own fields of a table's columns in the cloud.
  private func kinds(of schema: TableSchema) throws(SQLiteError) -> [String: ColumnKind] {
    guard let recordType = CloudName.recordType(ofTable: schema.name) else { return [:] }
    let declared = schema.writableColumns.map { ($0.name, $0.kind) }
    return try ColumnKinds(connection: connection)
      .kinds(ofType: recordType, declared: Dictionary(declared) { first, _ in first })
  }

  /// The fields of a table's records that the cloud encrypts, or is to.
  private func encryptedFields(of schema: TableSchema) throws(SQLiteError) -> Set<String> {
    guard let recordType = CloudName.recordType(ofTable: schema.name) else { return [] }
    let names = options.encryptedColumns(of: schema).compactMap { CloudName.field(ofColumn: $0) }
    return try EncryptedFields(connection: connection)
      .names(ofType: recordType, adding: Set(names))
  }

  /// Whether the file is another one than that which got its number.
  private func isCopy() throws(SQLiteError) -> Bool {
    let facts = Facts(connection: connection)
    guard try facts.value(.writer) != nil else { return false }
    return try facts.value(.file) != FileIdentity.text(of: connection)
  }

  /// The number of this database, given when it is first synchronized, and anew for a copy.
  private func writer() throws(SQLiteError) -> Int64 {
    let facts = Facts(connection: connection)
    if let number = try facts.integer(.writer) { return number }
    let number = Int64(bitPattern: nonce())
    try facts.set(.file, to: try FileIdentity.text(of: connection))
    try facts.set(.writer, to: .integer(number))
    return number
  }

  // MARK: What nobody has captured

  /// Notes which tables are to be compared with what is known of their rows.
  ///
  /// - Parameters:
  ///   - findings: What became of the tables.
  ///   - tables: The tables.
  ///   - registered: The tables as they were registered before.
  ///   - readded: Finds columns that were dropped and added again; nil if the schema is as it was.
  /// - Throws: SQLite's reason.
  private func take(
    _ findings: [(table: String, finding: CaptureFinding)],
    of tables: SyncTables,
    _ registered: [RegisteredTable],
    readded: ReaddedColumns?
  ) throws(SQLiteError) {
    let facts = Facts(connection: connection)
    for (name, finding) in findings {
      guard let place = tables.place(named: name) else { continue }
      let former = registered.first { $0.id == tables[place].id }
      let columns = try readded?.find(in: tables[place], after: finding) ?? []
      if !columns.isEmpty {
        try FormerColumns(connection: connection).note(readded: columns, of: tables[place].id)
        try facts.requestReconciliation(ofRebuilt: tables[place].id)
      }
      let counters = AddedCounters(connection: connection)
      try counters.note(columns, of: tables[place])
      switch finding {
      case .unchanged, .missing: break
      case .columnsChanged(let added, let removed):
        if let former { try counters.note(of: tables[place], since: former) }
        // What the cloud has in a column that was dropped is fetched, so that it stays in the record.
        if !added.isEmpty || !removed.isEmpty {
          try facts.requestReconciliation(of: tables[place].id, fetchesAll: !removed.isEmpty)
        }
      case .rebuilt:
        if let former {
          try FormerTypes(connection: connection).note(former, now: tables[place])
          try counters.note(of: tables[place], since: former)
        }
        try facts.requestReconciliation(ofRebuilt: tables[place].id)
      case .new, .leftOut:
        try facts.requestReconciliation(of: tables[place].id, fetchesAll: true)
      }
    }
  }
}

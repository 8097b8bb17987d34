import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Prepares a database for an engine: its own tables, the triggers, and what a new schema needs.
struct EngineSetup {
  let connection: SQLiteConnection
  let options: SyncEngineOptions
  let zoneID: ZoneID
  /// Gives numbers that no other database is likely to get.
  let nonce: @Sendable () -> UInt64
  /// The file that has the metadata, which is attached; nil if it is in the database.
  var attachment: MetadataAttachment?

  var store: MetadataStore { MetadataStore(connection: connection) }

  /// A table as it was when its triggers were made.
  private struct Registered {
    var id: Int64
    var columns: [String]
  }

  /// Does all of it in one transaction, or nothing.
  ///
  /// Where the metadata is in another file, ``prepareAttachment()`` and ``readFormerEdits()`` go before.
  func prepare(_ names: [String]) throws(SyncEngineError) -> SyncTables {
    try connection.transaction(
      { () throws(SyncEngineError) in
        let schema = try read()
        try check(names, schema)
        try MetadataSchema.prepare(connection)
        return try sqlite { () throws(SQLiteError) in
          guard attachment != nil else { return try install(names, schema) }
          let count = try MetadataAttachment.open(work(try formerTables(schema)))
          let tables = try install(names, schema)
          try MetadataAttachment.close(work(tables.inOrder), since: count)
          return tables
        }
      },
      mapping: { SyncEngineError($0) }
    )
  }

  /// Makes the two files fit each other.
  func prepareAttachment() throws(SyncEngineError) {
    guard let attachment else { return }
    try connection.transaction(
      { () throws(SyncEngineError) in
        let schema = try read()
        try MetadataSchema.prepare(connection, isAttached: true)
        let finding = try attachment.prepare(connection)
        if case .lost(let error) = finding, !options.acceptsLostMetadata { throw error }
        try sqlite { () throws(SQLiteError) in
          let work = work(try formerTables(schema))
          if case .lost = finding {
            try attachment.begin(connection)
            for table in work.tables.inOrder {
              try Adoption(table: table, connection: connection, transport: work.transport)
                .adoptUnknownRows()
            }
          }
          if try MetadataAttachment.isBehind(store) { try MetadataAttachment.mend(work) }
        }
      },
      mapping: { SyncEngineError($0) }
    )
  }

  /// Takes what old triggers have captured.
  ///
  /// In a transaction of its own, because captured edits are removed by a later one, and what reads
  /// them must know the columns as they were.
  func readFormerEdits() throws(SyncEngineError) {
    try connection.transaction(
      { () throws(SyncEngineError) in
        let schema = try read()
        try sqlite { () throws(SQLiteError) in
          let work = work(try formerTables(schema))
          let count = try MetadataAttachment.open(work)
          try work.outbox.readAll()
          try MetadataAttachment.close(work, since: count)
        }
      },
      mapping: { SyncEngineError($0) }
    )
  }

  private func work(_ tables: [SyncTable]) -> EngineWork {
    EngineWork(
      connection: connection,
      tables: SyncTables(tables, enforcesForeignKeys: true, writer: 0),
      options: options,
      zoneID: zoneID
    )
  }

  /// The tables with the columns that their triggers know.
  private func formerTables(_ schema: DatabaseSchema) throws(SQLiteError) -> [SyncTable] {
    try registered()
      .compactMap { name, table in
        schema.table(named: name)
          .flatMap { SyncTable(id: table.id, schema: $0, captured: table.columns) }
      }
  }

  private func read() throws(SyncEngineError) -> DatabaseSchema {
    try sqlite { () throws(SQLiteError) in try DatabaseSchema.read(connection) }
  }

  private func check(_ names: [String], _ schema: DatabaseSchema) throws(SyncEngineError) {
    let violations = SchemaRules.violations(
      in: schema,
      tables: names,
      policy: options.schemaPolicy,
      alsoChecking: CloudName.violations
    )
    let errors = violations.filter { !$0.isWarning }
    guard errors.isEmpty else {
      throw SyncEngineError(.schema, errors.map(\.reason).joined(separator: "\n"))
    }
  }

  private func install(
    _ names: [String],
    _ schema: DatabaseSchema
  ) throws(SQLiteError) -> SyncTables {
    let known = try registered()
    // What old triggers have captured is read as they wrote it.
    let old = try formerTables(schema)
    let isEnforcing = try connection.integer("PRAGMA foreign_keys") == 1
    let hasTriggers = try hasTriggers(names, schema, old, isEnforcing: isEnforcing)
    // Those of a former schema may name tables that are not there any more.
    if !hasTriggers { try ActionTriggers.remove(connection) }
    try connection.execute(ActionTriggers.departed)
    let oldByID = Dictionary(old.map { ($0.id, $0) }) { first, _ in first }
    try OutboxReader(store: store, tables: oldByID).readAll()
    var tables: [SyncTable] = []
    for name in schema.parentsFirst(names).joined() {
      guard let declared = schema.table(named: name) else { continue }
      let columns = declared.writableColumns.map(\.name)
      let former = known.first { $0.name == declared.name }?.table
      let id =
        if let former, former.columns == columns { former.id } else {
          try register(declared.name, columns, as: former?.id)
        }
      guard let table = SyncTable(id: id, schema: declared, captured: columns) else {
        throw SQLiteError(code: 1, message: "a name of table \(name) is too long for the cloud")
      }
      if !hasTriggers {
        let triggers = CaptureTriggers(table: table)
        for sql in triggers.removals + triggers.statements { try connection.execute(sql) }
      }
      try adopt(table, former)
      tables.append(table)
    }
    let references = schema.references
    if !isEnforcing, !hasTriggers {
      for statement in ActionTriggers(tables, references).statements {
        try connection.execute(statement)
      }
    }
    return SyncTables(
      tables,
      enforcesForeignKeys: isEnforcing,
      references: references,
      writer: try writer()
    )
  }

  /// Takes what nobody has captured: the rows of a new table, or what is in new columns.
  private func adopt(_ table: SyncTable, _ former: Registered?) throws(SQLiteError) {
    let adoption = Adoption(
      table: table,
      connection: connection,
      transport: ValueTransport(options)
    )
    guard let former else { return try adoption.adoptRows() }
    let added = table.schema.writableColumns.filter { !former.columns.contains($0.name) }
    if added.isEmpty { return }
    let work = EngineWork(
      connection: connection,
      tables: SyncTables([table], enforcesForeignKeys: false, writer: 0),
      options: options,
      zoneID: zoneID
    )
    try adoption.keepInserts(to: former.columns)
    try adoption.fill(added.map(\.name), work)
    for column in added { try adoption.adopt(column: column) }
  }

  /// The number of this database, given when it is first synchronized.
  private func writer() throws(SQLiteError) -> Int64 {
    if let known = try store.info("writer")?.integer { return known }
    let number = Int64(bitPattern: nonce())
    try store.setInfo("writer", .integer(number))
    return number
  }

  // MARK: Registered tables

  private func registered() throws(SQLiteError) -> [(name: String, table: Registered)] {
    let query = try connection.prepare("SELECT name, id, columns FROM cloudsync_tables ORDER BY id")
    var tables: [(name: String, table: Registered)] = []
    try query.forEachRow { () throws(SQLiteError) in
      guard let name = query.text(0), let list = query.text(2) else { return }
      do {
        let columns = try JSONDecoder().decode([String].self, from: Data(list.utf8))
        tables.append((name, Registered(id: query.integer(1), columns: columns)))
      } catch {
        throw SQLiteError(code: 11, message: "cloudsync_tables is damaged for \(name): \(error)")
      }
    }
    return tables
  }

  private func register(
    _ name: String,
    _ columns: [String],
    as id: Int64?
  ) throws(SQLiteError) -> Int64 {
    let list: String
    do { list = String(decoding: try JSONEncoder().encode(columns), as: UTF8.self) } catch {
      throw SQLiteError(code: 1, message: "the columns of \(name) cannot be written: \(error)")
    }
    try connection.prepare(
      "INSERT INTO cloudsync_tables(id, name, columns) VALUES(?1, ?2, ?3)"
        + " ON CONFLICT(name) DO UPDATE SET columns = excluded.columns"
    )
    .bind(id.map { .integer($0) } ?? .null, at: 1).bind(name, at: 2).bind(list, at: 3)
    .run()
    let query = try connection.prepare("SELECT id FROM cloudsync_tables WHERE name = ?1")
      .bind(name, at: 1)
    return try query.step() ? query.integer(0) : 0
  }
}

import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Installs and removes the triggers of tables.
///
/// All of it belongs into one transaction. What was captured before is read first, by the tables as
/// they are registered: bits keep their meaning, but rows cannot be found by another key.
struct CaptureInstallation {
  /// A table to be captured.
  struct Request {
    var schema: TableSchema
    /// The columns whose policies need values.
    var kept: [String] = []
    /// The condition of the rows that are sent; nil for all.
    var filter: String?
    /// What SQLite does to rows that refer to those of the table.
    var actions = ReferenceActions()
  }

  let connection: SQLiteConnection
  var clock = CaptureClock.system

  private var registry: TableRegistry { TableRegistry(connection: connection) }

  /// Captures tables from now on; triggers that are right stay as they are.
  ///
  /// Other tables that were captured still are, for the engines that synchronize them.
  func install(_ requests: [Request]) throws(SQLiteError) -> [CapturedTable] {
    var known = try registry.tables()
    var captured: [CapturedTable] = []
    for request in requests {
      captured.append(try register(request, among: &known))
    }
    let after = Set(captured.map(\.id))
    for var table in known where table.isSynchronized && !after.contains(table.id) {
      table.isSynchronized = false
      try registry.save(table)
    }
    try removeStrayTriggers(besides: known)
    return captured
  }

  /// Removes the triggers of tables, and notes that nothing is captured of them.
  func removeTriggers(of names: [String]) throws(SQLiteError) {
    let installed = try registry.installedTriggers()
    for var table in try registry.tables() where names.contains(where: table.name.isSameName) {
      for name in installed.keys.sorted() where name.hasSuffix("_\(table.id)") {
        try connection.execute("DROP TRIGGER main.\(name.quotedName)")
      }
      table.triggers = [:]
      try registry.save(table)
    }
  }

  /// Runs a migration that triggers are in the way of, and installs them again for what has come of it.
  ///
  /// What the migration does is not captured: the tables are to be reconciled afterwards. Where it fails
  /// the transaction is to be undone, and the triggers are back.
  func withoutCapture<Value>(
    of names: [String],
    _ body: () throws(SQLiteError) -> Value
  ) throws(SQLiteError) -> (value: Value, tables: [CapturedTable]) {
    let former = try registry.tables().filter { names.contains(where: $0.name.isSameName) }
    try removeTriggers(of: names)
    let value = try body()
    let schema = try DatabaseSchema.read(connection)
    var known = try registry.tables()
    var tables: [CapturedTable] = []
    for table in former {
      guard let declared = schema.table(named: table.name) else { continue }
      let request = Request(
        schema: declared,
        kept: table.kept,
        filter: table.filter,
        actions: ReferenceActions(on: declared, of: schema.references)
      )
      tables.append(
        try register(request, among: &known, isSynchronized: table.isSynchronized)
      )
    }
    return (value, tables)
  }

  // MARK: One table

  private func register(
    _ request: Request,
    among known: inout [RegisteredTable],
    isSynchronized: Bool = true
  ) throws(SQLiteError) -> CapturedTable {
    let schema = request.schema
    guard let key = try KeyColumn.read(of: schema, in: connection) else {
      throw SQLiteError(
        code: 1,
        message: "the key of table \(schema.name) has a collation of the app's own"
      )
    }
    // A number is not given twice: what is kept under it is of another table.
    let next = (known.map(\.id).max() ?? 0) + 1
    var former = known.first { $0.name.isSameName(as: schema.name) }
    // Numbers of columns keep their meaning for what is carried over.
    var columns = former?.columns ?? []
    if let table = former, table.key != key, !table.hasRenamedKey(schema, key: key) {
      // What was captured names rows by a key that the table has no more.
      try removeTriggers(of: [table.name])
      try registry.remove(table)
      known.removeAll { $0.id == table.id }
      former = nil
    }
    for name in schema.writableColumns.map(\.name) where !columns.contains(name) {
      columns.append(name)
    }
    var kept = former?.kept ?? []
    for name in request.kept where columns.contains(name) && !kept.contains(name) {
      kept.append(name)
    }
    let id = former?.id ?? next
    let table = CapturedTable(
      id: id,
      schema: schema,
      columns: columns,
      key: key,
      kept: kept,
      filter: request.filter,
      actions: request.actions
    )
    try OutboxSchema.widen(on: connection, keys: key.count, kept: kept.count)
    let registered = RegisteredTable(
      id: id,
      name: schema.name,
      columns: columns,
      key: key,
      kept: kept,
      sql: schema.sql,
      triggers: try installTriggers(of: table),
      isSynchronized: isSynchronized,
      filter: request.filter
    )
    if registered != former { try registry.save(registered) }
    known.removeAll { $0.id == id }
    known.append(registered)
    return table
  }

  /// Makes the triggers of a table that are not there to the byte, or run after the app's; returns their texts.
  private func installTriggers(of table: CapturedTable) throws(SQLiteError) -> [String: String] {
    let wanted = OutboxTriggers(table: table, clock: clock).all
    let names = Set(wanted.map(\.name))
    let installed = try registry.installedTriggers()
      .filter { $0.key.hasSuffix("_\(table.id)") }
    for name in installed.keys.sorted() where !names.contains(name) {
      try connection.execute("DROP TRIGGER main.\(name.quotedName)")
    }
    for trigger in wanted {
      let former = installed[trigger.name]
      if let former, former.isFirst, former.sql.utf8.elementsEqual(trigger.storedText.utf8) {
        continue
      }
      if former != nil { try connection.execute("DROP TRIGGER main.\(trigger.name.quotedName)") }
      try connection.execute(trigger.creation)
    }
    return Dictionary(
      wanted.map { ($0.name, $0.storedText) },
      uniquingKeysWith: { first, _ in first }
    )
  }

  /// Removes triggers that are no table's, or of a table that is there beside another one of its name.
  ///
  /// A table that was renamed has them under its new name: the engine that synchronizes it learns that from them.
  private func removeStrayTriggers(besides known: [RegisteredTable]) throws(SQLiteError) {
    let installed = try registry.installedTriggers().sorted { $0.key < $1.key }
    for (name, trigger) in installed {
      let owner = known.first { $0.triggers[name] != nil }
      var isWanted = owner?.name.isSameName(as: trigger.table) == true
      if let owner, !isWanted, !known.contains(where: { $0.name.isSameName(as: trigger.table) }) {
        isWanted = try isTable(owner.name) == false
      }
      if !isWanted { try connection.execute("DROP TRIGGER main.\(name.quotedName)") }
    }
  }

  private func isTable(_ name: String) throws(SQLiteError) -> Bool {
    let query =
      try connection.prepare(
        "SELECT 1 FROM main.sqlite_schema WHERE type = 'table' AND name = ?1 COLLATE NOCASE"
      )
      .bind(name, at: 1)
    return try query.step()
  }
}

extension RegisteredTable {
  /// Whether the columns of its key have got other names, and nothing else: then what was captured still names its rows.
  fileprivate func hasRenamedKey(_ schema: TableSchema, key: [KeyColumn]) -> Bool {
    guard key.map(\.collation) == self.key.map(\.collation) else { return false }
    return zip(self.key, key)
      .allSatisfy { former, present in
        former == present
          || schema.column(named: former.name) == nil && !columns.contains(present.name)
      }
  }
}

import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Whether all edits of a table were captured since its triggers were installed.
enum CaptureFinding: Sendable, Hashable {
  case unchanged
  /// Edits were captured, but for those of new columns.
  case columnsChanged(added: [String], removed: [String])
  /// The table was dropped and made again, or has lost or changed triggers, or the app has made one that runs before
  /// them: anything may have happened.
  case rebuilt
  /// Edits were captured, but the last engine did not synchronize it.
  case leftOut
  case new
  /// It was synchronized, and is not there any more.
  case missing
}

/// Compares the triggers and the declarations of tables with those that were installed.
///
/// At a start, and whenever ``schemaVersion()`` is another one: every change of any of them changes it.
struct CaptureCheck {
  let connection: SQLiteConnection

  /// A number that changes with the schema.
  func schemaVersion() throws(SQLiteError) -> Int64 {
    try connection.integer("PRAGMA main.schema_version")
  }

  /// What became of the tables that are to be synchronized, and of those that are missing now.
  func findings(
    of names: [String],
    in schema: DatabaseSchema
  ) throws(SQLiteError) -> [(table: String, finding: CaptureFinding)] {
    let registry = TableRegistry(connection: connection)
    let known = try registry.tables()
    let triggers = try registry.installedTriggers()
    var findings: [(table: String, finding: CaptureFinding)] = []
    for name in names {
      guard let declared = schema.table(named: name) else { continue }
      let former = known.first { $0.name.isSameName(as: name) }
      guard let former else {
        findings.append((declared.name, .new))
        continue
      }
      findings.append(
        (declared.name, finding(of: declared, registered: former, installed: triggers))
      )
    }
    let missing = known.filter { $0.isSynchronized && schema.table(named: $0.name) == nil }
    return findings + missing.map { ($0.name, .missing) }
  }

  /// Whether tables are declared as they were when they were read, and captured: only then does what the engine knows
  /// of them fit what their triggers write.
  ///
  /// - Parameters:
  ///   - tables: The tables.
  ///   - schema: What the database declares, as far as others see it.
  /// - Returns: Whether all of them are.
  /// - Throws: SQLite's reason.
  func isInPlace(
    _ tables: [CapturedTable],
    in schema: DatabaseSchema
  ) throws(SQLiteError) -> Bool {
    let registered = try TableRegistry(connection: connection).tables()
    let findings = try findings(of: tables.map(\.name), in: schema)
    return tables.allSatisfy { table in
      let finding = findings.first { $0.table.isSameName(as: table.name) }?.finding
      guard finding == .unchanged || finding == .leftOut,
        let present = schema.table(named: table.name),
        let former = registered.first(where: { $0.id == table.id })
      else { return false }
      return present.isDeclared(as: table.schema) && former.columns == table.columns
        && former.kept == table.kept
    }
  }

  /// A table of which another engine captures other columns, though it is declared as it was: that one has other options.
  ///
  /// - Parameters:
  ///   - tables: The tables as this engine captures them.
  ///   - schema: What the database declares, as far as others see it.
  /// - Returns: Its name; nil if there is none.
  /// - Throws: SQLite's reason.
  func tableOfOtherEngine(
    among tables: [CapturedTable],
    in schema: DatabaseSchema
  ) throws(SQLiteError) -> String? {
    let findings = try findings(of: tables.map(\.name), in: schema)
    return tables.first { table in
      guard schema.table(named: table.name)?.isDeclared(as: table.schema) == true else {
        return false
      }
      switch findings.first(where: { $0.table.isSameName(as: table.name) })?.finding {
      case .columnsChanged: return true
      case .unchanged, .rebuilt, .leftOut, .new, .missing, nil: return false
      }
    }?
    .name
  }

  private func finding(
    of table: TableSchema,
    registered former: RegisteredTable,
    installed: [String: TableRegistry.InstalledTrigger]
  ) -> CaptureFinding {
    // A table that is renamed takes its triggers along.
    let isComplete = former.triggers.keys.allSatisfy { name in
      installed[name].map { $0.isFirst && $0.table.isSameName(as: table.name) } ?? false
    }
    if former.triggers.isEmpty || !isComplete { return .rebuilt }
    let columns = table.writableColumns.map(\.name)
    let watched = watchedColumns(of: former)
    let added = columns.filter { !watched.contains($0) }
    let removed = watched.filter { !columns.contains($0) }
    // A column that is renamed is renamed in the triggers too.
    let isText = former.triggers.allSatisfy { name, text in
      installed[name].map { $0.sql.utf8.elementsEqual(text.utf8) } ?? false
    }
    if !isText, removed.isEmpty { return .rebuilt }
    if !former.isSynchronized { return .leftOut }
    return added.isEmpty && removed.isEmpty
      ? .unchanged : .columnsChanged(added: added, removed: removed)
  }

  /// The columns whose edits the triggers capture that were installed.
  private func watchedColumns(of former: RegisteredTable) -> [String] {
    former.columns.filter { isCaptured($0, of: former) }
  }

  /// Whether edits of a column were captured: those of a column that stayed on this device were not, although the
  /// table had it.
  private func isCaptured(_ column: String, of former: RegisteredTable) -> Bool {
    if former.key.contains(where: { $0.name.isSameName(as: column) }) { return true }
    let comparison = ColumnComparison.difference(of: column)
    return former.triggers.values.contains { $0.contains(comparison) }
  }
}

extension TableSchema {
  /// Whether two readings are of one declaration, with the same indexes and triggers beside the engine's.
  fileprivate func isDeclared(as other: TableSchema) -> Bool {
    withoutEngineTriggers == other.withoutEngineTriggers
  }

  private var withoutEngineTriggers: TableSchema {
    var table = self
    table.dependentSQL.removeAll { sql in
      CreateStatement.triggerName(of: sql)?.foldedName.starts(with: "cloudsync_".utf8) ?? false
    }
    return table
  }
}

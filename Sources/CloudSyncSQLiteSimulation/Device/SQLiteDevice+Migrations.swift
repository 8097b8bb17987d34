import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import CloudSyncSimulator

extension SQLiteDevice {
  /// What a migration does.
  private enum Migration: CaseIterable {
    /// Makes a table anew under another name, copies the rows, drops the old one and renames the new one.
    case rebuild
    /// Drops a table and makes it again, with its rows.
    case remake
    case dropColumn
  }

  /// Puts the same rows into all databases before any engine has seen them, with values of their own.
  static func seed(
    _ file: DatabaseFile,
    schema: SimulatedSchema,
    version: SimulatedSchema.Version,
    number: Int
  ) throws -> [RowEdit] {
    var edits: [RowEdit] = []
    for place in 0..<8 where place % 3 != 2 {
      let row = schema.row(number: place, version: version)
      let table = schema.tables(version: version).first { $0.name == row.table }
      // Rows of tables that an older version lacks are of another one there.
      guard let table, table.key.count == 1, table.name != "marks", table.name != "uses",
        place % 8 != 6
      else { continue }
      let value = Int64(-100 * (number + 1) - place)
      try file.execute(
        "INSERT INTO \(table.name)(id, born, a) VALUES(\(row.key[0].literal), \(-place - 1), \(value))"
      )
      let condition = row.condition(table: table)
      let names = table.spelledColumns
      let list = names.joined(separator: ", ")
      let made = try file.rows(sql: "SELECT \(list) FROM \(table.name) WHERE \(condition)")
      let values = zip(names, made.first ?? []).map { (column: $0, value: $1) }
      var edit = RowEdit(row: row, time: .zero.successor, change: .inserted(values))
      (edit.isCaptured, edit.isSeed) = (false, true)
      edits.append(edit)
    }
    return edits
  }

  /// Brings the tables to the newest version, and fills some of what is new, in each database otherwise.
  func update() {
    dropTriggers()
    let old = schema.tables(version: version)
    history.withLock { $0.version.hasAdditions = true }
    var sql = ""
    var filled: [SimulatedSchema.Table] = []
    for table in schema.tables(version: version) {
      guard let former = old.first(where: { $0.name == table.name }) else {
        sql += schema.sql(table: table)
        continue
      }
      for column in table.columns where former.column(column.name) == nil {
        let initial = column.initial == "NULL" ? "" : " DEFAULT \(column.initial)"
        sql += "ALTER TABLE \(table.name) ADD COLUMN \(column.name) \(column.type)\(initial);"
        if column.type == "REAL" { filled.append(table) }
      }
    }
    attempt { () throws in try disk.file().execute("BEGIN; \(sql) COMMIT") }
    for table in filled where history.withLock({ $0.random.chance(1, in: 2) }) {
      let value = SQLiteValue.real(Double(nextInvention()) + 0.25)
      attempt { () throws in
        try disk.file()
          .write { [self] handle in
            try fill("c", of: table, with: value, on: SQLiteConnection(borrowing: handle))
          }
      }
    }
  }

  private func nextInvention() -> Int64 {
    history.withLock { history in
      history.inventions += 1
      return Int64(setup.number + 1) * 10_000_000 + history.inventions
    }
  }

  private func fill(
    _ column: String,
    of table: SimulatedSchema.Table,
    with value: SQLiteValue,
    on connection: SQLiteConnection
  ) throws(SQLiteError) {
    let list = table.key.map(\.name).joined(separator: ", ")
    let rows = try connection.rows(sql: "SELECT \(list) FROM \(table.name)")
    try connection.execute("UPDATE \(table.name) SET \(column) = \(value.literal)")
    var editor = RowEditor(connection: connection, schema: schema, version: version)
    for key in rows {
      editor.noteUnseen(
        .canonical(table: table.name, key: key),
        .set(column: column, value: value)
      )
    }
    history.withLock { $0.note(editor.edits) }
  }

  // MARK: Tables that are made anew

  /// Runs a migration, now and then, while there is no engine.
  func migrateIfDue(_ process: DeviceProcess) {
    guard isReady, draw(.migrated, for: process) else { return }
    process.fail(at: .migrated)
    dropTriggers()
    let tables = schema.tables(version: version)
    let (migration, table, isGuarded) = history.withLock { history in
      (
        history.random.pick(Migration.allCases), history.random.pick(tables),
        history.random.chance(1, in: 2)
      )
    }
    attempt { () throws in
      switch migration {
      case .dropColumn:
        guard !version.hasDropped, table.name == "lists" || table.name == "items" else {
          return try readdColumn(of: table)
        }
        try SyncEngine.withoutCapture(in: disk.file()) {
          try disk.file().execute("ALTER TABLE \(table.name) DROP COLUMN b")
        }
        // That of the other table goes with it.
        for other in tables
        where other.name != table.name && ["lists", "items"].contains(other.name) {
          try disk.file().execute("ALTER TABLE \(other.name) DROP COLUMN b")
        }
        history.withLock { $0.version.hasDropped = true }
      case .rebuild, .remake:
        let sql = migration == .rebuild ? rebuilding(table) : remaking(table)
        if isGuarded {
          try SyncEngine.withoutCapture(of: [table.name], in: disk.file()) {
            try run(sql, editing: table)
          }
        } else {
          try run(sql, editing: table)
        }
      }
    }
  }

  /// Drops what came last and adds it again, beside the engine's triggers, if the cloud has all that its rows hold: nothing
  /// tells that, and the cloud's values come back.
  private func readdColumn(of table: SimulatedSchema.Table) throws {
    guard version.hasAdditions, let column = table.columns.last, column.name == "c" else { return }
    let file = try disk.file()
    let unsent =
      "SELECT 1 FROM cloudsync_status WHERE status <> 'clean' AND table_name = '\(table.name)'"
    // A migration beside the engine's triggers has taken the view along until the next start.
    let view = "SELECT 1 FROM sqlite_schema WHERE name = 'cloudsync_status'"
    if try file.rows(sql: view).isEmpty { return }
    guard try file.rows(sql: unsent).isEmpty else { return }
    let initial = column.initial == "NULL" ? "" : " DEFAULT \(column.initial)"
    try file.execute(
      """
      PRAGMA legacy_alter_table = ON;
      BEGIN;
      ALTER TABLE \(table.name) DROP COLUMN \(column.sql);
      ALTER TABLE \(table.name) ADD COLUMN \(column.sql) \(column.type)\(initial);
      COMMIT;
      PRAGMA legacy_alter_table = OFF;
      """
    )
  }

  private func rebuilding(_ table: SimulatedSchema.Table) -> [String] {
    let list = table.declared.map(\.name).joined(separator: ", ")
    return [
      schema.sql(table: table, named: "fresh"),
      "INSERT INTO fresh(\(list)) SELECT \(list) FROM \(table.name)",
      "DROP TABLE \(table.name)", "ALTER TABLE fresh RENAME TO \(table.name)",
    ]
  }

  private func remaking(_ table: SimulatedSchema.Table) -> [String] {
    let list = table.declared.map(\.name).joined(separator: ", ")
    return [
      "CREATE TEMP TABLE held AS SELECT * FROM \(table.name)", "DROP TABLE \(table.name)",
      schema.sql(table: table),
      "INSERT INTO \(table.name)(\(list)) SELECT \(list) FROM temp.held", "DROP TABLE temp.held",
    ]
  }

  /// Runs statements that make a table anew, and edits it then, unseen by anybody.
  private func run(_ statements: [String], editing table: SimulatedSchema.Table) throws {
    let (choice, offset) = history.withLock { ($0.random.below(4), $0.random.below(100)) }
    let value = SQLiteValue.integer(nextInvention())
    let (schema, version) = (schema, version)
    let file = try disk.file()
    try file.execute("PRAGMA foreign_keys = OFF")
    let made = try file.write { handle in
      let connection = SQLiteConnection(borrowing: handle)
      return try connection.transaction { () throws(SQLiteError) in
        for sql in statements { try connection.execute(sql) }
        var editor = RowEditor(connection: connection, schema: schema, version: version)
        let list = table.key.map(\.name).joined(separator: ", ")
        let keys = try connection.rows(sql: "SELECT \(list) FROM \(table.name) ORDER BY 1")
        guard choice > 0, !keys.isEmpty else { return editor.edits }
        let row = RowID.canonical(table: table.name, key: keys[offset % keys.count])
        let condition = row.condition(table: table)
        let former = try editor.values(of: row, in: table) ?? []
        if choice == 1, editor.isLeaf(row) {
          try connection.execute("DELETE FROM \(table.name) WHERE \(condition)")
          editor.noteUnseen(row, .deleted, former: former)
        } else {
          try connection.execute("UPDATE \(table.name) SET a = \(value.literal) WHERE \(condition)")
          editor.noteUnseen(row, .set(column: "a", value: value), former: former)
        }
        return editor.edits
      }
    }
    if schema.isEnforced { try file.execute("PRAGMA foreign_keys = ON") }
    history.withLock { $0.note(made) }
  }

  // MARK: Copies

  /// Begins with a copy of the first device's file, which has synchronized: once, and before anybody has
  /// edited here.
  func copyIfDue(_ process: DeviceProcess) {
    let source = history.withLock { history -> SQLiteDevice? in
      guard let source = history.source, !history.hasDrawnCopy, history.edits.isEmpty,
        history.postponed.isEmpty, history.imminent.isEmpty
      else { return nil }
      return source
    }
    guard let source, process.isAlive, process.ratio(of: .fileCopied).hits > 0, source.isReady
    else { return }
    history.withLock { $0.hasDrawnCopy = true }
    guard draw(.fileCopied, for: process) else { return }
    process.fail(at: .fileCopied)
    close()
    pause()
    attempt { () throws in
      try disk.replace { path in try source.disk.file().execute("VACUUM INTO '\(path)'") }
    }
    let (version, seeds, filtered) = source.history.withLock { ($0.version, $0.seeds, $0.filtered) }
    history.withLock { history in
      history.filtered.formUnion(filtered)
      (history.version, history.isCopy, history.isUnopened) = (version, true, true)
      for place in history.seeds.indices { history.seeds[place].isOfReplacedFile = true }
      history.seeds += seeds
    }
  }
}

extension RowEditor {
  /// Whether no table can refer to a row.
  fileprivate func isLeaf(_ row: RowID) -> Bool {
    !tables.contains { ($0.key + $0.columns).contains { $0.parent == row.table } }
  }
}

import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// A table that has, or whose columns have, other names than when it was registered.
struct SchemaRenaming {
  /// The table as it was registered.
  let former: RegisteredTable
  /// The same table with the names that it has now.
  let present: RegisteredTable
  /// The new names of columns by the former ones.
  let columns: [String: String]
  /// Whether SQLite has renamed them in the triggers, so that all edits were captured.
  let isTold: Bool

  /// Whether its rows are other records: to a cloud, letters of the other case are other ones.
  var isOtherTable: Bool { !UTF8Bytes.equal(former.name, present.name) }
}

/// Finds out what was renamed since the triggers were installed.
///
/// SQLite rewrites triggers for whatever is renamed, so their texts tell. Where a migration has removed them, a
/// name that has come counts as one that has gone if nothing else about it is another; a table's also if it has the same
/// key, all the columns, under whatever names, and most rows as they were, and a column's also if it has what the only one
/// that has gone had.
struct SchemaRenamingSearch {
  let connection: SQLiteConnection
  let schema: DatabaseSchema
  /// The tables as they are registered.
  let registered: [RegisteredTable]
  /// The capture triggers that are in the database, by name.
  let installed: [String: TableRegistry.InstalledTrigger]

  init(connection: SQLiteConnection, schema: DatabaseSchema) throws(SQLiteError) {
    self.connection = connection
    self.schema = schema
    let registry = TableRegistry(connection: connection)
    registered = try registry.tables()
    installed = try registry.installedTriggers()
  }

  /// The tables and columns of an engine that were renamed.
  ///
  /// - Parameter names: The tables that the engine synchronizes.
  /// - Returns: What was renamed.
  /// - Throws: SQLite's reason.
  func renamings(of names: [String]) throws(SQLiteError) -> [SchemaRenaming] {
    var found: [SchemaRenaming] = []
    for former in registered {
      let isThere = schema.table(named: former.name) != nil
      let name = isThere ? former.name : try newName(of: former)
      guard let name, names.contains(where: name.isSameName), let table = schema.table(named: name)
      else { continue }
      let told = columnsInTriggers(of: former, named: name, as: table)
      let columns = if let told { told } else { try columnsByDeclaration(of: former, as: table) }
      if UTF8Bytes.equal(former.name, table.name), columns.isEmpty { continue }
      let present = former.renamed(to: table, columns: columns, installed: installed)
      guard try KeyColumn.read(of: table, in: connection) == present.key else { continue }
      found.append(
        SchemaRenaming(former: former, present: present, columns: columns, isTold: told != nil)
      )
    }
    return found
  }

  // MARK: Tables

  private func newName(of former: RegisteredTable) throws(SQLiteError) -> String? {
    let isRegistered = { (name: String) in registered.contains { $0.name.isSameName(as: name) } }
    let names = tables(withTriggersOf: former)
    if let name = names.first {
      let isWhole = former.triggers.keys.allSatisfy { installed[$0] != nil }
      return names.count == 1 && isWhole && !isRegistered(name) ? name : nil
    }
    guard let declaration = TableDeclaration(former.sql) else { return nil }
    let others = schema.tables.filter { !isRegistered($0.name) }
    let same = others.filter { table in
      TableDeclaration(table.sql).map { $0.isSame(as: declaration) } ?? false
    }
    if !same.isEmpty { return same.count == 1 ? same[0].name : nil }
    // A rebuild may have changed it besides; then its rows tell.
    var alike: [String] = []
    for table in others where declaration.hasColumns(in: table) {
      if try hasRows(of: former, as: table, renamed: [:]) { alike.append(table.name) }
    }
    if alike.isEmpty {
      for table in others where try isCarried(former, declaration, as: table) {
        alike.append(table.name)
      }
    }
    return alike.count == 1 ? alike[0] : nil
  }

  /// The tables that have a registered one's triggers, which go along where that is renamed.
  func tables(withTriggersOf former: RegisteredTable) -> Set<String> {
    Set(former.triggers.keys.compactMap { installed[$0]?.table })
  }

  /// Whether a table that is called as another one was has at least half of that one's rows, by their keys, as after a
  /// rebuild that keeps the former table.
  func stands(_ table: TableSchema, for former: RegisteredTable) throws(SQLiteError) -> Bool {
    let count = try EngineStorage(connection: connection).count(ofTable: former.id)
    if count == 0 { return true }
    guard try KeyColumn.read(of: table, in: connection) == former.key else { return false }
    return try countRows(of: former, in: table, key: former.key) * 2 >= count
  }

  /// Whether a table has all that another one had, be it that columns have other names.
  private func isCarried(
    _ former: RegisteredTable,
    _ declaration: TableDeclaration,
    as table: TableSchema
  ) throws(SQLiteError) -> Bool {
    let renamed = try columnsByDeclaration(of: former, as: table)
    let isThere = { (name: String) in table.columns.contains { $0.name == name } }
    guard declaration.columns.allSatisfy({ isThere(renamed[$0.name] ?? $0.name) }) else {
      return false
    }
    return try hasRows(of: former, as: table, renamed: renamed)
  }

  /// Whether rows that are known of a table are in another one as they were, as far as anything tells that.
  ///
  /// Keys alone tell nothing: many tables begin with a row 1. Where a table has no more than its key most rows that are
  /// known have to be there.
  private func hasRows(
    of former: RegisteredTable,
    as table: TableSchema,
    renamed: [String: String]
  ) throws(SQLiteError) -> Bool {
    let key = former.key(renamed: renamed)
    guard try KeyColumn.read(of: table, in: connection) == key else { return false }
    let found = try countRows(of: former, in: table, key: key)
    if found == 0 { return false }
    if former.columns.count == former.key.count {
      return try found * 2 >= EngineStorage(connection: connection).count(ofTable: former.id)
    }
    return
      try ReplacedColumn(connection: connection, former: former, table: table, renamed: renamed)
      .isWholeCarried() ?? true
  }

  /// How many rows a table has of those that are known of another one, by their keys.
  private func countRows(
    of former: RegisteredTable,
    in table: TableSchema,
    key: [KeyColumn]
  ) throws(SQLiteError) -> Int64 {
    let isUnknown = CompoundKey.isUnknown(key, in: "r", ofTable: former.id)
    return try connection.integer(
      "SELECT count(*) FROM main.\(table.name.quotedName) AS r WHERE NOT (\(isUnknown))"
    )
  }

  // MARK: Columns

  /// The columns that SQLite has renamed in the triggers of a table; nil if these do not tell.
  private func columnsInTriggers(
    of former: RegisteredTable,
    named name: String,
    as table: TableSchema
  ) -> [String: String]? {
    renamesInTriggers(of: former, named: name)?
      .filter { old, new in
        !table.writableColumns.contains { $0.name == old }
          && table.writableColumns.contains { $0.name == new }
      }
  }

  /// What SQLite has renamed in the triggers of a table, be it that a name is given anew or a column gone since; nil if
  /// these do not tell.
  func renamesInTriggers(
    of former: RegisteredTable,
    named name: String
  ) -> [String: String]? {
    if former.triggers.isEmpty { return nil }
    var renamed: [String: String] = [:]
    for (trigger, sql) in former.triggers {
      guard let present = installed[trigger], present.table.isSameName(as: name) else { return nil }
      // Nothing that is renamed leaves a text as it was.
      if UTF8Bytes.equal(sql, present.sql) { continue }
      let (then, now) = (SQLText(sql), SQLText(present.sql))
      let (old, new) = (then.meaningfulTokens, now.meaningfulTokens)
      guard old.count == new.count else { return [:] }
      for (one, other) in zip(old, new) {
        guard let one = then.name(of: one), let other = now.name(of: other), one != other,
          former.columns.contains(one), !one.isSameName(as: former.name)
        else { continue }
        if let known = renamed[one], known != other { return [:] }
        renamed[one] = other
      }
    }
    return renamed
  }

  /// The columns that stand where others stood, declared alike; where columns have come or gone besides, or stand in another
  /// order, those of which there is one of a declaration among the new ones and among the former ones.
  private func columnsByDeclaration(
    of former: RegisteredTable,
    as table: TableSchema
  ) throws(SQLiteError) -> [String: String] {
    guard let then = TableDeclaration(former.sql), let now = TableDeclaration(table.sql) else {
      return [:]
    }
    if let renamed = columnsByPlace(in: then, as: now) {
      // The last one may have been dropped, and another one added.
      guard let last = then.columns.last?.name, let name = renamed[last],
        try hasValues(of: former, in: table, column: name) == false
      else { return renamed }
      return renamed.filter { $0.key != last }
    }
    let gone = then.columns.filter { now.column(named: $0.name) == nil }
    let come = now.columns.filter { then.column(named: $0.name) == nil }
    var renamed: [String: String] = [:]
    for one in gone {
      let alike = come.filter { now.rest(of: $0) == then.rest(of: one) }
      let rivals = gone.filter { then.rest(of: $0) == then.rest(of: one) }
      guard alike.count == 1, rivals.count == 1,
        try hasValues(of: former, in: table, column: alike[0].name)
      else { continue }
      renamed[one.name] = alike[0].name
    }
    // One that is declared otherwise besides is told by its values.
    let left = gone.filter { renamed[$0.name] == nil && former.columns.contains($0.name) }
    let writable = Set(table.writableColumns.map(\.name)).subtracting(renamed.values)
    let new = come.filter { writable.contains($0.name) }
    if left.count == 1, new.count == 1,
      try ReplacedColumn(connection: connection, former: former, table: table, renamed: renamed)
        .isCarried(left[0].name, as: new[0].name)
    {
      renamed[left[0].name] = new[0].name
    }
    return renamed
  }

  /// The columns that stand where others stood; nil if any other one is not what it was.
  private func columnsByPlace(
    in then: TableDeclaration,
    as now: TableDeclaration
  ) -> [String: String]? {
    if then.columns.count != now.columns.count { return nil }
    var renamed: [String: String] = [:]
    for (one, other) in zip(then.columns, now.columns) where one.name != other.name {
      // SQLite finds a column in letters of whatever case.
      guard then.column(named: other.name).map({ $0.name == one.name }) ?? true,
        now.column(named: one.name).map({ $0.name == other.name }) ?? true,
        then.rest(of: one) == now.rest(of: other)
      else { return nil }
      renamed[one.name] = other.name
    }
    return renamed
  }

  /// Whether any row has a value in a column: one that was just added has none.
  private func hasValues(
    of former: RegisteredTable,
    in table: TableSchema,
    column: String
  ) throws(SQLiteError) -> Bool {
    let initial = table.column(named: column)?.defaultSQL ?? "NULL"
    let query = try connection.prepare(
      "SELECT 1 FROM main.\(table.name.quotedName)"
        + " WHERE \(column.quotedName) IS NOT (\(initial)) LIMIT 1"
    )
    return try query.step()
  }
}

extension RegisteredTable {
  /// The key under the names that its columns have now.
  fileprivate func key(renamed: [String: String]) -> [KeyColumn] {
    key.map { column in
      KeyColumn(name: renamed[column.name] ?? column.name, collation: column.collation)
    }
  }

  /// The table under the names that it has now: numbers and places of columns stay.
  fileprivate func renamed(
    to table: TableSchema,
    columns renamed: [String: String],
    installed: [String: TableRegistry.InstalledTrigger]
  ) -> RegisteredTable {
    var present = self
    present.name = table.name
    present.sql = table.sql
    present.columns = columns.map { renamed[$0] ?? $0 }
    present.kept = kept.map { renamed[$0] ?? $0 }
    present.key = key(renamed: renamed)
    // A name that another column had once is that one's no more.
    for (old, new) in renamed {
      for place in columns.indices where columns[place] == new { present.columns[place] = old }
      for place in kept.indices where kept[place] == new { present.kept[place] = old }
    }
    for name in triggers.keys { present.triggers[name] = installed[name]?.sql ?? triggers[name] }
    return present
  }
}

extension TableDeclaration {
  /// What is said of a column beside its name.
  fileprivate func rest(of column: Column) -> [String] { words(column.tokens.dropFirst()) }

  /// Whether a table has all the columns, whatever else it has.
  fileprivate func hasColumns(in table: TableSchema) -> Bool {
    columns.allSatisfy { column in table.columns.contains { $0.name == column.name } }
  }

  /// Whether two declarations differ in nothing but the table's name.
  fileprivate func isSame(as other: TableDeclaration) -> Bool {
    words(body.lowerBound..<tokens.count) == other.words(other.body.lowerBound..<other.tokens.count)
  }

  private func words(_ places: Range<Int>) -> [String] {
    places.map { text.text(tokens[$0].range) }
  }
}

import CloudSyncSQLiteSupport

/// Which tables are rewritten, and how.
struct MigrationPlan {
  /// A column of a table.
  struct ColumnID: Hashable {
    var table: String
    var column: String
  }

  /// Columns whose values are the same rows' keys, since foreign keys bind them together.
  struct Domain {
    /// The table whose name goes into the UUIDs: one that refers to no other of the domain.
    var table: String
    var columns: [ColumnID]
  }

  /// A table that is rewritten.
  struct Table {
    var schema: TableSchema
    /// The key: one of the table's columns, a new one, or nil if the key stays.
    var key: Key?
    /// The domain of each column whose values change, in the order of the columns.
    var columns: [(name: String, domain: Int)]
    /// Those of the columns that only the caller calls references: values that are no keys stay in them.
    var looseColumns: Set<String> = []
    /// The column that keeps the old key; nil for none.
    var oldKeyColumn: String?
    /// The unique keys that go.
    var uniqueKeys: [TableSchema.UniqueKey]
  }

  enum Key: Equatable {
    case integer(String)
    case added(String)
    /// It stays an integer, of which SQLite remembers the greatest that there ever was.
    case autoincrement(String)
  }

  private(set) var domains: [Domain] = []
  private(set) var tables: [Table] = []

  /// Plans a migration, or says which table stands in its way.
  init(_ migration: PrimaryKeyMigration, for schema: DatabaseSchema) throws(KeyMigrationError) {
    let members = try Self.members(migration.tables, of: schema)
    let loose = try Self.looseColumns(migration.followedReferences, of: schema)
    if !migration.keepsIntegerKeys {
      findDomains(of: members, in: schema, following: migration.followedReferences)
      try checkDomains(of: members)
    }
    for member in members {
      var table = Table(schema: member, key: nil, columns: [], uniqueKeys: [])
      table.columns = member.columns.compactMap { column in
        let id = ColumnID(table: member.name, column: column.name)
        return domains.firstIndex { $0.columns.contains(id) }.map { (column.name, $0) }
      }
      table.looseColumns = Set(loose.filter { $0.table == member.name }.map(\.column))
      table.key = try Self.key(of: member, keepsInteger: migration.keepsIntegerKeys)
      if migration.keepsOldKeys, case .integer(let name)? = table.key {
        table.oldKeyColumn = Self.unusedName("old_\(name)", in: member)
      }
      if migration.dropsUniqueKeys { table.uniqueKeys = schema.removableUniqueKeys(of: member) }
      guard table.key != nil || !table.columns.isEmpty || !table.uniqueKeys.isEmpty else {
        continue
      }
      tables.append(table)
    }
  }

  /// What becomes of a table's key; nil if it stays.
  private static func key(
    of table: TableSchema,
    keepsInteger: Bool
  ) throws(KeyMigrationError) -> Key? {
    if table.primaryKey.isEmpty { return .added(newColumnName(for: table)) }
    guard let name = integerKey(of: table) else { return nil }
    guard keepsInteger else { return .integer(name) }
    // A key that is its parent's counts with that.
    if table.foreignKeys.contains(where: { $0.columns == table.primaryKey }) { return nil }
    guard table.hasIntegerKey else {
      throw KeyMigrationError.schema(
        "The key \(table.described(name)) cannot be kept by counting, because SQLite does not give it: it is not"
          + " declared INTEGER PRIMARY KEY in a table with row numbers. Declare it so, or sync it with"
          + " --unique-integer-keys if no two devices ever give the same key."
      )
    }
    return TableDeclaration(table.sql)?.isAutoincrement == true ? nil : .autoincrement(name)
  }

  /// The columns that only the caller calls references, as the schema spells them.
  private static func looseColumns(
    _ references: [KeyReference],
    of schema: DatabaseSchema
  ) throws(KeyMigrationError) -> [ColumnID] {
    var columns: [ColumnID] = []
    for reference in references {
      guard let table = schema.table(named: reference.table),
        let column = table.column(named: reference.column)
      else {
        throw KeyMigrationError.schema(
          "There is no column \(reference.table.quotedName).\(reference.column.quotedName) that could follow a key."
        )
      }
      guard let parent = schema.table(named: reference.parentTable), integerKey(of: parent) != nil
      else {
        throw KeyMigrationError.schema(
          "Table \(reference.parentTable.quotedName) has no integer key that \(table.described(column.name))"
            + " could follow."
        )
      }
      columns.append(ColumnID(table: table.name, column: column.name))
    }
    return columns
  }

  /// The tables of a migration, by name.
  private static func members(
    _ names: [String],
    of schema: DatabaseSchema
  ) throws(KeyMigrationError) -> [TableSchema] {
    for name in names where schema.table(named: name) == nil {
      let reason = SchemaRules.violations(in: schema, tables: [name]).first?.reason
      throw KeyMigrationError.schema(reason ?? "There is no table \(name.quotedName).")
    }
    let members = schema.tables.filter { table in
      names.contains { $0.isSameName(as: table.name) }
    }
    for member in members {
      let isCaptured = member.dependentSQL.contains {
        CreateStatement.objectName(of: $0)?.foldedName.starts(with: "cloudsync_".utf8) == true
      }
      if isCaptured {
        throw KeyMigrationError.schema(
          "Table \(member.name.quotedName) is being synchronized; remove that with SyncMetadata.remove(from:) or"
            + " “cloudsync detach”, migrate, and sync with a new cloud."
        )
      }
    }
    return members
  }

  /// The one integer column of a table's key, if it has such a key.
  static func integerKey(of table: TableSchema) -> String? {
    guard table.primaryKey.count == 1, let column = table.column(named: table.primaryKey[0]),
      column.affinity == .integer
    else { return nil }
    return column.name
  }

  /// A name for a key that no column has.
  private static func newColumnName(for table: TableSchema) -> String {
    table.column(named: "id") == nil ? "id" : unusedName("uuid_id", in: table)
  }

  private static func unusedName(_ wanted: String, in table: TableSchema) -> String {
    var name = wanted
    var number = 2
    while table.column(named: name) != nil {
      name = "\(wanted)\(number)"
      number += 1
    }
    return name
  }

  // MARK: Domains

  /// Follows foreign keys in both directions from the keys that change, and what the caller calls references.
  private mutating func findDomains(
    of members: [TableSchema],
    in schema: DatabaseSchema,
    following references: [KeyReference]
  ) {
    var parents: [ColumnID: [ColumnID]] = [:]
    var neighbours: [ColumnID: [ColumnID]] = [:]
    for table in schema.tables {
      for key in table.foreignKeys where schema.table(named: key.table) != nil {
        for (column, referenced) in zip(key.columns, key.referencedColumns) {
          let child = ColumnID(table: table.name, column: column)
          let parent = ColumnID(table: key.table, column: referenced)
          neighbours[child, default: []].append(parent)
          neighbours[parent, default: []].append(child)
          if child.table != parent.table { parents[child, default: []].append(parent) }
        }
      }
    }
    for reference in references {
      guard let table = schema.table(named: reference.table),
        let column = table.column(named: reference.column),
        let parent = schema.table(named: reference.parentTable),
        let key = Self.integerKey(of: parent)
      else { continue }
      let child = ColumnID(table: table.name, column: column.name)
      let referenced = ColumnID(table: parent.name, column: key)
      neighbours[child, default: []].append(referenced)
      neighbours[referenced, default: []].append(child)
      if child.table != referenced.table { parents[child, default: []].append(referenced) }
    }
    var known: Set<ColumnID> = []
    let keys = members.compactMap { table in
      Self.integerKey(of: table).map { ColumnID(table: table.name, column: $0) }
    }
    for key in keys where known.insert(key).inserted {
      var columns = [key]
      var index = 0
      while index < columns.count {
        for next in neighbours[columns[index]] ?? [] where known.insert(next).inserted {
          columns.append(next)
        }
        index += 1
      }
      let own = keys.filter(columns.contains)
      let first = own.first { parents[$0] == nil } ?? key
      domains.append(Domain(table: first.table, columns: columns))
    }
  }

  private func checkDomains(of members: [TableSchema]) throws(KeyMigrationError) {
    for domain in domains {
      let others = domain.columns.filter { id in !members.contains { $0.name == id.table } }
      if !others.isEmpty {
        let names = Set(others.map(\.table)).sortedByBytes().map(\.quotedName)
        throw KeyMigrationError.schema(
          "The key of table \(domain.table.quotedName) cannot be migrated alone, because foreign keys bind"
            + " it to \(names.joined(separator: ", ")): migrate them together."
        )
      }
      for id in domain.columns {
        let table = members.first { $0.name == id.table }
        guard table?.column(named: id.column)?.isGenerated == true else { continue }
        throw KeyMigrationError.schema(
          "Column \(id.table.quotedName).\(id.column.quotedName) is generated and refers to a key that"
            + " changes, which cannot follow; make it an ordinary column first."
        )
      }
    }
  }
}

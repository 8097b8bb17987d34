import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

extension SyncEngineOptions {
  /// The schema as others see it: without columns that stay on this device.
  func synchronized(_ schema: DatabaseSchema) -> DatabaseSchema {
    var schema = schema
    for place in schema.tables.indices {
      let local = table(schema.tables[place].name).localColumns
      if local.isEmpty { continue }
      schema.tables[place].columns
        .removeAll { column in
          local.contains { $0.isSameName(as: column.name) }
        }
    }
    return schema
  }

  /// Why columns cannot stay on this device.
  func localColumnViolations(in table: TableSchema) -> [SchemaViolation] {
    violations(
      .localColumn,
      of: self.table(table.name).localColumns,
      in: table,
      saying: "cannot stay on this device"
    ) { Self.reason(against: $0, of: table) }
  }

  /// Why columns that an option names cannot be what it makes of them.
  ///
  /// - Parameters:
  ///   - code: The rule.
  ///   - columns: What the option names.
  ///   - table: The table.
  ///   - words: What the columns cannot.
  ///   - reason: Why one cannot; nil if it can.
  /// - Returns: A violation for each, in the order of their names.
  func violations(
    _ code: SchemaViolation.Code,
    of columns: Set<String>,
    in table: TableSchema,
    saying words: String,
    reason: (String) -> String?
  ) -> [SchemaViolation] {
    columns.sortedByBytes()
      .compactMap { name in
        // What all tables are told need not be there in each.
        if ownTable(table.name) == nil, table.column(named: name) == nil { return nil }
        guard let reason = reason(name) else { return nil }
        return SchemaViolation(
          code,
          table: table.name,
          column: name,
          reason: "Column \(table.name.quotedName).\(name.quotedName) \(words): \(reason)."
        )
      }
  }

  /// Why a column cannot stay on this device; nil if it can.
  private static func reason(against name: String, of table: TableSchema) -> String? {
    func has(_ columns: [String?]) -> Bool {
      columns.contains { $0?.isSameName(as: name) == true }
    }
    guard let column = table.column(named: name) else { return "there is no such column" }
    if has(table.primaryKey) { return "it is part of the primary key" }
    if table.foreignKeys.contains(where: { has($0.columns) }) {
      return "it is part of a foreign key"
    }
    if table.uniqueKeys.contains(where: { has($0.columns) || isNamed(name, by: $0, of: table) }) {
      return "it is part of a unique key"
    }
    if column.isNotNull, column.defaultSQL == nil { return "it is NOT NULL and has no default" }
    return nil
  }

  /// Whether an expression or the condition of a unique index may name a column.
  ///
  /// The engine computes both from what others see of a row. A text or another table's column of that name counts too:
  /// a column too many is refused rather than one too few.
  private static func isNamed(
    _ column: String,
    by key: TableSchema.UniqueKey,
    of table: TableSchema
  ) -> Bool {
    guard key.isPartial || key.columns.contains(nil) else { return false }
    return table.dependentSQL.contains { sql in
      let text = SQLText(sql)
      let names = text.tokens.compactMap { text.name(of: $0) }
      return [key.name, column].allSatisfy { name in names.contains { $0.isSameName(as: name) } }
    }
  }
}

import CloudSyncSQLiteSupport

/// Checks whether tables can be synchronized.
///
/// Keys of several columns, references of a table to itself, circles, several foreign keys and every
/// foreign-key action are fine.
package enum SchemaRules {
  /// What stands in the way, table by table in the order given.
  ///
  /// - Parameters:
  ///   - schema: The tables of the database.
  ///   - tables: Those that are to be synchronized.
  ///   - policy: What is settled for a table.
  ///   - furtherCheck: What the caller asks of a table beside these rules.
  /// - Returns: Errors and warnings.
  package static func violations(
    in schema: DatabaseSchema,
    tables: [String],
    policy: (String) -> SchemaPolicy = { _ in SchemaPolicy() },
    alsoChecking furtherCheck: (TableSchema) -> [SchemaViolation] = { _ in [] }
  ) -> [SchemaViolation] {
    var seen: Set<[UInt8]> = []
    var violations: [SchemaViolation] = []
    for name in tables where seen.insert(name.foldedName).inserted {
      guard let table = schema.table(named: name) else {
        violations.append(notATable(name, in: schema))
        continue
      }
      let check = TableCheck(
        table: table,
        schema: schema,
        synchronized: tables,
        policy: policy(table.name)
      )
      violations += furtherCheck(table) + check.violations()
    }
    return violations
  }

  private static func notATable(_ name: String, in schema: DatabaseSchema) -> SchemaViolation {
    let what: String
    switch schema.kind(ofObjectNamed: name) {
    case .table, .missing:
      return SchemaViolation(
        .missingTable,
        table: name,
        reason: "There is no table \(name.quotedName) in the database."
          + Suggestion.sentence(for: name, among: schema.tables.map(\.name))
      )
    case .view: what = "a view"
    case .virtualTable: what = "a virtual table"
    case .shadowTable: what = "a part of a virtual table"
    case .internalTable: what = "an internal table"
    }
    return SchemaViolation(
      .notATable,
      table: name,
      reason: "\(name.quotedName) is \(what); only ordinary tables can be synchronized."
    )
  }
}

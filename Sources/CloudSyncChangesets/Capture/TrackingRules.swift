import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Which tables a history can be about.
struct TrackingRules {
  let schema: DatabaseSchema

  /// What makes a history impossible, whatever it has of defaults and unique keys.
  private static let codes: Set<SchemaViolation.Code> = [
    .missingTable, .notATable, .missingPrimaryKey, .foreignKeyToUnsynchronizedTable,
    .ambiguousTableName, .ambiguousColumnName, .tooManyColumns, .nullablePrimaryKey,
  ]

  /// The tables of these names, or all, as the database spells them.
  func tables(names: [String]?) throws(ChangesetError) -> [String] {
    let wanted = names ?? schema.tables.map(\.name)
    if wanted.isEmpty { throw ChangesetError(.schema, "there are no tables to keep a history of") }
    let policy = SchemaPolicy(
      requiresDefaults: false,
      allowsUniqueKeys: true,
      allowsIntegerKeys: true
    )
    let violations = SchemaRules.violations(in: schema, tables: wanted, policy: { _ in policy })
    if let first = violations.first(where: { Self.codes.contains($0.code) }) {
      throw ChangesetError(.schema, Self.reason(violation: first))
    }
    var tables: [String] = []
    for name in wanted {
      guard let table = schema.table(named: name)?.name, !tables.contains(table) else { continue }
      tables.append(table)
    }
    return tables
  }

  private static func reason(violation: SchemaViolation) -> String {
    let table = violation.table.quotedName
    return switch violation.code {
    case .foreignKeyToUnsynchronizedTable:
      "a foreign key of table \(table) refers to a table outside the history; add that table"
    case .missingPrimaryKey:
      "table \(table) has no primary key, so its rows cannot be told apart; give it one"
    case .nullablePrimaryKey:
      "the primary key of table \(table) may hold NULL; declare it NOT NULL"
    default: violation.reason
    }
  }
}

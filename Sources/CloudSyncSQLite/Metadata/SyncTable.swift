import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// A table that is synchronized.
package struct SyncTable: Sendable {
  /// Its number in the engine's tables.
  package let id: Int64
  package let schema: TableSchema
  /// The columns as the triggers count them.
  package let captured: [String]
  /// How its rows lie in records.
  let layout: RecordLayout
  /// Whether each writable column is one of the key's.
  let isKey: [Bool]
  /// Whether it has triggers beside the engine's.
  let hasTriggersOfTheApp: Bool
  /// Finds the rows that hold values which another row is to have: by each unique key.
  let searches: [UniqueKeySearch]
  /// The columns that unique keys look at beside the primary one.
  let keyedColumns: [String]
  /// Whether a trigger of the app's fails in the middle of what it does.
  let hasFailingTriggers: Bool
  /// A number that tables with other names or columns do not have: for statements that are kept.
  let fingerprint: Int
  /// How the columns of the key store what they are given.
  let keyAffinities: [TableSchema.Column.Affinity]

  /// Takes a table; nil if one of its names is too long for the cloud.
  init?(id: Int64, schema: TableSchema, captured: [String]) {
    let columns = schema.writableColumns.map { (name: $0.name, declaredType: $0.type) }
    guard let layout = RecordLayout(table: schema.name, columns: columns) else { return nil }
    self.id = id
    self.schema = schema
    self.captured = captured
    fingerprint = [[schema.name], schema.primaryKey, schema.writableColumns.map(\.name)].hashValue
    self.layout = layout
    isKey = schema.writableColumns.map { schema.primaryKey.contains($0.name) }
    hasTriggersOfTheApp = schema.dependentSQL.contains { sql in
      CreateStatement.triggerName(of: sql).map { !$0.foldedName.starts(with: "cloudsync_".utf8) }
        ?? false
    }
    keyAffinities = schema.primaryKey.map { schema.column(named: $0)?.affinity ?? .blob }
    searches = schema.uniqueKeySearches
    let keyed = searches.dropFirst().flatMap(\.columns)
    keyedColumns = schema.columns.map(\.name).filter { keyed.contains($0) }
    hasFailingTriggers = schema.dependentSQL.contains { sql in
      let text = SQLText(sql)
      return text.calls("RAISE") && text.tokens.contains { text.isWord("FAIL", at: $0) }
    }
  }

  package var name: String { schema.name }

  /// Whether rows of it may refer to others.
  var refersToParents: Bool { !schema.foreignKeys.isEmpty }

  /// What a row waits for that refers to a key of the table which is not the primary one.
  var anyRecord: String { "*:\(layout.recordType)" }

  /// A row's key as SQL, of a row by that name: the one column, or the literals of several.
  func keySQL(_ row: String) -> String {
    let columns = schema.primaryKey.map { "\(row).\($0.quotedName)" }
    guard columns.count > 1 else { return columns.first ?? "NULL" }
    return "(" + columns.map { "quote(\($0))" }.joined(separator: " || ',' || ") + ")"
  }

  /// Whether all of a row's key is there, of a row by that name; nil if it must be.
  func hasKeySQL(_ row: String) -> String? {
    let columns = schema.nullableKeyColumns.map { "\(row).\($0.quotedName) IS NOT NULL" }
    return columns.isEmpty ? nil : columns.joined(separator: " AND ")
  }

  /// The condition that finds the row of a key whose values are bound from a number on.
  func keyCondition(from first: Int, of row: String? = nil) -> String {
    let prefix = row.map { "\($0)." } ?? ""
    return schema.primaryKey.enumerated()
      .map { "\(prefix)\($1.quotedName) IS ?\(first + $0) COLLATE BINARY" }
      .joined(separator: " AND ")
  }
}

import CloudSyncSQLite
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// A table that a history is about.
final class TrackedTable: Sendable {
  /// The number of its mirror.
  let number: Int64
  let schema: TableSchema
  /// The columns of the primary key, in the key's order.
  let key: [String]
  /// The other columns that can be written, by the bytes of their names.
  let columns: [String]
  /// Whether the key tells rows apart as their bytes do.
  let hasBinaryKey: Bool
  let sql: TrackedTableSQL
  /// Whether values of the key that SQLite takes for equal are of one kind.
  let hasExactKey: Bool
  /// What statements that write rows say of conflicts, after a space.
  ///
  /// Where the declaration has rules of its own they fail all the same. Elsewhere they say nothing, for that would be said of the
  /// statements in the app's triggers, too.
  let conflictClause: String
  /// How the columns store what is put into them; those that keep everything as it is are missing.
  let affinities: [String: TableSchema.Column.Affinity]

  init(number: Int64, schema: TableSchema, hasBinaryKey: Bool) {
    self.number = number
    self.schema = schema
    self.hasBinaryKey = hasBinaryKey
    key = schema.primaryKey
    // A column that takes numbers of both kinds as they are has 1 for 1.0.
    hasExactKey = schema.primaryKey.allSatisfy { name in
      schema.hasIntegerKey || [.text, .integer].contains(schema.column(named: name)?.affinity)
    }
    columns = schema.writableColumns.map(\.name)
      .filter { name in !schema.primaryKey.contains { $0.isSameName(as: name) } }
      .sortedByBytes()
    conflictClause = schema.hasConflictRules ? " OR ABORT" : ""
    let converting = schema.columns.filter { !schema.keepsValues(in: $0) }
    affinities = Dictionary(
      converting.map { ($0.name, $0.affinity) },
      uniquingKeysWith: { first, _ in first }
    )
    sql = TrackedTableSQL(
      name: schema.name,
      mirror: "changesets_old_\(number)",
      key: key,
      columns: columns,
      hasBinaryKey: hasBinaryKey
    )
  }

  var name: String { schema.name }

  /// Whether a column that is none of the key's is there, by the bytes of its name.
  func hasColumn(_ name: String) -> Bool { columns.contains { $0.hasSameBytes(as: name) } }

  var mirror: String { "changesets_old_\(number)" }

  /// Whether triggers of the app's watch the table.
  var hasAppTriggers: Bool { !appTriggers.isEmpty }

  /// The declarations of the triggers that are not the history's own.
  var appTriggers: [String] {
    schema.dependentSQL.filter { sql in
      guard let name = CreateStatement.triggerName(of: sql) else { return false }
      return !HistoryTables.hasPrefix(name: name)
    }
  }

  /// The mirror's declaration: columns without types keep values as they are.
  var mirrorDeclaration: String {
    let keys = key.indices.map { "k\($0)" }
    let list = keys.map { "\($0) NOT NULL" } + ["was"] + columns.indices.map { "c\($0)" }
    return """
      CREATE TABLE main.\(mirror)(\(list.joined(separator: ", ")), \
      PRIMARY KEY(\(keys.joined(separator: ", ")))) WITHOUT ROWID
      """
  }

  /// The names of the mirror's columns for a row that was there.
  var mirrorColumns: String {
    (key.indices.map { "k\($0)" } + ["was"] + columns.indices.map { "c\($0)" })
      .joined(separator: ", ")
  }

  /// What the mirror keeps of a row of a name, as SQL.
  func preimage(of row: String) -> String {
    (key.map { "\(row).\($0.quotedName)" } + ["1"] + columns.map { "\(row).\($0.quotedName)" })
      .joined(separator: ", ")
  }

  /// Whether a row has the key whose values a statement is given, the first at a place, as SQL.
  func hasKey(at place: Int = 1) -> String {
    key.enumerated().map { "\($1.quotedName) = ?\($0 + place)" }.joined(separator: " AND ")
  }

  /// Whether the mirror has the key of a row of a name, as SQL.
  ///
  /// The sign takes the column's affinity away, with which the mirror's index could not be used.
  func isMirrored(row: String) -> String {
    let match = key.enumerated().map { "k\($0) = +\(row).\($1.quotedName)" }
    return "EXISTS(SELECT 1 FROM \(mirror) WHERE \(match.joined(separator: " AND ")))"
  }

  /// Whether a row of a name has the key of another, to the byte, as SQL.
  func isSameKey(_ row: String, as other: String) -> String {
    key.map { column in
      let name = column.quotedName
      // The plain comparison finds the row by its index.
      let exact = hasBinaryKey ? "" : " AND \(row).\(name) = \(other).\(name) COLLATE BINARY"
      return "\(row).\(name) = \(other).\(name)\(exact)"
    }
    .joined(separator: " AND ")
  }
}

extension TrackedTable {
  /// Reads how the key of a table tells rows apart.
  convenience init(
    number: Int64,
    schema: TableSchema,
    _ connection: HistoryConnection
  ) throws(ChangesetError) {
    let collations = try connection.rows(
      """
      SELECT x.coll FROM pragma_index_list(?1, 'main') l JOIN pragma_index_xinfo(l.name, 'main') x
      WHERE l.origin = 'pk' AND x."key"
      """,
      .text(schema.name)
    ) { $0.text(0) ?? "" }
    let isBinary = collations.allSatisfy { $0.isSameName(as: "BINARY") }
    self.init(number: number, schema: schema, hasBinaryKey: isBinary)
  }
}

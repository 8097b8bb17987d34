import CloudSyncSQLiteSupport

/// The SQL that this copy was migrated with: by it commits of copies that are not migrated yet become ones of the present
/// tables.
struct KeptMigrations {
  /// One migration, and the schema that it leads to.
  struct Step: Sendable, Hashable {
    var sql: String
    var schema: SchemaID
  }

  let connection: HistoryConnection

  /// Made with the first migration.
  private static let table = "changesets_migrations"

  /// Whether there are any.
  func exist() throws(ChangesetError) -> Bool { try connection.hasTable(Self.table) }

  /// Keeps what has led from one schema to another.
  ///
  /// The numbers are those of the dictionary of schemas.
  func keep(sql: String, from former: Int64, to schema: Int64) throws(ChangesetError) {
    try connection.execute(
      """
      CREATE TABLE IF NOT EXISTS main.\(Self.table)(
        former INTEGER NOT NULL, schema INTEGER NOT NULL, sql TEXT NOT NULL,
        PRIMARY KEY(former, schema)) WITHOUT ROWID
      """
    )
    try connection.run(
      "REPLACE INTO \(Self.table)(former, schema, sql) VALUES(?1, ?2, ?3)",
      .integer(former),
      .integer(schema),
      .text(sql)
    )
  }

  /// The fewest migrations that lead from one schema to another, in their order; nil if none do.
  func steps(from former: Int64, to schema: Int64) throws(ChangesetError) -> [Step]? {
    guard try exist() else { return nil }
    let kept = try connection.rows("SELECT former, schema, sql FROM \(Self.table) ORDER BY 1, 2") {
      (former: $0.integer(0), schema: $0.integer(1), sql: $0.text(2) ?? "")
    }
    let dictionaries = Dictionaries(connection: connection)
    var paths: [(end: Int64, steps: [Step])] = [(former, [])]
    var seen: Set<Int64> = [former]
    var place = 0
    while place < paths.count {
      let (end, steps) = paths[place]
      place += 1
      if end == schema { return steps }
      for next in kept where next.former == end && seen.insert(next.schema).inserted {
        let step = Step(sql: next.sql, schema: try dictionaries.schemaID(number: next.schema))
        paths.append((next.schema, steps + [step]))
      }
    }
    return nil
  }
}

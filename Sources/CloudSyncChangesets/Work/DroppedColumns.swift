import CloudSyncSQLiteSupport

extension HistoryWork {
  /// Whether the rows of the tables here can become those of a commit.
  func knows(_ row: LogRow) throws(ChangesetError) -> Bool {
    guard try knows(schema: row.schema) else { return false }
    return try columnDropped(before: row) == nil
  }

  /// A column here that was dropped on the way to a commit, be it with its table; nil if there is none.
  ///
  /// What rows hold in it there nobody can tell: they would lose it here, and a migration of this app that makes something
  /// of it would find nothing. So such a commit is beyond this version of the app. A column that came back after it was
  /// dropped here as well is another matter: no older version has it.
  func columnDropped(
    before row: LogRow
  ) throws(ChangesetError) -> (table: String, column: String)? {
    if try dictionaries.schemaID(number: row.schema) == tables.id { return nil }
    let theirs = try dictionaries.schema(number: row.schema)
    var lacking: [(table: String, column: String)] = []
    for table in tables.description.tables {
      let known = theirs.table(table.name)
      for column in table.columns where !column.isGenerated && known?.column(column.name) == nil {
        lacking.append((table.name, column.name))
      }
    }
    if lacking.isEmpty { return nil }
    let steps = try migrationsBeforeHead()
    for number in try log.schemas(before: row.seq) {
      let schema = try dictionaries.schema(number: number)
      let dropped = lacking.first { table, column in
        let hasIt = { (schema: SchemaDescription) in schema.table(table)?.column(column) != nil }
        // What was dropped on the way to HEAD, too, has come back since.
        return hasIt(schema) && !steps.contains { hasIt($0.before) && !hasIt($0.after) }
      }
      if let dropped { return dropped }
    }
    return nil
  }

  /// What migrations on the way to HEAD have made of which schemas.
  private func migrationsBeforeHead() throws(ChangesetError) -> [(
    before: SchemaDescription, after: SchemaDescription
  )] {
    guard let head = try heads.position().seq else { return [] }
    var steps: [(before: SchemaDescription, after: SchemaDescription)] = []
    // By the commits: schemas come back, and what has led from one to another elsewhere is no step of this way.
    for migration in try log.migrations(before: head) {
      guard let parent = migration.parent else { continue }
      steps.append(
        (
          try dictionaries.schema(number: try log.row(parent).schema),
          try dictionaries.schema(number: migration.schema)
        )
      )
    }
    return steps
  }
}

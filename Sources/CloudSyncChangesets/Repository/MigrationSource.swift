import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// How commits of older schemas become ones of the tables here: by the app's own migration, or else by the SQL that this copy
/// was migrated with.
struct MigrationSource {
  /// One commit of a migration.
  struct Step: Sendable {
    /// The schema that it leads to.
    var schema: SchemaID
    var run: @Sendable (OpaquePointer) throws -> Void
    /// Whether it is the app's own, whose errors the app hears of.
    var isOfApp: Bool
  }

  let work: HistoryWork

  /// Whether a repository has any: most have none, and need not look at their tables to know it.
  static func exists(in repository: ChangesetRepository) throws(ChangesetError) -> Bool {
    if repository.options.migrate != nil { return true }
    return try repository.database.use { (connection) throws(ChangesetError) in
      try KeptMigrations(connection: connection).exist()
    }
  }

  /// The commits that lead from a schema to the present one; none if nobody knows how.
  func steps(from schema: Int64) throws(ChangesetError) -> [Step] {
    if let migrate = work.options.migrate {
      return [Step(schema: work.tables.id, run: migrate, isOfApp: true)]
    }
    guard let present = try work.dictionaries.number(ofSchema: work.tables.id),
      let kept = try KeptMigrations(connection: work.connection).steps(from: schema, to: present)
    else { return [] }
    return kept.map { step in
      let run: @Sendable (OpaquePointer) throws -> Void = { handle in
        try MigrationStatement.run(script: step.sql, on: SQLiteConnection(borrowing: handle))
      }
      return Step(schema: step.schema, run: run, isOfApp: false)
    }
  }

  /// The commit that steps make of another one, all in one; nil if there are none, or the SQL of this copy fails there.
  static func made(
    by steps: [Step],
    of seq: Int64,
    _ connection: HistoryConnection,
    options: ChangesetOptions
  ) throws(ChangesetError) -> CommitMigration.Made? {
    guard let last = steps.last else { return nil }
    do throws(ChangesetError) {
      return try CommitMigration.migrated(
        seq: seq,
        connection,
        options: options,
        to: last.schema
      ) { handle in
        for step in steps { try step.run(handle) }
      }
    } catch {
      // Where statements fail that were good for the rows here, the copy that has made the commit meets the same error, and
      // can mend its rows. Until then only this commit waits.
      if last.isOfApp || error.code != .schema { throw error }
      return nil
    }
  }
}

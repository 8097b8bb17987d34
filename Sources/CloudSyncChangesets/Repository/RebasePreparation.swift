import CloudSyncSQLiteSupport

extension MigratedCommits {
  /// Makes those that the rebase of this copy's commits needs, and of others' if it is for them too.
  static func prepare(
    _ repository: ChangesetRepository,
    forOthers: Bool
  ) throws(ChangesetError) -> Made {
    guard try MigrationSource.exists(in: repository) else { return [:] }
    let isDue = try repository.read { (work) throws(ChangesetError) in
      guard
        try work.connection.integer("SELECT 1 FROM changesets_log WHERE kind = 3 LIMIT 1") != nil
      else { return false }
      if try work.heads.beside().isEmpty == false { return true }
      return forOthers ? try LeftBehind(work: work).changesets().isEmpty == false : false
    }
    guard isDue else { return [:] }
    let options = repository.options
    return try repository.database.use { (connection) throws(ChangesetError) in
      let copy = try CommitMigration.copy(of: connection)
      let tables = try CaptureInstallation(connection: copy).tracked()
      let work = HistoryWork(connection: copy, tables: tables, options: options)
      let rows = try copy.transaction { () throws(ChangesetError) in
        var heads: [LogRow] = []
        for head in try work.heads.beside() { heads.append(try work.log.row(head.seq)) }
        if forOthers { heads += try LeftBehind(work: work).bringIn() }
        return try needed(for: heads, work)
      }
      var made: Made = [:]
      for row in rows {
        // A rebase makes one commit of each, however many migrations there were.
        made[row.id] = try MigrationSource.made(
          by: MigrationSource(work: work).steps(from: row.schema),
          of: row.seq,
          copy,
          options: options
        )
      }
      return made
    }
  }
}

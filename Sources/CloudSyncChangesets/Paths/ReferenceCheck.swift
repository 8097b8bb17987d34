import CloudSyncSQLiteSupport

/// Whether what a history's tables refer to by number is there: SQLite looks at none of that, since each has its number from
/// another one.
struct ReferenceCheck {
  let work: HistoryWork

  /// What is missing or was changed, in a sentence each.
  func problems() throws(ChangesetError) -> [String] {
    try branchesWithoutCommit() + unnamedBranches() + changedSchemas()
  }

  private func branchesWithoutCommit() throws(ChangesetError) -> [String] {
    try work.connection.rows(
      """
      SELECT ifnull(n.name, '?'), h.seq FROM changesets_heads h
      LEFT JOIN changesets_names n ON n.number = h.branch
      WHERE h.seq IS NOT NULL AND NOT EXISTS(SELECT 1 FROM changesets_log l WHERE l.seq = h.seq)
      ORDER BY h.number
      """
    ) { row in
      "branch \(row.text(0) ?? "") ends at commit number \(row.integer(1)), which is not there; restore a copy of the"
        + " database"
    }
  }

  private func unnamedBranches() throws(ChangesetError) -> [String] {
    try work.connection.rows(
      """
      SELECT DISTINCT branch FROM (
        SELECT branch FROM changesets_heads UNION ALL SELECT branch FROM changesets_log)
      WHERE branch IS NOT NULL AND branch NOT IN (SELECT number FROM changesets_names) ORDER BY branch
      """
    ) { row in
      "the name of branch number \(row.integer(0)) is not there; restore a copy of the database"
    }
  }

  private func changedSchemas() throws(ChangesetError) -> [String] {
    let dictionaries = Dictionaries(connection: work.connection)
    var problems = try work.connection.rows(
      """
      SELECT DISTINCT schema FROM changesets_log
      WHERE schema IS NOT NULL AND schema NOT IN (SELECT number FROM changesets_schemas) ORDER BY schema
      """
    ) { row in "schema number \(row.integer(0)) is not there; restore a copy of the database" }
    let numbers = try work.connection.rows(
      "SELECT number FROM changesets_schemas ORDER BY number"
    ) { $0.integer(0) }
    for number in numbers {
      let id = try dictionaries.schemaID(number: number)
      let description = try? dictionaries.schema(number: number)
      if description?.id == id { continue }
      problems.append(
        "schema number \(number) is not what its identifier says; restore a copy of the database"
      )
    }
    return problems
  }
}

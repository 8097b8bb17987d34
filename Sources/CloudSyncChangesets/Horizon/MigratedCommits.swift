import CloudSyncSQLiteSupport

/// Commits of older schemas as the app's migration makes them, for a rebase.
///
/// What a rebase compares has to be of one schema, or a column that has another name now would be lost: the commits that
/// are put on top, and those that they go on from. They are made on a copy of the database before it, since nothing can be
/// copied within a transaction that writes.
struct MigratedCommits {
  /// What migrations have made, by the commits that they were made of.
  typealias Made = [ChangesetID: CommitMigration.Made]

  let work: HistoryWork
  let made: Made

  /// A commit that the tables here can have: it, or what a migration has made of it; throws if there is none.
  func readable(_ row: LogRow) throws(ChangesetError) -> LogRow {
    if try work.knows(row) { return row }
    if let made = made[row.id] { return try CommitMigration.store(made: made, of: row, work) }
    try work.checkKnown(row)
    return row
  }

  /// Whether there is one.
  func has(_ row: LogRow) throws(ChangesetError) -> Bool {
    if made[row.id] != nil { return true }
    return try work.knows(row)
  }

  /// The same; the commit itself where there is none.
  func comparable(_ row: LogRow) throws(ChangesetError) -> LogRow {
    made[row.id] == nil ? row : try readable(row)
  }

  // MARK: Making them

  /// The commits of schemas that migrations have left behind, among heads, what two have in common, and what they go on from.
  static func needed(
    for heads: [LogRow],
    _ work: HistoryWork
  ) throws(ChangesetError) -> [LogRow] {
    let rebasing = Rebasing(work: work)
    let known = try Placed(work)
    var ends = try OpenCommits(work: work, heads: heads, known).ends(before: heads)
    let required = Set(try rebasing.withForks(of: heads).map(\.seq))
    ends = try ends.filtered { (end) throws(ChangesetError) in
      if required.contains(end.seq) { return true }
      return try work.knows(schema: end.schema)
    }
    var rows = ends
    var placed = known
    for end in ends { placed.add([], for: end) }
    for end in ends {
      placed.remove(end)
      rows += try rebasing.bases(of: end, placed: placed)
      placed.add([], for: end)
    }
    var needed: [Int64: LogRow] = [:]
    for row in rows where try work.knows(schema: row.schema) == false {
      guard try work.isLeft(schema: row.schema), try hasOwnRows(row, work) else { continue }
      needed[row.seq] = row
    }
    return needed.values.sorted { $0.seq < $1.seq }
  }

  /// Whether the rows of a commit are known as its schema has them: those of a stand-in are as the tables here have them.
  private static func hasOwnRows(
    _ row: LogRow,
    _ work: HistoryWork
  ) throws(ChangesetError) -> Bool {
    var start = row
    while let parent = start.parent { start = try work.log.row(parent) }
    return start.generation == 1 ? true : try work.knows(schema: start.schema) == false
  }
}

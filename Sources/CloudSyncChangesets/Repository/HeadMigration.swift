import CloudSyncSQLite
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Brings heads of older schemas to the present one, on copies, where their replicas have not done it.
///
/// It is what their replicas would do themselves, so it makes the same commit.
struct HeadMigration {
  let repository: ChangesetRepository

  /// Migrates the heads of a branch, nil for the present one, that wait for it.
  func run(branch: String?) throws(ChangesetError) {
    guard try MigrationSource.exists(in: repository) else { return }
    let waiting = try repository.read { (work) throws(ChangesetError) in
      let source = MigrationSource(work: work)
      return try Self.waiting(branch: branch, work)
        .map { (seq) throws(ChangesetError) in
          (seq, try source.steps(from: try work.log.row(seq).schema))
        }
    }
    for (head, steps) in waiting {
      var seq = head
      for step in steps {
        guard let made = try make(step, after: seq) else { break }
        seq = try repository.write { [seq] (work) throws(ChangesetError) in
          try Self.keep(made: made, of: seq, work)
        }
      }
    }
  }

  /// What a step makes of a commit; nil if it does not do it.
  private func make(
    _ step: MigrationSource.Step,
    after seq: Int64
  ) throws(ChangesetError) -> CommitMigration.Made? {
    let options = repository.options
    return try repository.database.use { (connection) throws(ChangesetError) in
      try MigrationSource.made(by: [step], of: seq, connection, options: options)
    }
  }

  /// The heads whose schema is one that HEAD has left behind by a migration, and that is more than a column less.
  private static func waiting(
    branch: String?,
    _ work: HistoryWork
  ) throws(ChangesetError) -> [Int64] {
    let position = try work.heads.position()
    var number = position.branch
    if let branch { number = try Branches(work: work).number(name: branch) }
    guard let head = position.seq else { return [] }
    let left = try work.connection.rows(
      """
      SELECT p.seq, p.schema FROM changesets_log m JOIN changesets_log p ON p.seq = m.parent
      WHERE m.kind = 3 ORDER BY m.seq
      """
    ) { (seq: $0.integer(0), schema: $0.integer(1)) }
    var waiting: [Int64] = []
    for candidate in try work.branchHeads.joinable(ofBranch: number) where candidate.seq != head {
      let schema = try work.log.row(candidate.seq).schema
      if try work.knows(schema: schema) { continue }
      for parent in left where parent.schema == schema {
        guard try work.log.isAncestor(ancestor: parent.seq, of: head) else { continue }
        waiting.append(candidate.seq)
        break
      }
    }
    return waiting
  }

  /// Keeps the commit that was made of a head in its place, and tells its number; the cloud has not got it.
  private static func keep(
    made: CommitMigration.Made,
    of seq: Int64,
    _ work: HistoryWork
  ) throws(ChangesetError) -> Int64 {
    if let known = try work.log.number(of: made.commit.id) { return known }
    let parent = try work.log.row(seq)
    let row = try CommitMigration.store(made: made, of: parent, work)
    try work.heads.replace(by: row, after: [parent])
    try work.heads.notice(time: row.time)
    return row.seq
  }
}

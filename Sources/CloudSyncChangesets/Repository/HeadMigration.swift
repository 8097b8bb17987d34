import CloudSyncSQLite
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Brings heads of older schemas to the present one, on copies, where their replicas have not done it.
///
/// It is what their replicas would do themselves, so it makes the same commit.
struct HeadMigration {
  let repository: ChangesetRepository
  let migrate: @Sendable (OpaquePointer) throws -> Void

  /// Migrates the heads of a branch, nil for the present one, that wait for it.
  func run(branch: String?) throws(ChangesetError) {
    let waiting = try repository.read { (work) throws(ChangesetError) in
      try Self.waiting(branch: branch, work)
    }
    let (options, migrate) = (repository.options, migrate)
    for seq in waiting {
      let made = try repository.database.use { (connection) throws(ChangesetError) in
        try Self.migrated(seq: seq, connection, options: options, migrate: migrate)
      }
      guard let made else { continue }
      try repository.write { (work) throws(ChangesetError) in
        try Self.keep(made: made, of: seq, work)
      }
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
    for candidate in try work.heads.joinable(ofBranch: number) where candidate.seq != head {
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

  /// Keeps the commit that was made of a head in its place; the cloud has not got it.
  private static func keep(
    made: Made,
    of seq: Int64,
    _ work: HistoryWork
  ) throws(ChangesetError) {
    guard try work.log.number(of: made.commit.id) == nil else { return }
    let parent = try work.log.row(seq)
    let row = try store(made: made, of: parent, work)
    try work.heads.replace(by: row, after: [parent])
    try work.heads.notice(time: row.time)
  }

  /// Puts the commit that was made of another into the log.
  static func store(
    made: Made,
    of parent: LogRow,
    _ work: HistoryWork
  ) throws(ChangesetError) -> LogRow {
    if let seq = try work.log.number(of: made.commit.id) { return try work.log.row(seq) }
    _ = try work.dictionaries.number(for: made.schema)
    try Fills.keep(delta: made.commit.changes, work.connection)
    return try Committing(work: work).store(commit: made.commit, parents: [parent])
  }

  // MARK: On a copy

  struct Made: Sendable {
    var commit: Commit
    var schema: SchemaDescription
  }

  /// A copy of a database in memory; within a transaction that writes there is none.
  static func copy(of connection: HistoryConnection) throws(ChangesetError) -> HistoryConnection {
    do throws(SQLiteError) {
      let target = try SQLiteConnection(path: ":memory:")
      try connection.sqlite.copy(to: target)
      return HistoryConnection(sqlite: target)
    } catch { throw ChangesetError(error) }
  }

  /// The commit that the app's migration makes of a head; nil if it leads to another schema than that of the tables here.
  static func migrated(
    seq: Int64,
    _ connection: HistoryConnection,
    options: ChangesetOptions,
    migrate: (OpaquePointer) throws -> Void
  ) throws(ChangesetError) -> Made? {
    let wanted = try CaptureInstallation(connection: connection).tracked().id
    let copy = try copy(of: connection)
    return try copy.transaction { () throws(ChangesetError) in
      try goBack(to: seq, on: copy, options: options)
      do { try Migrating(connection: copy, options: options).run(migrate) } catch {
        throw ChangesetError(
          .schema,
          "the app's migration failed on a copy of a commit of another replica: \(error)"
        )
      }
      return try made(after: seq, on: copy, wanted: wanted)
    }
  }

  /// Makes the tables of a copy those of a commit, and HEAD that commit.
  private static func goBack(
    to seq: Int64,
    on copy: HistoryConnection,
    options: ChangesetOptions
  ) throws(ChangesetError) {
    let row = try CommitLog(connection: copy).row(seq)
    let schema = try Dictionaries(connection: copy).schema(number: row.schema)
    let installation = CaptureInstallation(connection: copy)
    try installation.uninstall()
    try copy.execute("DROP TABLE IF EXISTS main.changesets_parked")
    try SchemaMaking(connection: copy).dropAll()
    try SchemaMaking(connection: copy).make(schema)
    try installation.install(names: schema.tables.map(\.name))
    let work = HistoryWork(connection: copy, tables: try installation.tracked(), options: options)
    try copy.withoutTriggers { () throws(ChangesetError) in
      try work.applying.write(try work.log.changes(from: nil, to: seq))
    }
    var position = try work.heads.position()
    position.seq = seq
    position.branch = row.branch
    position.isDetached = false
    // The commit's own time is the latest that its replica has seen, for all that the commit says.
    try copy.run("UPDATE changesets_heads SET time = 0 WHERE number = 0")
    position.clock = row.time
    try work.heads.set(position)
  }

  private static func made(
    after seq: Int64,
    on copy: HistoryConnection,
    wanted: SchemaID
  ) throws(ChangesetError) -> Made? {
    guard let made = try Heads(connection: copy).position().seq, made != seq else { return nil }
    let log = CommitLog(connection: copy)
    let row = try log.row(made)
    let commit = try log.written(row: row)
    let schema = try Dictionaries(connection: copy).schema(number: row.schema)
    return schema.id == wanted ? Made(commit: commit, schema: schema) : nil
  }
}

import CloudSyncSQLite
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Makes the commit that an app's migration makes of another one, on a copy of the database.
///
/// Every replica that does it makes the same.
enum CommitMigration {
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

  /// The commit that the app's migration makes of a head; nil if it leads to another schema than the one wanted.
  static func migrated(
    seq: Int64,
    _ connection: HistoryConnection,
    options: ChangesetOptions,
    to wanted: SchemaID,
    migrate: (OpaquePointer) throws -> Void
  ) throws(ChangesetError) -> Made? {
    let copy = try copy(of: connection)
    return try copy.transaction { () throws(ChangesetError) in
      try goBack(to: seq, on: copy, options: options)
      do {
        try Migrating(connection: copy, options: options, refusesReusedNames: false)
          .run { try migrate(copy.sqlite.handle) }
      } catch {
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
    try ParkedRows(connection: copy).drop()
    try ConvertedValues.drop(copy)
    try SchemaMaking(connection: copy).dropAll()
    try SchemaMaking(connection: copy).make(schema)
    let tables = try installation.install(names: schema.tables.map(\.name))
    let work = HistoryWork(connection: copy, tables: tables, options: options)
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

  /// Puts the commit that was made of another into the log.
  static func store(
    made: Made,
    of parent: LogRow,
    _ work: HistoryWork
  ) throws(ChangesetError) -> LogRow {
    _ = try work.dictionaries.number(for: made.schema)
    try Fills.keep(delta: made.commit.changes, work.connection)
    return try Committing(work: work).store(commit: made.commit, parents: [parent])
  }
}

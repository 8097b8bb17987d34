public import CloudSyncCore
public import CloudSyncSQLite
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

extension ChangesetRemote {
  /// Brings a whole history into an empty database: its tables, its rows and its commits.
  ///
  /// The database gets the whole schema of its original: tables with their checks, collations and computed columns,
  /// indexes, triggers, views, and tables outside of the history, which are empty. What needs something that this
  /// process lacks, such as a collation of the app's, cannot be made, and the error names it: then let the app make
  /// the tables, begin a history of them and sync.
  ///
  /// A clone whose process has ended in the midst is begun anew by the next one into the same database.
  ///
  /// - Parameters:
  ///   - database: A database without tables.
  ///   - handler: The cloud.
  ///   - zoneID: The zone.
  ///   - assets: Where files are on their way.
  ///   - accountProvider: Who is signed in; the history belongs to that account then.
  ///   - options: What is settled for merges, and what this copy is called.
  ///   - environment: Clock, threads and timer.
  /// - Returns: The history, at the head of its main branch.
  /// - Throws: That the database is not empty, that the zone holds no history, or what the cloud says; the
  ///   database is empty then as before.
  public static func clone(
    into database: some SyncDatabase,
    from handler: any OperationHandler,
    zoneID: ZoneID,
    assets: AssetOptions? = nil,
    accountProvider: AccountStatusProvider? = nil,
    options: ChangesetOptions = ChangesetOptions(),
    environment: SyncEnvironment = .live
  ) async throws(ChangesetError) -> ChangesetRepository {
    try Cloning.begin(in: database, options: options)
    do throws(ChangesetError) {
      let repository = try ChangesetRepository(clonedInto: database, options: options)
      let remote = try ChangesetRemote(
        repository,
        operationHandler: handler,
        zoneID: zoneID,
        assets: assets,
        accountProvider: accountProvider,
        environment: environment
      )
      defer { remote.session.stop() }
      try await remote.fetch()
      try repository.write { (work) throws(ChangesetError) in
        try Cloning(work: work).makeTables()
      }
      try repository.mergeAll()
      try repository.pull()
      try repository.write { (work) throws(ChangesetError) in try Cloning(work: work).complete() }
      return repository
    } catch {
      try Cloning.undo(in: database)
      throw error
    }
  }
}

extension ChangesetRemote {
  /// Whether a database has nothing in it: no table, view or index, and none of a history's own.
  package static func isEmpty(_ database: some SyncDatabase) throws(ChangesetError) -> Bool {
    try database.use { (connection) throws(ChangesetError) in try connection.isEmpty() }
  }

  /// Whether a database was to become a clone, and its process ended before it was one.
  ///
  /// - Parameter database: The database.
  /// - Returns: Whether ``clone(into:from:zoneID:assets:accountProvider:options:environment:)`` begins anew there.
  /// - Throws: What is wrong with the database.
  public static func isUnfinishedClone(_ database: some SyncDatabase) throws(ChangesetError) -> Bool
  {
    try database.use { (connection) throws(ChangesetError) in
      try HistoryTables.isUnfinishedClone(connection: connection)
    }
  }
}

/// Makes the tables of a history that came from elsewhere.
struct Cloning {
  let work: HistoryWork

  /// Begins a history without tables.
  static func begin(
    in database: some SyncDatabase,
    options: ChangesetOptions
  ) throws(ChangesetError) {
    let isUnfinished = try database.use { (connection) throws(ChangesetError) in
      try ChangesetRepository.refuseTransaction(connection: connection)
      return try HistoryTables.isUnfinishedClone(connection: connection)
    }
    if isUnfinished { try undo(in: database) }
    try database.use { (connection) throws(ChangesetError) in
      try connection.transaction { () throws(ChangesetError) in
        guard try connection.isEmpty() else {
          throw ChangesetError(.misuse, "the database is not empty; clone into a new file")
        }
        try HistorySetup(connection: connection, options: options).createEmpty()
        try Info(connection).set(.cloning, .integer(1))
      }
    }
  }

  func complete() throws(ChangesetError) {
    try work.connection.run("DELETE FROM changesets_info WHERE name = 'cloning'")
  }

  /// Takes away what a clone has made that could not be completed.
  static func undo(in database: some SyncDatabase) throws(ChangesetError) {
    try database.use { (connection) throws(ChangesetError) in
      try connection.withoutForeignKeys { () throws(ChangesetError) in
        try connection.transaction { () throws(ChangesetError) in
          try HistoryTables.remove(connection: connection)
          try SchemaMaking(connection: connection).dropAll()
        }
      }
    }
  }

  func makeTables() throws(ChangesetError) {
    let main = try work.dictionaries.number(ofName: "main")
    var heads: [LogRow] = []
    for head in try work.branchHeads.heads() { heads.append(try work.log.row(head.seq)) }
    let hidden = try Branches(work: work).hidden()
    let shown = try heads.filtered { (head) throws(ChangesetError) in
      try hidden.contains(work.dictionaries.name(number: head.branch)) == false
    }
    if !shown.isEmpty { heads = shown }
    let wanted = heads.filter { $0.branch == main }
    let candidates = try ofLatestSchemas(wanted.isEmpty ? heads : wanted)
    guard let head = candidates.max(by: { $0.generation < $1.generation }) else {
      let refused = try work.connection
        .rows("SELECT name, reason FROM changesets_refused ORDER BY name LIMIT 1") { row in
          "\(row.text(0) ?? "") was rejected: \(row.text(1) ?? "")"
        }
      if let refused = refused.first {
        throw ChangesetError(.damaged, "the zone holds no commits that can be read: \(refused)")
      }
      throw ChangesetError(
        .foreignCloud,
        "the zone holds no commits; the original has none before it has rows: commit them there, and sync"
      )
    }
    let schema = try work.dictionaries.schema(number: head.schema)
    try SchemaMaking(connection: work.connection).make(schema)
    let installation = CaptureInstallation(connection: work.connection)
    let tables = try installation.install(names: schema.tables.map(\.name))
    guard tables.id == schema.id else {
      throw ChangesetError(
        .schema,
        "the tables cannot be made from what commits say of them; let the app make them, begin a history of"
          + " them, and sync"
      )
    }
    let made = HistoryWork(
      connection: work.connection,
      tables: tables,
      options: work.options
    )
    try DefaultFills(work: made).keep()
    try made.keepConvertedFills()
    var position = try work.heads.position()
    position.branch = head.branch
    try work.heads.set(position)
  }

  /// The commits of whose schema no migration has made another one's; all of them where schemas were made of each other in
  /// turn.
  private func ofLatestSchemas(_ heads: [LogRow]) throws(ChangesetError) -> [LogRow] {
    let latest = try heads.filtered { (head) throws(ChangesetError) in
      let later = try work.log.schemas(madeOf: head.schema)
      return !heads.contains { $0.schema != head.schema && later.contains($0.schema) }
    }
    return latest.isEmpty ? heads : latest
  }
}

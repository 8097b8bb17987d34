import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// `cloudsync detach`: a database as if it had never been synchronized.
enum DetachCommand {
  static var command: Command {
    Command(
      path: ["detach"],
      summary: "Remove every trace of syncing from a database; its rows stay.",
      operands: ["DATABASE"],
      options: [
        .init(name: "--discard", help: "give up unsent edits, and rows that are in no table"),
        .json,
      ],
      discussion: """
        The rows stay as they are, the file gets back the journal mode that it had, and the cloud is not touched.
        When the database is synced again its rows are merged with the cloud's, and where they differ the cloud's
        values win: edits that were not sent would be undone, those among them that a filter keeps here, and those of
        tables that were stopped. Rows that are parked or waiting may be in no table, and would be gone. Where there
        are such edits or rows, or a table was changed since, nothing is done without --discard. Nor is anything done
        while another program has the file open and keeps it from getting its journal mode back. To join another
        cloud do not detach, but use “cloudsync attach”.
        """,
      run: run
    )
  }

  /// The result for scripts.
  private struct Report: Encodable {
    var database: String
    /// How many edits had not reached the cloud; nil if that cannot be read.
    var unsent: Int?
  }

  /// What is noted; nil if somebody has dropped a table in which that was.
  private static func metadata(
    in database: DatabaseFile,
    target: DatabaseArguments
  ) throws -> SyncMetadata? {
    do throws(SyncEngineError) { return try SyncMetadata.read(from: database) } catch {
      if error.code == .damaged { return nil }
      throw target.failure(for: error)
    }
  }

  /// Throws if rows are held that no table has: the engine's tables alone know them.
  private static func checkHeldRows(
    _ metadata: SyncMetadata,
    in database: DatabaseFile,
    target: DatabaseArguments
  ) throws {
    let held = metadata.parked + metadata.waiting + metadata.leftOutRecords
    let gone = try target.naming { try held.filter { try isInTable($0, of: database) == false } }
    guard let first = gone.first else { return }
    let names = gone.count == 1 ? "" : " and \(gone.count - 1) more"
    throw ToolError.failure(
      "\(target.path): nothing was done: \(Phrase.count(gone.count, "row")) (\(first.table) \(first.key)\(names)) would be"
        + " gone, because they are parked or waiting and in no table;"
        + " “cloudsync status \(target.path.argument)” says why; to give them up add --discard"
    )
  }

  /// Throws if edits have not reached the cloud: who syncs the database again would lose them to what the cloud has.
  private static func checkUnsentEdits(
    _ metadata: SyncMetadata,
    target: DatabaseArguments
  ) throws {
    if let table = metadata.tables.first(where: { $0.change != nil }) {
      throw ToolError.failure(
        "\(target.path): nothing was done: \(table.name) was changed since it was synced, and only a sync finds what was"
          + " edited meanwhile; sync it first, or give that up with --discard"
      )
    }
    let unsent = unsentCount(metadata)
    if unsent == 0 { return }
    let have = unsent == 1 ? "has" : "have"
    throw ToolError.failure(
      "\(target.path): nothing was done: \(Phrase.count(unsent, "edit")) \(have) not reached the cloud, and would be undone"
        + " if the database is synced again; \(advice(metadata)), or give them up with --discard"
    )
  }

  /// How edits that no cloud has get into it.
  private static func advice(_ metadata: SyncMetadata) -> String {
    if metadata.counts.pending + metadata.counts.heldEdits > 0 { return "sync it first" }
    if let table = metadata.leftOutTables.first(where: { unsentCount($0) > 0 }) {
      return "sync \(table.name) again first, with --all"
    }
    let filtered = metadata.tables.first { $0.counts.local > 0 }?.name ?? ""
    return "a filter keeps them here: end it with --filter \(filtered)= and sync first"
  }

  /// How many edits no cloud has, those among them that a filter keeps here, and those of tables that are left out.
  private static func unsentCount(_ metadata: SyncMetadata) -> Int {
    (metadata.tables + metadata.leftOutTables).reduce(0) { $0 + unsentCount($1) }
  }

  private static func unsentCount(_ table: SyncMetadata.Table) -> Int {
    table.counts.pending + table.counts.heldEdits + table.counts.local
  }

  private static func isInTable(
    _ held: SyncMetadata.HeldRecord,
    of database: DatabaseFile
  ) throws -> Bool {
    let columns =
      try database.query(
        "SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk",
        [.string(held.table)]
      )
      .compactMap { $0.string("name")?.quotedName }
    // Of a table that was dropped there is nothing to keep.
    if columns.isEmpty { return true }
    let key = columns.joined(separator: ", ")
    let sql = "SELECT 1 FROM main.\(held.table.quotedName) WHERE (\(key)) = (\(held.key)) LIMIT 1"
    return try database.query(sql).isEmpty == false
  }

  /// Whether an older version may have edits that were not sent, as far as its tables are like those of this one.
  private static func mayHaveUnsentEdits(in database: DatabaseFile) throws -> Bool {
    for (table, condition) in [("cloudsync_outbox", "id"), ("cloudsync_pending", "is_dirty")] {
      let columns =
        try database.query("SELECT name FROM pragma_table_info(?)", [.string(table)])
        .compactMap { $0.string("name") }
      guard columns.contains(condition) else { continue }
      let sql = "SELECT 1 FROM main.\(table) WHERE \(condition) LIMIT 1"
      if try database.query(sql).isEmpty == false { return true }
    }
    return false
  }

  private static func remove(from database: DatabaseFile, target: DatabaseArguments) throws {
    do throws(SyncEngineError) {
      try SyncMetadata.removeRestoringJournalMode(from: database)
    } catch {
      guard error.code == .busy else { throw target.failure(for: error) }
      throw ToolError.failure(
        "\(target.path): nothing was done: another program has it open, so that it cannot get back the journal mode that it"
          + " had; close that program, and detach again"
      )
    }
  }

  private static func run(with arguments: Arguments, console: Console) throws {
    let target = DatabaseArguments(arguments)
    let lock = try DatabaseLock(target.path)
    defer { lock.release() }
    let database = try target.open(access: .readWrite)
    guard let version = try target.naming(body: { try SyncMetadata.version(in: database) }) else {
      throw ToolError.failure("\(target.path): it is not synced; there is nothing to remove")
    }
    // What an older version has noted is not read any more, nor what has lost a table.
    let metadata =
      version < SyncMetadata.currentVersion ? nil : try metadata(in: database, target: target)
    if metadata == nil, !arguments.has("--discard"), try mayHaveUnsentEdits(in: database) {
      throw ToolError.failure(
        "\(target.path): nothing was done: it has edits of an older version of this program that may not have reached the cloud;"
          + " sync with that version first, or give them up with --discard"
      )
    }
    if let metadata, !arguments.has("--discard") {
      try checkHeldRows(metadata, in: database, target: target)
      try checkUnsentEdits(metadata, target: target)
    }
    try remove(from: database, target: target)
    // Values that were on their way are still in their rows.
    NewFolder.removeTemporary(at: SyncRun.assetFolder(of: target.path))
    let unsent = metadata.map(unsentCount)
    if arguments.has("--json") {
      console.line(try JSONText.block(for: Report(database: target.path, unsent: unsent)))
    } else {
      console.line("\(target.path) is detached; its rows are as they were")
    }
    if let unsent, unsent > 0 {
      console.note("warning: \(Phrase.count(unsent, "edit")) had not reached the cloud")
    }
  }
}

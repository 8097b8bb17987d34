import CloudSyncCore
import CloudSyncSQLite

/// `cloudsync detach`: a database as if it had never been synchronized.
enum DetachCommand {
  static var command: Command {
    Command(
      path: ["detach"],
      summary: "Remove every trace of syncing from a database; its rows stay.",
      operands: ["DATABASE"],
      options: [.json],
      discussion: """
        The rows stay as they are, the file gets back the journal mode that it had, and the cloud is not
        touched. When the database is synced again its rows are merged with the cloud's, and where they differ
        the cloud's values win. To join another cloud without that do not detach, but use “cloudsync attach”.
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

  /// How much is pending; nil if somebody has dropped a table in which that was noted.
  private static func counts(
    in database: DatabaseFile,
    target: DatabaseArguments
  ) throws -> SyncMetadata.Counts? {
    do throws(SyncEngineError) { return try SyncMetadata.read(from: database)?.counts } catch {
      if error.code == .damaged { return nil }
      throw target.failure(for: error)
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
    // What an older version has noted is not read any more, nor what has lost a table; it is removed all the same.
    let counts =
      version < SyncMetadata.currentVersion ? nil : try Self.counts(in: database, target: target)
    try target.naming { try SyncMetadata.removeRestoringJournalMode(from: database) }
    // Values that were on their way are still in their rows.
    NewFolder.removeTemporary(at: SyncRun.assetFolder(of: target.path))
    let unsent = counts.map { $0.pending + $0.heldEdits }
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

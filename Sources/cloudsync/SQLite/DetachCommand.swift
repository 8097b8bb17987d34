import CloudSyncCore
import CloudSyncSQLite

/// `cloudsync detach`: a database as if it had never been synchronized.
enum DetachCommand {
  static var command: Command {
    Command(
      path: ["detach"],
      summary: "Remove every trace of synchronization from a database.",
      operands: ["DATABASE"],
      discussion: """
        The rows stay as they are, and the cloud is not touched. Where the database is synchronized again
        its rows are merged with the cloud's, which win where they differ.
        """,
      run: run
    )
  }

  private static func run(with arguments: Arguments, console: Console) throws {
    let target = DatabaseArguments(arguments)
    let lock = try DatabaseLock(target.path)
    defer { lock.release() }
    let database = try target.open(access: .readWrite)
    guard let version = try target.naming(body: { try SyncMetadata.version(in: database) }) else {
      throw ToolError.failure("\(target.path): it is not synchronized; there is nothing to remove")
    }
    // What an older version has noted is not read any more, and removed all the same.
    let counts =
      version < SyncMetadata.currentVersion
      ? nil : try target.naming { try SyncMetadata.read(from: database) }?.counts
    try target.naming { try SyncMetadata.remove(from: database) }
    console.line("\(target.path) is not synchronized any more; its rows are as they were")
    if let counts, counts.pending + counts.parked > 0 {
      console.note(
        "warning: \(Phrase.count(counts.pending + counts.parked, "edit")) had not reached the cloud"
      )
    }
  }
}

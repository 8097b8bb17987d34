import CloudSyncChangesets
import CloudSyncCore
import CloudSyncSQLite

/// Is `cloudsync history gc`.
enum HistoryCollecting {
  static var command: Command {
    HistoryCommand.command(
      name: "gc",
      "Remove the changes of old commits from this copy; the log keeps them.",
      options: [
        .init(
          name: "--depth",
          value: "NUMBER",
          help: "how many commits before HEAD stay whole; 1000 by default"
        ),
        .init(
          name: "--including-unsent",
          help: "also what no cloud has: it is gone then, and the history cannot be pushed"
        ),
        .init(name: "--vacuum", help: "also make the file smaller, which writes all of it"),
      ],
      discussion: """
        States, merges and comparisons of the commits that stay whole work as before. A sync fetches the others
        again if it needs them. --vacuum may number rows of tables without an INTEGER PRIMARY KEY anew.
        """,
      run: run
    )
  }

  private static func run(target: HistoryTarget) throws {
    let arguments = target.arguments
    let depth = try arguments.value(of: "--depth")
      .map { try Arguments.number(from: $0, for: "--depth") }
    guard let depth = Int(exactly: depth ?? 1_000) else {
      throw ToolError.usage("--depth is too large")
    }
    let repository = try target.repository()
    let removed = try repository.gc(
      depth: depth,
      includingUnsent: arguments.has("--including-unsent")
    )
    if arguments.has("--vacuum") { try target.database(access: .readWrite).execute("VACUUM") }
    if target.isJSON {
      return try target.show(value: ["commits": removed.commits, "bytes": removed.bytes])
    }
    if removed.commits == 0 { return target.console.line("nothing to remove") }
    target.console.line(
      "the changes of \(Phrase.count(removed.commits, "commit")) removed, \(removed.bytes) bytes"
    )
  }
}

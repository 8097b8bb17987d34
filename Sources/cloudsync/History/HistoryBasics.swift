import CloudSyncChangesets
import CloudSyncCore
import CloudSyncSQLite

/// Beginning a history, its state, commits, and its end.
enum HistoryBasics {
  static var commands: [Command] {
    [
      HistoryCommand.command(
        name: "init",
        "Begin a history; its first commits hold the rows that are there.",
        options: [
          DatabaseArguments.tables, DatabaseArguments.all,
          .init(name: "--replica", value: "NAME", help: "this copy's name in its commits"),
        ],
        run: begin
      ),
      HistoryCommand.command(
        name: "status",
        "Show the current branch and commit, and what is not committed.",
        discussion: "The exit code is 3 if rows are parked because they were rejected.",
        run: status
      ),
      HistoryCommand.command(
        name: "commit",
        "Commit all rows that were changed since HEAD.",
        options: [HistoryCommand.message],
        run: commit
      ),
      HistoryCommand.command(
        name: "discard",
        "Reset rows that were changed since HEAD to what they were.",
        run: discard
      ),
      HistoryRescan.command, HistoryMigrating.command,
      HistoryCommand.command(
        name: "verify",
        "Check that all commits and rows are what the history says.",
        discussion: "The exit code is 1 if anything differs.",
        run: verify
      ),
      HistoryCommand.command(
        name: "remove",
        "Remove the history from the database; rows stay.",
        options: [.init(name: "--discard", help: "give up commits that no cloud is known to have")],
        discussion: """
          Commits that the cloud has can be cloned from there again. Others would be gone for good: where there are
          any, nothing is done without --discard.
          """,
        run: remove
      ),
    ]
  }

  private static func begin(target: HistoryTarget) throws {
    let database = try target.database(access: .readWrite)
    if try ChangesetRepository.isInstalled(in: database) {
      throw ToolError.failure("\(target.path): it has a history already")
    }
    let names = try ChangesetRepository.tables(of: database)
    let tables = try DatabaseArguments(target.arguments).tables(names: names, orElse: nil)
    let options = ChangesetOptions(replica: target.arguments.value(of: "--replica"))
    let repository: ChangesetRepository
    do throws(ChangesetError) {
      repository = try ChangesetRepository(database, tables: tables, options: options)
    } catch {
      guard error.code == .schema else { throw error }
      let way = try keyMigration(of: tables, in: database, path: target.path)
      throw ToolError.failure("\(target.path): \(error.reason)\(way)")
    }
    let log = try repository.log()
    let rows = try repository.verify().rowCount
    if target.isJSON {
      return try target.show(
        value: ["commits": log.count, "rows": rows, "tables": tables.count]
      )
    }
    if let reason = HistoryConnection.integerKeyReason(try repository.tablesWithIntegerKeys()) {
      target.console.note(
        "warning: \(target.path): \(reason); before other copies join, \(HistoryConnection.keyMigration(of: target.path))"
      )
    }
    if let reason = try repository.computedKeyReason() {
      target.console.note("warning: \(target.path): before other copies join: \(reason)")
    }
    let start = log.first.map { ", first commit \($0.id.short)" } ?? ""
    target.console.line(
      "\(target.path): \(Phrase.count(tables.count, "table")), \(Phrase.count(rows, "row"))\(start) on"
        + " \(try repository.head().branch)"
    )
  }

  /// The command that gives tables the keys that a history needs, for an error; empty if it is not about keys.
  private static func keyMigration(
    of tables: [String],
    in database: DatabaseFile,
    path: String
  ) throws -> String {
    let keyless = try SyncEngine.check(database, tables: tables)
      .filter { [.nullablePrimaryKey, .missingPrimaryKey].contains($0.code) }
      .map(\.table)
    if keyless.isEmpty { return "" }
    let names = Set(keyless).sorted().joined(separator: ",").argument
    return
      ": “cloudsync migrate \(path.argument) --tables \(names) --fix --keep-integer-keys” does that, and with --dry-run shows"
      + " what else it changes"
  }

  private struct StatusReport: Encodable {
    struct Table: Encodable {
      var name: String
      var new: Int
      var changed: Int
      var deleted: Int
    }

    var branch: String
    var head: String?
    var isDetached: Bool
    var unpushed: Int
    var heads: [String]
    var behind: Int
    var leftBehind: Int
    var waiting: Int
    var refused: [String: String]
    var parked: [ParkedReport]
    var tables: [Table]
    var untracked: [String]

    init(_ status: ChangesetStatus) {
      branch = status.head.branch
      head = status.head.uuid
      isDetached = status.head.isDetached
      unpushed = status.unpushedCount
      heads = status.heads.map(\.description)
      behind = status.behindCount
      leftBehind = status.leftBehindCount
      waiting = status.waitingCount
      refused = Dictionary(
        status.refused.map { ($0.name, $0.reason) },
        uniquingKeysWith: { first, _ in first }
      )
      parked = status.parked.map { ParkedReport($0) }
      tables = status.tables.map {
        Table(name: $0.name, new: $0.inserted, changed: $0.updated, deleted: $0.deleted)
      }
      untracked = status.untracked
    }
  }

  private static func status(target: HistoryTarget) throws {
    let repository = try target.repository(access: .readOnly)
    let status = try repository.status()
    if target.isJSON {
      try target.show(value: StatusReport(status))
    } else {
      try show(status, of: repository, target: target)
    }
    if !status.parked.isEmpty { throw ToolError.parked }
  }

  private static func show(
    _ status: ChangesetStatus,
    of repository: ChangesetRepository,
    target: HistoryTarget
  ) throws {
    let console = target.console
    var line = "\(status.head.isDetached ? "detached from" : "on") \(status.head.branch)"
    if let last = try repository.log(LogQuery(count: 1)).first {
      let message = HistoryWords.message(last)
      line += " at \(console.styled(last.id.short, as: .name))"
      if !message.isEmpty { line += " “\(message)”" }
    } else {
      line += ", nothing committed"
    }
    if status.unpushedCount > 0 {
      line += ", \(Phrase.count(status.unpushedCount, "commit")) not pushed"
    }
    console.line(line)
    if let warning = try HistoryWords.deletion(repository) { console.line(warning) }
    if status.behindCount > 0 {
      console.line(
        "\(Phrase.count(status.behindCount, "head")) from before a squash; “cloudsync history rebase” puts them on top"
      )
    }
    for line in try HistoryWords.leftBehind(repository) { console.line(line) }
    if status.heads.count > 1 {
      console.line("\(status.heads.count) heads are not merged yet")
    }
    if !status.head.isDetached, try repository.hasNewerHead() {
      console.line(
        "\(status.head.branch) has newer commits; “cloudsync history pull” takes the rows there"
      )
    }
    if status.waitingCount > 0 {
      console.line("\(Phrase.count(status.waitingCount, "commit")) wait for others before them")
    }
    for row in status.parked {
      console.line(
        "table \(row.table), row \(HistoryWords.key(row.key)) is parked: \(Words.line(row.reason))"
      )
    }
    for refused in status.refused {
      console.line("\(refused.name) was rejected: \(Words.line(refused.reason))")
    }
    if !status.untracked.isEmpty {
      console.line(
        "not in the history: \(status.untracked.joined(separator: ", ")); “cloudsync history rescan \(target.path.argument)"
          + " \(try option(takingUp: status.untracked, in: repository, target))” takes all of them up"
      )
    }
    if status.isClean { return console.line("nothing to commit") }
    let rows =
      [["table", "new", "changed", "deleted"]]
      + status.tables.map { [$0.name, "\($0.inserted)", "\($0.updated)", "\($0.deleted)"] }
    for line in Words.table(of: rows) { console.line(line) }
  }

  /// What a rescan is told to take up tables: all, unless some belong to a sync engine, or can be in no history.
  private static func option(
    takingUp untracked: [String],
    in repository: ChangesetRepository,
    _ target: HistoryTarget
  ) throws -> String {
    let wanted = try repository.trackedTables() + untracked
    let all = try ChangesetRepository.tables(of: target.database(access: .readOnly))
    return Set(wanted) == Set(all) ? "--all" : "--tables \(wanted.sorted().joined(separator: ","))"
  }

  private static func commit(target: HistoryTarget) throws {
    let repository = try target.repository()
    let counts = try repository.status().tables
    let meta = try target.messageMeta() ?? "{}"
    guard let commit = try repository.commit(meta: meta) else {
      if target.isJSON { return try target.show(value: [String: String]()) }
      return target.console.line("nothing to commit")
    }
    if target.isJSON { return try target.show(value: ChangesetReport(commit)) }
    let rows = counts.reduce(0) { $0 + $1.inserted + $1.updated + $1.deleted }
    target.console.line(
      "[\(commit.branch) \(target.console.styled(commit.id.short, as: .name))]"
        + " \(Phrase.count(rows, "row")) in \(Phrase.count(counts.count, "table"))"
    )
  }

  private static func discard(target: HistoryTarget) throws {
    let repository = try target.repository()
    let count = try repository.changes().count
    try repository.discard()
    if target.isJSON { return try target.show(value: ["rows": count]) }
    target.console.line("\(Phrase.count(count, "row")) as at HEAD again")
  }

  private struct VerifyResult: Encodable {
    var rows: Int
    var commits: Int
    var problems: [String]
  }

  private static func verify(target: HistoryTarget) throws {
    let report = try target.repository(access: .readOnly).verify()
    if target.isJSON {
      try target.show(
        value: VerifyResult(
          rows: report.rowCount,
          commits: report.commitCount,
          problems: report.problems
        )
      )
    } else if report.problems.isEmpty {
      target.console.line(
        "\(target.path): \(Phrase.count(report.rowCount, "row")) and"
          + " \(Phrase.count(report.commitCount, "commit")) are what the history says"
      )
    } else {
      for problem in report.problems {
        let text = target.namingRescan(in: problem)
        target.console.line("\(target.path): \(target.console.styled(text, as: .bad))")
      }
    }
    if !report.problems.isEmpty { throw ToolError.negative }
  }

  private static func remove(target: HistoryTarget) throws {
    let database = try target.historyDatabase()
    let unsent = try ChangesetRepository.unpushedCount(in: database)
    if unsent > 0, !target.arguments.has("--discard") {
      throw ToolError.failure(
        "\(target.path): nothing was done: no cloud is known to have \(Phrase.count(unsent, "commit"));"
          + " “cloudsync history push” sends what can be sent, and --discard gives them up"
      )
    }
    let count = try ChangesetRepository.remove(from: database)
    if target.isJSON { return try target.show(value: ["commits": count]) }
    target.console.line(
      "\(target.path): \(Phrase.count(count, "commit")) removed, rows are as before"
    )
  }
}

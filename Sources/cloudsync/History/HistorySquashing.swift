import CloudSyncChangesets
import CloudSyncCore
import CloudSyncSQLite

/// Is `cloudsync history squash` and `rebase`.
enum HistorySquashing {
  static var commands: [Command] {
    [
      HistoryCommand.command(
        name: "squash",
        "Let the history in the cloud begin with a snapshot, and remove older commits there.",
        options: HistoryCloud.options + [
          .init(
            name: "--depth",
            value: "NUMBER",
            help: "how many commits before HEAD stay at least; 1000 by default"
          )
        ],
        discussion: """
          New copies get the snapshot and the commits after it; this copy keeps all. Copies that have committed in the \
          last 90 days have to sync once between two runs: the first sends the snapshot, the second removes.
          """,
        run: squash
      ),
      HistoryCommand.command(
        name: "rebase",
        "Put commits from before a squash on top of the history as others have it.",
        options: HistoryCloud.options + [
          .init(
            name: "--others",
            help: "also those of other copies, whose devices were lost or do not come back"
          ),
          .init(name: "--branch", value: "NAME", help: "of those the ones on this branch alone"),
        ],
        discussion: """
          What is not committed is committed first. “sync” sends the result. Where the other copies come back after \
          all, what they changed counts once.
          """,
        run: rebase
      ),
    ]
  }

  private struct SquashReport: Encodable {
    var beginning: String?
    var removed: Int
    var next: String?
    var waitingFor: [String]
  }

  private static func squash(target: HistoryTarget) throws {
    let depth = try target.arguments.value(of: "--depth")
      .map { try Arguments.number(from: $0, for: "--depth") }
    guard let depth = Int(exactly: depth ?? 1_000) else {
      throw ToolError.usage("--depth is too large")
    }
    let summary = try HistoryConnection.with(target: target, creates: nil) { (remote, _) in
      try await remote.squash(depth: depth)
    }
    if target.isJSON {
      return try target.show(
        value: SquashReport(
          beginning: summary.beginning?.uuid,
          removed: summary.removedRecords,
          next: summary.next?.uuid,
          waitingFor: summary.waitingFor
        )
      )
    }
    let console = target.console
    if let beginning = summary.beginning {
      console.line(
        "the history in the cloud begins with \(console.styled(beginning.id.short, as: .name));"
          + " \(Phrase.count(summary.removedRecords, "record")) removed"
      )
    }
    if let next = summary.next {
      console.line(
        "the snapshot of \(console.styled(next.id.short, as: .name)) is in the cloud; these have to sync before older"
          + " commits go: \(summary.waitingFor.map { Words.line($0) }.joined(separator: ", "))"
      )
    }
    if summary.beginning == nil, summary.next == nil {
      console.line("nothing to squash: no commit that far back is one that all others go on from")
    }
  }

  private static func rebase(target: HistoryTarget) throws {
    let isForOthers = target.arguments.has("--others")
    let branch = target.arguments.value(of: "--branch")
    if branch != nil, !isForOthers { throw ToolError.usage("--branch goes with --others") }
    let made = try HistoryConnection.with(target: target, creates: nil) { (remote, _) in
      isForOthers ? try await remote.rebaseOthers(branch: branch) : try await remote.rebase()
    }
    if target.isJSON { return try target.show(value: made.map { ChangesetReport($0) }) }
    if made.isEmpty { return target.console.line("nothing to rebase") }
    for commit in made {
      let message = HistoryWords.message(commit)
      target.console.line(
        "[\(commit.branch) \(target.console.styled(commit.id.short, as: .name))]"
          + " \(HistoryWords.rebased(commit))\(message.isEmpty ? "" : ": \(message)")"
      )
    }
  }
}

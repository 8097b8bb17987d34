import CloudSyncEventLog

/// `cloudsync log`: everything about a recorded log.
enum LogCommand {
  static var group: Command {
    Command(
      path: ["log"],
      summary: "See, search, verify, re-run and explain a recorded log.",
      subcommands: [
        SummaryCommand.command, ShowCommand.command, StateCommand.command, WhyCommand.command,
        VerifyCommand.command, RerunCommand.command, ReportCommand.command,
      ]
    )
  }

  /// Options that every command has that opens a log.
  static let salvage = Command.Option(
    name: "--salvage",
    help: "leave damaged lines out, with a warning each"
  )

  /// Opens a log, all operands by default, showing how far it has come, and passes on its warnings.
  static func open(
    from arguments: Arguments,
    console: Console,
    paths: [String]? = nil
  ) throws -> EventLog {
    let log = try EventLog(
      paths: paths ?? arguments.operands,
      salvaging: arguments.has("--salvage"),
      progress: { console.progress("read \($0) events") }
    )
    console.endProgress()
    for warning in log.warnings where warning.kind != .noEnd {
      console.note("warning: \(log.name), \(warning)")
    }
    return log
  }
}

import CloudSyncEventLog

/// The command line tool.
enum Tool {
  /// The commands.
  static var root: Command {
    Command(
      path: [],
      summary: "CloudSyncSession's tool: see it work, see what a session did, and run it again.",
      subcommands: [
        DemoCommand.command, CheckCommand.command, MigrateCommand.command, SyncCommand.command,
        StatusCommand.command, DetachCommand.command, LogCommand.group, SimulateCommand.command,
        HistoryCommand.group,
      ]
    )
  }

  /// Runs a command line; returns the exit code: 0, 1 for a failure, 2 for wrong usage.
  static func run(with arguments: [String], console: Console) -> Int32 {
    do {
      try root.perform(with: arguments, console: console)
      console.endProgress()
      return 0
    } catch ToolError.usage(let reason) {
      console.note("error: \(reason)")
      return 2
    } catch ToolError.negative {
      console.endProgress()
      return 1
    } catch ToolError.failure(let reason) {
      console.note("error: \(Words.line(reason))")
    } catch {
      console.note("error: \(Words.line("\(error)"))")
    }
    return 1
  }
}

import CloudSyncEventLog
import CloudSyncSQLiteSupport

/// The command line tool.
enum Tool {
  /// What `--version` tells: the tag of a release, or that it comes before one.
  static let version = "0.1.0-unreleased"

  /// The commands.
  static var root: Command {
    Command(
      path: [],
      summary: "Sync SQLite databases, see a sync session work, and replay what one did.",
      discussion: """
        Start with “cloudsync demo”. “cloudsync --version” tells the version.

        Exit codes: 0 when all went well; 1 when it could not be done, or a check did not pass; 2 when the
        command line is wrong; 3 when rows were rejected and are parked.
        """,
      subcommands: commands + [CompletionsCommand.command(completing: commands)]
    )
  }

  private static var commands: [Command] {
    [
      DemoCommand.command, CheckCommand.command, MigrateCommand.command, SyncCommand.command,
      StatusCommand.command, AttachCommand.command, DetachCommand.command, LogCommand.group,
      SimulateCommand.command, HistoryCommand.group,
    ]
  }

  /// Runs a command line; returns the exit code: 0, 1 for a failure, 2 for wrong usage, 3 for parked rows.
  static func run(with arguments: [String], console: Console) -> Int32 {
    defer { OpenClouds.checkpoint(console: console) }
    do {
      if arguments.first == "--version" {
        guard arguments.count == 1 else { throw ToolError.usage("--version stands by itself") }
        console.line("cloudsync \(version), with SQLite \(SQLiteVersion.present)")
        return 0
      }
      try root.perform(with: arguments, console: console)
      console.endProgress()
      return 0
    } catch ToolError.usage(let reason) {
      console.note("error: \(reason)")
      return 2
    } catch ToolError.misuse(let reason, let usage) {
      console.note("error: \(Words.line(reason))")
      console.note(usage, isPlain: true)
      return 2
    } catch ToolError.negative {
      console.endProgress()
      return 1
    } catch ToolError.parked {
      console.endProgress()
      return 3
    } catch ToolError.failure(let reason) {
      console.note("error: \(Words.line(reason))")
    } catch {
      console.note("error: \(Words.line("\(error)"))")
    }
    return 1
  }
}

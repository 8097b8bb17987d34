import CloudSyncEventLog

/// Is `cloudsync log why`.
enum WhyCommand {
  static var command: Command {
    Command(
      path: ["log", "why"],
      summary: "Show what led to an event, and everything that followed from it.",
      operands: ["LOG", "N"],
      options: [LogCommand.salvage, .json],
      run: run
    )
  }

  private static func run(with arguments: Arguments, console: Console) throws {
    let sequence = try Arguments.number(from: arguments.operands[1], for: "N")
    let log = try LogCommand.open(from: arguments, console: console, paths: [arguments.operands[0]])
    let tree = try CausalTree(of: sequence, in: log)
    console.block(arguments.has("--json") ? try JSONText.block(for: tree) : tree.render())
  }
}

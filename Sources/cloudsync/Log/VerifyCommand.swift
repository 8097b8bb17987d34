import CloudSyncEventLog

/// Is `cloudsync log verify`.
enum VerifyCommand {
  static var command: Command {
    Command(
      path: ["log", "verify"],
      summary: "Check that a log is whole, and that its events lead to its digests.",
      operands: ["LOG"],
      options: [LogCommand.salvage],
      discussion: "The exit code is 0 if all is well, and 1 if not.",
      run: run
    )
  }

  private static func run(_ arguments: Arguments, _ console: Console) throws {
    let log = try LogCommand.open(arguments, console)
    var isSound = true
    if let mismatch = log.mismatch {
      isSound = false
      console.line(
        console.styled("not sound", .bad)
          + ": folding the events up to \(mismatch.sequence) gives another state than was recorded;"
          + " “cloudsync log rerun” finds where today's code differs"
      )
    }
    if log.lastFoldedSequence < log.lastSequence ?? 0 {
      isSound = false
      console.line(
        console.styled("not whole", .bad)
          + ": there is no state after event \(log.lastFoldedSequence), lines are missing"
      )
    }
    guard isSound, !log.warnings.contains(where: { $0.kind == .salvaged }) else {
      throw ToolError.negative
    }
    let end = log.hasEnded ? "it has ended properly" : "its end is missing"
    console.line("\(console.styled("sound", .good)): \(log.count) events, \(end)")
  }
}

import CloudSyncEventLog

/// Is `cloudsync log verify`.
enum VerifyCommand {
  static var command: Command {
    Command(
      path: ["log", "verify"],
      summary: "Check that a log is complete, and that its events lead to its digests.",
      operands: ["LOG..."],
      options: [
        .init(name: "--unfinished", help: "a log whose end is missing is valid too"),
        LogCommand.salvage, .json,
      ],
      discussion: """
        It checks the bytes of every line, the order of the events, the states that they lead to,
        and that the log says where it ends. The end is missing while recording goes on, after a
        crash, and when lines were cut off: nobody can tell which.
        The exit code is 0 if the log is valid, and 1 if not.
        """,
      run: run
    )
  }

  /// The result for scripts.
  private struct Report: Encodable {
    var log: String
    var isValid: Bool
    var events: Int
    var hasEnded: Bool
    var faults: [String]
    var warnings: [String]
  }

  private static func run(with arguments: Arguments, console: Console) throws {
    let log = try LogCommand.open(from: arguments, console: console)
    let faults = faults(of: log, acceptsNoEnd: arguments.has("--unfinished"))
    let isValid = faults.isEmpty && !log.warnings.contains { $0.kind == .salvaged }
    if arguments.has("--json") {
      let report = Report(
        log: log.name,
        isValid: isValid,
        events: log.count,
        hasEnded: log.hasEnded && !log.isContinued,
        faults: faults,
        warnings: log.warnings.map(\.description)
      )
      console.line(try JSONText.block(for: report))
      if isValid { return }
      throw ToolError.negative
    }
    for fault in faults { console.line("\(console.styled("not valid", as: .bad)): \(fault)") }
    if !isValid { throw ToolError.negative }
    let end = log.hasEnded && !log.isContinued ? "complete" : "the end is missing"
    console.line("\(console.styled("valid", as: .good)): \(log.count) events, \(end)")
  }

  private static func faults(of log: EventLog, acceptsNoEnd: Bool) -> [String] {
    var faults: [String] = []
    if let alteration = log.alteration {
      faults.append(
        "lines up to event \(alteration.sequence) are not those that were written: something was"
          + " changed, added or removed"
      )
    }
    if let mismatch = log.mismatch {
      faults.append(
        "folding the events up to \(mismatch.sequence) gives another state than was recorded;"
          + " “cloudsync log rerun” finds where today's code differs"
      )
    }
    if log.lastFoldedSequence < log.lastSequence ?? 0 {
      faults.append("there is no state after event \(log.lastFoldedSequence): lines are missing")
    }
    guard !acceptsNoEnd else { return faults }
    if log.isContinued {
      faults.append("the log goes on in another file: give that file too")
    } else if !log.hasEnded {
      faults.append(
        "the end is missing: the process ended, recording goes on, or lines were cut off;"
          + " --unfinished accepts that"
      )
    }
    return faults
  }
}

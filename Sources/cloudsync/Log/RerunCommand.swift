import CloudSyncCore
import CloudSyncEventLog
import CloudSyncSimulator
import CloudSyncLogTestGeneration

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Is `cloudsync log rerun`.
enum RerunCommand {
  static var command: Command {
    Command(
      path: ["log", "rerun"],
      summary: "Run a log again with today's code, and compare everything.",
      operands: ["LOG..."],
      options: [
        .init(name: "--from", value: "N", help: "begin with the first input from event N on"),
        .init(name: "--go-on", help: "go on after a divergence, from the log's state"),
        .init(
          name: "--skip",
          value: "N",
          help:
            "leave out the input that became event N, to see what would have happened without it",
          isRepeatable: true
        ),
        .init(name: "--test", value: "FILE", help: "write a Swift test that does what the log did"),
        .init(
          name: "--shorten",
          help: "with --test: cut it down to what still ends in the same error"
        ),
        LogCommand.salvage, .json,
      ],
      discussion: """
        Only what came in from outside is taken from the log: calls, responses, timers, and what the
        app's closures decided. Logs of sessions with middleware of the app's own are re-run in a
        test, with Replay.rerun(log, middleware:). The exit code is 1 if there is a divergence.
        """,
      run: run
    )
  }

  private static func run(with arguments: Arguments, console: Console) throws {
    if arguments.has("--shorten"), !arguments.has("--test") {
      throw ToolError.usage("--shorten shortens the test that --test writes: give both")
    }
    var options = Replay.Options()
    options.first = try arguments.number(of: "--from")
    options.goesOn = arguments.has("--go-on")
    options.skipped = try arguments.allValues(of: "--skip")
      .map { try Arguments.number(from: $0, for: "--skip") }
    let log = try LogCommand.open(from: arguments, console: console)
    if let path = arguments.value(of: "--test") {
      let text = try TestGenerator.swiftTest(
        for: log,
        name: "log",
        isShortened: arguments.has("--shorten")
      )
      try LogFile.write(Data(text.utf8), to: path)
      guard arguments.has("--json") else { return console.line("wrote \(path)") }
      return console.line(try JSONText.block(for: TestWritten(path: path, events: log.count)))
    }
    // The logs of simulations have a middleware of the devices'.
    let result = try Replay.rerun(log, middleware: NotesDevice.middleware, options: options) {
      console.progress("run \($0) events")
    }
    console.endProgress()
    if arguments.has("--json") { return try printJSON(result, console: console) }
    for divergence in result.divergences {
      console.line(console.styled("\(divergence)", as: .bad))
    }
    let counts = "\(result.eventCount) events of \(result.inputCount) inputs"
    if result.isWhatIf {
      console.line("ran \(counts), with some left out; at the end:")
      return console.line(result.state.explain(at: log.header.time).description)
    }
    guard result.divergences.isEmpty else { throw ToolError.negative }
    console.line("\(console.styled("faithful", as: .good)): \(counts) run as recorded")
  }

  private struct TestWritten: Encodable {
    var path: String
    var events: Int
  }

  /// What ``Replay/Result`` tells, for scripts.
  private struct Report: Encodable {
    struct Item: Encodable {
      var kind: String
      var event: UInt64
      var line: Int
      var recorded: String
      var rerun: String
      var state: StateDifference.Change?
    }

    var isFaithful: Bool
    var isWhatIf: Bool
    var events: Int
    var inputs: Int
    var divergences: [Item]
  }

  private static func printJSON(_ result: Replay.Result, console: Console) throws {
    let report = Report(
      isFaithful: result.isFaithful,
      isWhatIf: result.isWhatIf,
      events: result.eventCount,
      inputs: result.inputCount,
      divergences: result.divergences.map {
        .init(
          kind: $0.kind.rawValue,
          event: $0.sequence,
          line: $0.line,
          recorded: $0.recorded,
          rerun: $0.rerun,
          state: $0.state
        )
      }
    )
    console.line(try JSONText.block(for: report))
    if !result.divergences.isEmpty { throw ToolError.negative }
  }
}

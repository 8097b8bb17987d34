import CloudSyncCore
import CloudSyncEventLog

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Is `cloudsync log show`.
enum ShowCommand {
  static var command: Command {
    Command(
      path: ["log", "show"],
      summary: "Show events, one a line, or the history of a record or an operation.",
      operands: ["LOG"],
      options: LogFilter.Option.allCases.map { option in
        let isRepeatable = [.kind, .origin, .code].contains(option)
        return .init(
          name: option.rawValue,
          value: option.valueName,
          help: option.help,
          isRepeatable: isRepeatable
        )
      } + [
        .init(
          name: "--history",
          help: "with --record or --operation: what happened to it, in words"
        ),
        .init(name: "--follow", help: "wait for more, until interrupted"),
        LogCommand.salvage, .json,
      ],
      discussion: """
        examples:
          cloudsync log show session.jsonl --kind retry,split
          cloudsync log show session.jsonl --record note-17 --history
          cloudsync log show session.jsonl --code networkFailure --from +5s --json
        """,
      run: run
    )
  }

  private static func run(with arguments: Arguments, console: Console) throws {
    if arguments.has("--history") { return try showHistory(with: arguments, console: console) }
    var reader = try LogReader(
      path: arguments.operands[0],
      salvaging: arguments.has("--salvage")
    )
    let start = reader.header.time
    var matcher = LogMatcher(try filter(from: arguments, start: start), reading: reader)
    var last = reader.header.state.eventCount
    while let step = try reader.next() {
      last = step.sequence
      if let step = matcher.match(step) {
        try show(step, since: start, with: arguments, console: console)
      }
    }
    for warning in reader.warnings where warning.kind != .noEnd {
      console.note("warning: \(arguments.operands[0]), \(warning)")
    }
    if arguments.has("--follow") {
      try follow(after: last, matcher: &matcher, with: arguments, console: console)
    }
  }

  private static func filter(from arguments: Arguments, start: Timestamp) throws -> LogFilter {
    var filter = LogFilter()
    for option in LogFilter.Option.allCases {
      for value in arguments.allValues(of: option.rawValue) {
        do throws(LogError) {
          try filter.set(option, to: value, start: start)
        } catch {
          throw ToolError.usage(error.description)
        }
      }
    }
    return filter
  }

  private static func show(
    _ step: LogStep,
    since start: Timestamp,
    with arguments: Arguments,
    console: Console
  ) throws {
    let text = StepText(step, start: start)
    if arguments.has("--json") { return console.line(try JSONText.line(for: text)) }
    console.line(console.styled(text.line, as: style(of: step)))
  }

  /// Errors and waits are to be seen at a glance.
  private static func style(of step: LogStep) -> Console.Style {
    if step.halt != nil { return .bad }
    return switch step.record.event {
    case .halt, .failFetch, .workFailure, .workDropped: .bad
    case .retry, .split, .startOver, .retryWork, .gateClosed: .warning
    case .settleItems(_, let settlement) where settlement.error != nil: .warning
    case .delivered, .noop: .faint
    default: .plain
    }
  }

  private static func showHistory(with arguments: Arguments, console: Console) throws {
    guard !arguments.has("--follow") else {
      throw ToolError.usage("--history is told from the beginning to the end: leave out --follow")
    }
    let log = try LogCommand.open(from: arguments, console: console)
    if let name = arguments.value(of: "--record") {
      let history = try RecordHistory(of: name, in: log)
      return console.block(
        arguments.has("--json") ? try JSONText.block(for: history) : history.render()
      )
    }
    guard arguments.has("--operation") else {
      throw ToolError.usage("--history needs --record NAME or --operation ID")
    }
    let filter = try filter(from: arguments, start: log.header.time)
    guard let selection = filter.operation else { return }
    let id = OperationID(epoch: selection.epoch ?? log.header.state.epoch, number: selection.number)
    let history = try OperationHistory(of: id, in: log)
    console.block(arguments.has("--json") ? try JSONText.block(for: history) : history.render())
  }

  /// Shows what is appended to the file, and to the file that takes its place, as it comes.
  private static func follow(
    after last: UInt64,
    matcher: inout LogMatcher,
    with arguments: Arguments,
    console: Console
  ) throws {
    var follower = LogFollower(path: arguments.operands[0], after: last)
    while true {
      for step in try follower.newSteps() {
        guard let step = matcher.match(step) else { continue }
        try show(step, since: follower.start ?? step.record.time, with: arguments, console: console)
      }
      usleep(200_000)
    }
  }
}

extension LogFilter.Option {
  /// What the value is called in the help.
  fileprivate var valueName: String {
    switch self {
    case .kind, .origin, .record: "NAME"
    case .operation: "ID"
    case .from, .to: "TIME"
    case .events: "N-M"
    case .code: "CODE"
    }
  }
}

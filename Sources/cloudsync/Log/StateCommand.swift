import CloudSyncCore
import CloudSyncEventLog

/// Is `cloudsync log state`.
enum StateCommand {
  static var command: Command {
    Command(
      path: ["log", "state"],
      summary: "Show the state after an event, or what differs from the state after another.",
      operands: ["LOG..."],
      options: [
        .init(name: "--at", value: "N", help: "the state after event N; the last one by default"),
        .init(name: "--diff", value: "M", help: "what differs in the state after event M"),
        .init(name: "--full", help: "everything in the state, as JSON"),
        LogCommand.salvage, .json,
      ],
      run: run
    )
  }

  private static func run(with arguments: Arguments, console: Console) throws {
    let log = try LogCommand.open(from: arguments, console: console)
    let sequence = try arguments.number(of: "--at") ?? log.lastFoldedSequence
    let state = try log.state(at: sequence)
    if let other = try arguments.number(of: "--diff") {
      let difference = StateDifference(
        state,
        try log.state(at: other),
        isRedacted: !log.header.isRestorable
      )
      return console.block(
        arguments.has("--json") ? try JSONText.block(for: difference) : difference.render()
      )
    }
    if arguments.has("--full") { return console.line(try JSONText.block(for: state)) }
    let time =
      sequence > log.header.state.eventCount ? try log.step(sequence).record.time : log.header.time
    let overview = StateOverview(state, at: time)
    console.block(arguments.has("--json") ? try JSONText.block(for: overview) : overview.text)
  }
}

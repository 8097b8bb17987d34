import CloudSyncCore
import CloudSyncEventLog

/// Is `cloudsync log summary`.
enum SummaryCommand {
  static var command: Command {
    Command(
      path: ["log", "summary"],
      summary: "Show what a log has: its length, how often what happened, and what took long.",
      operands: ["LOG..."],
      options: [LogCommand.salvage, .json],
      run: run
    )
  }

  /// What the header tells, and how the log ends.
  private struct Summary: Encodable {
    var log: String
    var formatVersion: Int
    var middleware: [String]
    var redaction: String
    var isRestorable: Bool
    var part: Int
    var hasEnded: Bool
    var warnings: [String]
    var firstEvent: UInt64?
    var lastEvent: UInt64?
    var explanation: String
    var statistics: LogStatistics
  }

  private static func run(with arguments: Arguments, console: Console) throws {
    let log = try LogCommand.open(from: arguments, console: console)
    let statistics = try LogStatistics(of: log) { console.progress("counted \($0) events") }
    console.endProgress()
    let last = try log.state(at: log.lastFoldedSequence)
    let end = try log.lastSequence.map { try log.step($0).record.time } ?? log.header.time
    let summary = Summary(
      log: log.name,
      formatVersion: log.header.formatVersion,
      middleware: log.middleware(before: .max),
      redaction: "\(log.header.redaction)",
      isRestorable: log.header.isRestorable,
      part: log.header.part,
      hasEnded: log.hasEnded,
      warnings: log.warnings.map(\.description),
      firstEvent: log.firstSequence,
      lastEvent: log.lastSequence,
      explanation: last.explain(at: end).description,
      statistics: statistics
    )
    if arguments.has("--json") { return console.line(try JSONText.block(for: summary)) }
    print(summary, of: log, console: console)
  }

  private static func print(_ summary: Summary, of log: EventLog, console: Console) {
    console.line(console.styled(summary.log, as: .heading))
    let zone = log.header.state.zoneID
    console.line("zone:        \(zone.name)")
    console.line("recorded:    \(TimeText.date(log.header.time)), part \(summary.part)")
    console.line("middleware:  \(summary.middleware.joined(separator: ", "))")
    let hidden =
      summary.isRestorable ? "nothing is hidden" : "values are hidden (\(summary.redaction))"
    console.line("values:      \(hidden)")
    let end =
      log.isContinued
      ? "it goes on in another file"
      : summary.hasEnded ? "complete" : "its end is missing: the process ended, or goes on"
    console.line("events:      \(log.count); \(end)")
    console.line("at the end:  \(summary.explanation)")
    console.line()
    console.block(summary.statistics.render())
  }
}

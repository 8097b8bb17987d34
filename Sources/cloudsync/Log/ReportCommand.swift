import CloudSyncEventLog

/// Is `cloudsync log report`.
enum ReportCommand {
  static var command: Command {
    Command(
      path: ["log", "report"],
      summary: "Write a page for the browser that steps through a log.",
      operands: ["LOG..."],
      options: [
        .init(
          name: "--output",
          alias: "-o",
          value: "FILE",
          help: "where to write it; LOG.html by default"
        ),
        .init(name: "--title", value: "TEXT", help: "its title; the log's name by default"),
        LogCommand.salvage, .json,
      ],
      discussion: """
        The page is one file and needs no network. A log that was recorded into several files is shown
        as one if all of them are given, in any order.
        """,
      run: run
    )
  }

  private static func run(with arguments: Arguments, console: Console) throws {
    let log = try LogCommand.open(from: arguments, console: console)
    let path = arguments.value(of: "--output") ?? "\(log.name).html"
    try SamePath.checkReplaceable(path, besides: arguments.operands)
    try LogReport.write(log, toFile: path, title: arguments.value(of: "--title")) {
      console.progress("wrote \($0) events")
    }
    console.endProgress()
    if arguments.has("--json") {
      return console.line(try JSONText.block(for: ReportWritten(path: path, events: log.count)))
    }
    console.line("wrote \(path)")
  }

  private struct ReportWritten: Encodable {
    var path: String
    var events: Int
  }
}

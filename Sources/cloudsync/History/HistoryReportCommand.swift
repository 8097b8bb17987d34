import CloudSyncChangesets
import CloudSyncCore
import CloudSyncSQLite

/// Is `cloudsync history report`.
enum HistoryReportCommand {
  static var command: Command {
    HistoryCommand.command(
      name: "report",
      "Write a page for the browser: the graph, commits, changed rows, and who wrote a row.",
      options: [
        .init(
          name: "--output",
          alias: "-o",
          value: "FILE",
          help: "where to write it; DATABASE.html by default"
        ),
        .init(name: "--title", value: "TEXT", help: "its title; the database's name by default"),
        .init(
          name: "--count",
          value: "NUMBER",
          help: "how many commits at most, the newest first; 2000 by default"
        ),
      ],
      discussion: """
        The page is one file and needs no network. It shows values of rows: pass it on only to those who may see
        them. Of each commit it has 200 rows at most.
        """,
      run: run
    )
  }

  private static func run(target: HistoryTarget) throws {
    let arguments = target.arguments
    let path = arguments.value(of: "--output") ?? "\(target.path).html"
    try SamePath.checkReplaceable(path, besides: [target.path])
    // Folders may tell who the user is.
    let name = target.path.split(separator: "/").last.map { String($0) } ?? target.path
    var report = HistoryReport(
      repository: try target.repository(access: .readOnly),
      title: arguments.value(of: "--title") ?? name
    )
    if let text = arguments.value(of: "--count") {
      let count = try Arguments.number(from: text, for: "--count")
      guard count >= 1, count <= 1_000_000 else {
        throw ToolError.usage("--count is from 1 to 1000000")
      }
      report.mostCommits = Int(count)
    }
    let count = try report.write(to: path)
    if target.isJSON {
      return try target.show(value: ReportWritten(path: path, commits: count))
    }
    target.console.line("wrote \(path): \(Phrase.count(count, "commit"))")
  }

  private struct ReportWritten: Encodable {
    var path: String
    var commits: Int
  }
}

import CloudSyncCore
import CloudSyncEventLog

/// What came of a story.
struct DemoResult {
  private let story: DemoStory
  private let folder: DemoFolder
  private let isVerbose: Bool

  init(_ story: DemoStory, in folder: DemoFolder, isVerbose: Bool) {
    self.isVerbose = isVerbose
    self.story = story
    self.folder = folder
  }

  /// Shows it: the notes side by side, what it took, the logs, a re-run of each, and the reports.
  func show(console: Console) throws {
    let board = try story.board()
    console.line()
    for line in board.lines(console: console) { console.line(line) }
    console.line()
    let isWhole = DemoRows.tables.allSatisfy {
      board.columns[0].rows.count(of: $0) == DemoStory.rowsInTheEnd[$0]
    }
    guard board.isEqual, isWhole else {
      let what = board.isEqual ? "rows are lost" : "they differ"
      console.note("error: \(what) after all; the files are in \(folder.path)")
      throw ToolError.negative
    }
    let counts = DemoRows.tables.map { table in
      Phrase.count(board.columns[0].rows.count(of: table), "row") + " of \(table)"
    }
    console.line(
      console.styled("All three are equal", as: .good) + ": \(counts.joined(separator: ", "))."
    )
    for device in story.devices { try show(device, console: console) }
    console.line(
      "The logs are beside it: cloudsync log summary \(folder.file(named: "phone.jsonl"))"
    )
    console.line("Open the report in a browser: \(folder.file(named: "phone.html"))")
  }

  /// Shows what a device did: its logs are run again, and each gets a report.
  private func show(_ device: DemoDevice, console: Console) throws {
    func sum(of counts: [LogStatistics.Count]) -> Int { counts.reduce(0) { $0 + $1.count } }
    var (requests, retries, conflicts, events) = (0, 0, 0, 0)
    for recording in device.recordings {
      try recording.recorder.flush()
      let log = try EventLog(path: recording.path)
      let statistics = try LogStatistics(of: log)
      let report = String(recording.path.dropLast("jsonl".count)) + "html"
      try LogReport.write(log, toFile: report, title: "The \(device.name)")
      guard try Replay.rerun(log).isFaithful else {
        console.note("error: replayed, \(recording.path) differs: see “cloudsync log rerun”")
        throw ToolError.negative
      }
      requests += sum(of: statistics.requests)
      retries += sum(of: statistics.retries)
      conflicts += statistics.conflicts
      events += log.count
      if isVerbose { console.line("  \(recording.path): \(log.count) events; \(report)") }
    }
    console.line(
      "\(console.styled(device.name, as: .name)): \(Phrase.count(requests, "request")), "
        + "\(Phrase.count(retries, "retry", plural: "retries")), "
        + "\(Phrase.count(conflicts, "conflict")); replayed from its log: the same"
        + " \(Phrase.count(events, "event"))"
    )
  }
}

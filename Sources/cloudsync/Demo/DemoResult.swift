import CloudSyncCore
import CloudSyncEventLog

/// What came of a story.
struct DemoResult {
  private let story: DemoStory
  private let folder: DemoFolder

  init(_ story: DemoStory, in folder: DemoFolder) {
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
    for table in DemoRows.tables {
      let count = board.columns[0].rows.count(of: table)
      console.line("\(table): \(Phrase.count(count, "row")), the same in each column")
    }
    console.line(console.styled("All three are equal.", as: .good))
    for device in story.devices {
      for recording in device.recordings { try show(recording, of: device, console: console) }
    }
    console.line()
    console.line("The files are in \(folder.path); look into a log with")
    console.line("  cloudsync log show \(folder.file(named: "phone.jsonl"))")
  }

  private func show(
    _ recording: DemoDevice.Recording,
    of device: DemoDevice,
    console: Console
  ) throws {
    try recording.recorder.flush()
    let log = try EventLog(path: recording.path)
    let statistics = try LogStatistics(of: log)
    let run = try Replay.rerun(log)
    let report = String(recording.path.dropLast("jsonl".count)) + "html"
    try LogReport.write(log, toFile: report, title: "The \(device.name)")
    func sum(of counts: [LogStatistics.Count]) -> Int { counts.reduce(0) { $0 + $1.count } }
    console.line()
    console.line(
      "\(console.styled(device.name, as: .name)): "
        + "\(Phrase.count(sum(of: statistics.requests), "request")), "
        + "retries: \(sum(of: statistics.retries)), "
        + "\(Phrase.count(statistics.conflicts, "conflict")), "
        + "\(Phrase.count(statistics.lostAnswers, "lost response"))"
    )
    console.line("  event log  \(recording.path), \(log.count) events")
    guard run.isFaithful else {
      console.note("error: run again, \(recording.path) goes another way: see cloudsync log rerun")
      throw ToolError.negative
    }
    console.line("  run again  the same \(log.count) events, states and effects")
    console.line("  report     \(report)")
  }
}

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
  func show(_ console: Console) throws {
    let board = try story.board()
    console.line()
    for line in board.lines(console) { console.line(line) }
    console.line()
    guard board.isEqual else {
      console.note("error: they differ after all; the files are in \(folder.path)")
      throw ToolError.negative
    }
    console.line(console.styled("All three are equal.", .good))
    for device in story.devices { try show(device, console) }
    console.line()
    console.line("The files are in \(folder.path); look into a log with")
    console.line("  cloudsync log show \(story.devices[1].log)")
  }

  private func show(_ device: DemoDevice, _ console: Console) throws {
    try device.flushRecording()
    let log = try EventLog(path: device.log)
    let statistics = try LogStatistics(of: log)
    let run = try Replay.rerun(log)
    let report = folder.file("\(device.name).html")
    try LogReport.write(log, toFile: report, title: "The \(device.name)")
    func sum(_ counts: [LogStatistics.Count]) -> Int { counts.reduce(0) { $0 + $1.count } }
    console.line()
    console.line(
      "\(console.styled(device.name, .name)): "
        + "\(Words.count(sum(statistics.requests), "request")), "
        + "retries: \(sum(statistics.retries)), "
        + "\(Words.count(statistics.conflicts, "conflict")), "
        + "\(Words.count(statistics.lostAnswers, "lost answer"))"
    )
    console.line("  event log  \(device.log), \(log.count) events")
    guard run.isFaithful else {
      console.note("error: run again, \(device.log) goes another way: see cloudsync log rerun")
      throw ToolError.negative
    }
    console.line("  run again  the same \(log.count) events, states and effects")
    console.line("  report     \(report)")
  }
}

import CloudSyncCore
import CloudSyncEventLog

/// What came of a story: the rows of all three, the devices' logs and reports, and a page about all of it.
struct DemoResult {
  private let board: DemoBoard
  private let chapters: [DemoChapter]
  private let tallies: [DemoTally]
  private let folder: DemoFolder
  private let page: String
  private let seed: UInt64

  init(_ story: DemoStory, in folder: DemoFolder) throws {
    self.folder = folder
    board = try story.board()
    chapters = story.chapters
    tallies = try story.devices.map { try DemoTally($0.name, of: $0.listener) }
    seed = story.seed
    page = folder.file(named: "report.html")
    try DemoPage(chapters: chapters, tallies: tallies).write(toFile: page)
  }

  private func count(of table: String) -> Int { board.columns[0].rows.count(of: table) }

  /// Whether no row is missing.
  private var isWhole: Bool {
    DemoRows.tables.allSatisfy { count(of: $0) == DemoStory.rowsInTheEnd[$0] }
  }

  /// Throws if the story has not ended as it must, and says how.
  func check(console: Console) throws {
    if !board.isEqual || !isWhole {
      let what = board.isEqual ? "rows are lost" : "they differ"
      console.note("error: \(what) after all; the files are in \(folder.path)")
      throw ToolError.negative
    }
    if let path = tallies.compactMap(\.unfaithfulLog).first {
      console.note("error: replayed, \(path) differs: see “cloudsync log rerun”")
      throw ToolError.negative
    }
  }

  // MARK: Words

  /// Shows the notes side by side, what it took, and where the logs and the page are.
  func show(isVerbose: Bool, console: Console) {
    console.line()
    for line in board.lines(console: console) { console.line(line) }
    guard board.isEqual, isWhole else { return }
    console.line()
    let counts = DemoRows.tables.map { "\(Phrase.count(count(of: $0), "row")) of \($0)" }
    console.line(
      console.styled("All three are equal", as: .good) + ": \(counts.joined(separator: ", "))."
    )
    for tally in tallies { show(tally, isVerbose: isVerbose, console: console) }
    console.line("See a log with “cloudsync log summary \(folder.file(named: "phone.jsonl"))”")
    console.line("Open the report in a browser: \(page)")
  }

  private func show(_ tally: DemoTally, isVerbose: Bool, console: Console) {
    if isVerbose {
      for part in tally.sessions {
        console.line("  \(part.log): \(Phrase.count(part.events, "event")); \(part.report)")
      }
    }
    console.line(
      "\(console.styled(tally.device, as: .name)): \(Phrase.count(tally.requests, "request")), "
        + "\(Phrase.count(tally.retries, "retry", plural: "retries")), "
        + "\(Phrase.count(tally.conflicts, "conflict")); replayed: the same"
        + " \(Phrase.count(tally.events, "event"))"
    )
  }

  // MARK: For scripts

  /// The result for scripts.
  struct Report: Encodable {
    struct Line: Encodable {
      var seconds: Double
      var who: String
      var words: String
    }
    struct Chapter: Encodable {
      var title: String
      var lines: [Line]
    }

    var seed: UInt64
    var folder: String
    var isEqual: Bool
    /// How many rows all three have, by table.
    var rows: [String: Int]
    var devices: [DemoTally]
    var story: [Chapter]
    /// The page about all of it.
    var report: String
  }

  var report: Report {
    Report(
      seed: seed,
      folder: folder.path,
      isEqual: board.isEqual && isWhole,
      rows: Dictionary(uniqueKeysWithValues: DemoRows.tables.map { ($0, count(of: $0)) }),
      devices: tallies,
      story: chapters.map { chapter in
        let lines = chapter.lines.map {
          Report.Line(seconds: $0.time.inSeconds, who: $0.who, words: $0.words)
        }
        return .init(title: chapter.title, lines: lines)
      },
      report: page
    )
  }
}

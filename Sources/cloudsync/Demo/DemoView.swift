#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Shows a story as it goes on: what happens, a line each, and on a terminal below that what
/// everybody has now.
struct DemoView {
  private let feed: DemoFeed
  private let isVerbose: Bool
  private let console: Console
  private var lastBoard: DemoBoard?
  /// What was shown so far.
  private(set) var chapters: [DemoChapter] = []
  /// How many lines the board has on the screen.
  private var height = 0

  init(_ feed: DemoFeed, isVerbose: Bool, console: Console) {
    self.feed = feed
    self.isVerbose = isVerbose
    self.console = console
  }

  mutating func begin(_ chapter: String) {
    wipe()
    if isVerbose { console.line() }
    console.line(console.styled(chapter, as: .heading))
    chapters.append(DemoChapter(title: chapter))
  }

  /// Shows what has happened, and what everybody has.
  mutating func refresh(with board: DemoBoard) {
    let lines = feed.take().filter { isVerbose || !$0.isDetail }
    if !lines.isEmpty { wipe() }
    for line in lines { console.line(line.styled(for: console)) }
    if !chapters.isEmpty { chapters[chapters.count - 1].lines += lines }
    guard console.isLive else { return }
    if lines.isEmpty, board == lastBoard { return pause() }
    wipe()
    let shown = [""] + board.lines(console: console) + board.feet(console: console)
    for line in shown { console.line(line) }
    height = shown.count
    lastBoard = board
    pause()
  }

  /// Takes the board from the screen.
  mutating func wipe() {
    guard height > 0 else { return }
    console.eraseLines(count: height)
    height = 0
    lastBoard = nil
  }

  /// Gives the eye time; nothing waits for it otherwise.
  private func pause() { usleep(30_000) }
}

extension DemoFeed.Line {
  /// The line as a console shows it.
  func styled(for console: Console) -> String {
    let padding = String(repeating: " ", count: max(1, 8 - clock.count))
    let name = who + String(repeating: " ", count: max(1, 8 - who.count))
    return console.styled(padding + clock, as: .faint) + "  "
      + console.styled(name, as: .name) + words
  }
}

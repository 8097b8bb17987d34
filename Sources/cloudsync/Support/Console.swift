#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Where a command writes: its results, what it says besides, and how far it has come.
final class Console {
  /// What a piece of text means; on a terminal it is coloured by it.
  enum Style: String {
    case plain = ""
    case heading = "1"
    case faint = "2"
    case good = "32"
    case warning = "33"
    case bad = "31"
    case name = "36"
  }

  private let output: (String) -> Void
  private let errors: (String) -> Void
  private let hasColours: Bool
  /// Whether what was written can be drawn over: the result goes to a terminal.
  let isLive: Bool
  private let showsProgress: Bool
  /// How the tool was started, which hints such as “cloudsync status” are changed to.
  private let program: String
  private var progressWidth = 0

  /// Creates a console: tests give functions, ``standard`` gives the process's own streams.
  init(
    hasColours: Bool = false,
    isLive: Bool = false,
    showsProgress: Bool = false,
    program: String = Invocation.plain,
    output: @escaping (String) -> Void,
    errors: @escaping (String) -> Void
  ) {
    self.hasColours = hasColours
    self.isLive = isLive
    self.showsProgress = showsProgress
    self.program = program
    self.output = output
    self.errors = errors
  }

  /// Standard output and standard error; colours only on a terminal, and not if `NO_COLOR` is set.
  static var standard: Console {
    let noColour = getenv("NO_COLOR").map { $0[0] != 0 } ?? false
    return Console(
      hasColours: isatty(STDOUT_FILENO) == 1 && !noColour,
      isLive: isatty(STDOUT_FILENO) == 1,
      showsProgress: isatty(STDERR_FILENO) == 1,
      program: Invocation.ofProcess,
      output: { write($0, to: STDOUT_FILENO) },
      errors: { write($0, to: STDERR_FILENO) }
    )
  }

  private static func write(_ text: String, to descriptor: Int32) {
    var text = text
    text.withUTF8 { bytes in
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { buffer in
          #if canImport(Glibc)
          Glibc.write(descriptor, buffer.baseAddress, buffer.count)
          #elseif canImport(Musl)
          Musl.write(descriptor, buffer.baseAddress, buffer.count)
          #else
          Darwin.write(descriptor, buffer.baseAddress, buffer.count)
          #endif
        }
        if count < 0, errno == EINTR { continue }
        // Nobody reads any more: there is nobody to tell.
        guard count > 0 else { exit(1) }
        rest = rest.dropFirst(count)
      }
    }
  }

  /// The same without the result: for what is said on the way to a result for scripts.
  var quiet: Console {
    Console(showsProgress: showsProgress, program: program, output: { _ in }, errors: errors)
  }

  /// Writes a line of the result.
  func line(_ text: String = "") { output(pasteable(text) + "\n") }

  /// Writes several lines of the result at once, as they are.
  func block(_ text: String) { output(text.hasSuffix("\n") ? text : text + "\n") }

  /// Writes a line beside the result, with the tool's name unless it is plain.
  func note(_ text: String, isPlain: Bool = false) {
    endProgress()
    errors("\(isPlain ? "" : "cloudsync: ")\(pasteable(text))\n")
  }

  /// The text with commands as this reader can run them.
  private func pasteable(_ text: String) -> String {
    program == Invocation.plain
      ? text : text.replacing("“\(Invocation.plain) ", with: "“\(program) ")
  }

  /// How many characters a line of the terminal has; plenty where there is none.
  var width: Int {
    var size = winsize()
    guard isLive, ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
      return 120
    }
    return Int(size.ws_col)
  }

  /// Takes the last lines of the result from the screen.
  func eraseLines(count: Int) { if isLive { output("\u{1b}[\(count)A\u{1b}[J") } }

  /// The text as it is to be written for what it means.
  func styled(_ text: String, as style: Style) -> String {
    guard hasColours, style != .plain else { return text }
    return "\u{1b}[\(style.rawValue)m\(text)\u{1b}[0m"
  }

  /// Shows how far a long work has come, on a terminal.
  func progress(_ text: String) {
    guard showsProgress else { return }
    let blank = String(repeating: " ", count: max(0, progressWidth - text.count))
    errors("\r\(text)\(blank)")
    progressWidth = text.count
  }

  /// Wipes what ``progress(_:)`` has shown.
  func endProgress() {
    guard showsProgress, progressWidth > 0 else { return }
    errors("\r\(String(repeating: " ", count: progressWidth))\r")
    progressWidth = 0
  }
}

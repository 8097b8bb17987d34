#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Writes a log as one page of HTML that needs nothing else: no network, no other file.
///
/// The page has a timeline, a slider through all events, the state after each and what changed, what
/// caused an event and what it led to, and the history of every record. It shows whatever the log has:
/// make it of a redacted log if it is to be passed on. Nothing that is in a log can become markup or
/// script of the page. The same log gives the same bytes.
///
/// ```swift
/// try LogReport.write(EventLog(path: "session.jsonl"), toFile: "report.html")
/// ```
public enum LogReport {
  /// The page as a whole.
  ///
  /// - Parameters:
  ///   - log: The log.
  ///   - title: The heading of the page; by default the log's name without its folders.
  ///   - progress: Is told now and then how many events have been written.
  /// - Returns: The bytes of the page.
  /// - Throws: That the log cannot be read, or what writing the page came to.
  public static func html(
    of log: EventLog,
    title: String? = nil,
    progress: ((Int) -> Void)? = nil
  ) throws(LogError) -> Data {
    var page = Data()
    try write(log, title: title, progress: progress) { (piece) throws(LogError) in
      page.append(piece)
    }
    return page
  }

  /// Writes the page piece by piece, in memory that does not grow with the log.
  ///
  /// What grows all the same, little, is a table of the names of all records.
  ///
  /// - Parameters:
  ///   - log: The log.
  ///   - title: The heading of the page; by default the log's name without its folders.
  ///   - progress: Is told now and then how many events have been written.
  ///   - sink: Takes the pieces, in their order; what it throws ends the writing.
  /// - Throws: That the log cannot be read, or what the sink throws.
  public static func write(
    _ log: EventLog,
    title: String? = nil,
    progress: ((Int) -> Void)? = nil,
    to sink: (Data) throws(LogError) -> Void
  ) throws(LogError) {
    // Folders may tell who the user is.
    let title = title ?? log.name.split(separator: "/").last.map(String.init) ?? log.name
    try sink(Data(ReportPage.beginning(title: title).utf8))
    var composer = ReportComposer(log, title: title)
    try composer.compose(progress: progress, to: sink)
    try sink(Data(ReportPage.end.utf8))
  }

  /// Writes the page as a file; an older file is replaced as a whole.
  ///
  /// - Parameters:
  ///   - log: The log.
  ///   - path: The file.
  ///   - title: The heading of the page; by default the log's name without its folders.
  ///   - progress: Is told now and then how many events have been written.
  /// - Throws: That the log cannot be read, or what writing the page came to.
  public static func write(
    _ log: EventLog,
    toFile path: String,
    title: String? = nil,
    progress: ((Int) -> Void)? = nil
  ) throws(LogError) {
    let file = try ReportFile(path: path)
    do throws(LogError) {
      try write(log, title: title, progress: progress) { (piece) throws(LogError) in
        try file.append(piece)
      }
      try file.finish()
    } catch {
      file.discard()
      throw error
    }
  }
}

/// A log that cannot be read, or something that cannot be told from it.
public struct LogError: Error, Sendable, Hashable {
  /// What kind of failure it is.
  public struct Code: RawRepresentable, Sendable, Hashable {
    /// The name.
    public let rawValue: String

    /// Creates a code from its name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The file cannot be opened, read or written.
    public static let file = Code(rawValue: "file")
    /// There is nothing in it.
    public static let empty = Code(rawValue: "empty")
    /// A line is not what the format says.
    public static let malformedLine = Code(rawValue: "malformedLine")
    /// A line is longer than any line may be.
    public static let lineTooLong = Code(rawValue: "lineTooLong")
    /// The log was written by another version of the format or of the reduction.
    public static let version = Code(rawValue: "version")
    /// The first line is not a header.
    public static let missingHeader = Code(rawValue: "missingHeader")
    /// Lines are missing, doubled or out of order.
    public static let order = Code(rawValue: "order")
    /// Files are no parts of one log, or parts between them are missing.
    public static let parts = Code(rawValue: "parts")
    /// There is no such event in the log.
    public static let noSuchEvent = Code(rawValue: "noSuchEvent")
    /// The state is not known there, because lines before it are damaged.
    public static let noState = Code(rawValue: "noState")
    /// The log was recorded with middleware that are not at hand.
    public static let unknownMiddleware = Code(rawValue: "unknownMiddleware")
  }

  /// What kind of failure it is.
  public var code: Code
  /// The file, or another name of the log.
  public var log: String
  /// The number of the line, from 1; 0 if it is about the whole log.
  public var line: Int
  /// What is wrong, and what to do.
  public var reason: String

  /// Creates an error.
  public init(_ code: Code, log: String, line: Int = 0, _ reason: String) {
    self.code = code
    self.log = log
    self.line = line
    self.reason = reason
  }
}

extension LogError: CustomStringConvertible {
  /// The log, the line and the reason in one line.
  public var description: String {
    line == 0 ? "\(log): \(reason)" : "\(log):\(line): \(reason)"
  }
}

/// Something in a log that a reader should know, and that does not keep it from being read.
public struct LogWarning: Sendable, Hashable, CustomStringConvertible {
  /// What it is about.
  public enum Kind: Sendable, Hashable {
    /// The last line is torn, as a crash leaves it.
    case tornLine
    /// Recording did not end as it should: the process ended, or goes on.
    case noEnd
    /// A line was left out because it is damaged.
    case salvaged
  }

  /// What it is about.
  public var kind: Kind
  /// The number of the line, from 1.
  public var line: Int
  /// What is the matter.
  public var reason: String

  /// The line and the reason.
  public var description: String { "line \(line): \(reason)" }
}

public import CloudSyncCore

/// The first line of a log: what was recorded, and the state with which it begins.
public struct LogHeader: Sendable {
  /// The version of the format that this package writes.
  public static let formatVersion = 3
  /// The version of the reduction: with another one the events of a log mean something else.
  public static let reducerVersion = 2

  /// The version of the format that the log is written in.
  public var formatVersion: Int
  /// The version of the reduction that it was recorded with.
  public var reducerVersion: Int
  /// When recording began.
  public var time: Timestamp
  /// The names of the middleware, in the order in which events pass them.
  public var middleware: [String]
  /// What one request may hold.
  public var limits: RequestLimits
  /// The nonce of the epoch in which recording began.
  public var nonce: UInt64
  /// What has been done to values: from a log that hides any, no session can be restored.
  public var redaction: LogRedaction
  /// The number of the file in a series of rotated ones, from 1.
  public var part: Int
  /// The part that ended where this one begins; nil for the first one.
  public var previous: PreviousPart?
  /// The state before the first event.
  public var state: SyncState

  /// Creates a header.
  public init(
    time: Timestamp,
    middleware: [String],
    redaction: LogRedaction,
    part: Int = 1,
    previous: PreviousPart? = nil,
    state: SyncState
  ) {
    formatVersion = Self.formatVersion
    reducerVersion = Self.reducerVersion
    self.time = time
    self.middleware = middleware
    limits = state.limits
    nonce = state.nonce
    self.redaction = redaction
    self.part = part
    self.previous = previous
    self.state = state
  }

  /// The file of a log that another one goes on from.
  public struct PreviousPart: Sendable, Hashable {
    /// What the file was called when the next one was begun; nil if it was not kept.
    public var name: String?
    /// The digest of all its bytes.
    public var digest: UInt64

    /// Names a file.
    public init(name: String?, digest: UInt64) {
      self.name = name
      self.digest = digest
    }
  }

  /// Whether a session can be restored from the log.
  public var isRestorable: Bool { redaction == .none }
}

/// What has been done to the values in a log.
public enum LogRedaction: Int, Sendable, CaseIterable {
  /// Nothing: the log has everything.
  case none
  /// Values are replaced by digests, equal ones by equal digests.
  case digests
  /// Values are gone, and which of them are equal cannot be told.
  case dropped
  /// The app has replaced values as it saw fit.
  case custom

  package static let codedNames: [StaticString] = ["none", "digests", "dropped", "custom"]
}

extension LogRedaction: CodedTag {}

extension LogHeader {
  private static let versionMark = "another version is needed: "

  /// What to say about a version that is not this package's.
  static func versionFailure(of what: String, found: Int, read: Int) -> String {
    "\(versionMark)the \(what) has version \(found), this package reads \(read)"
  }

  /// Whether that was said: the beginning, which nothing of a log's text can be in.
  static func isVersionFailure(reason: String) -> Bool { reason.hasPrefix(versionMark) }
}

extension CodedReader {
  /// Reads the names of a chain of middleware, each of which is in it once.
  mutating func chain(field: StaticString) throws(CodedError) -> [String] {
    let names: [String] = try self.field(field)
    guard Set(names).count == names.count else {
      throw failure("a middleware is twice in the chain")
    }
    return names
  }
}

extension LogHeader: CodedValue {
  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.field("formatVersion", formatVersion)
      $0.field("reducerVersion", reducerVersion)
      $0.field("time", time)
      $0.field("middleware", middleware)
      $0.field("limits", limits)
      $0.field("nonce", nonce)
      $0.field("redaction", redaction)
      $0.field("isRestorable", isRestorable)
      $0.field("part", part)
      $0.field("previous", previous)
      $0.field("state", state)
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    formatVersion = try reader.field("formatVersion")
    guard formatVersion == Self.formatVersion else {
      throw reader.failure(
        Self.versionFailure(of: "format", found: formatVersion, read: Self.formatVersion)
      )
    }
    reducerVersion = try reader.field("reducerVersion")
    guard reducerVersion == Self.reducerVersion else {
      throw reader.failure(
        Self.versionFailure(of: "reduction", found: reducerVersion, read: Self.reducerVersion)
      )
    }
    time = try reader.field("time")
    middleware = try reader.chain(field: "middleware")
    limits = try reader.field("limits")
    nonce = try reader.field("nonce")
    redaction = try reader.field("redaction")
    let isRestorable: Bool = try reader.field("isRestorable")
    guard isRestorable == (redaction == .none) else {
      throw reader.failure("a log that hides values cannot be restored from")
    }
    part = try reader.amount("part")
    previous = try reader.field("previous")
    state = try reader.field("state")
    try reader.endObject()
  }
}

extension LogHeader.PreviousPart: CodedValue {
  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.field("name", name)
      $0.field("digest", digest)
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    name = try reader.field("name")
    digest = try reader.field("digest")
    try reader.endObject()
  }
}

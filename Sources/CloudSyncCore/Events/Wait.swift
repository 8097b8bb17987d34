/// A pause that the session makes before it sends again.
public struct Wait: Sendable {
  /// What the session waits for; each cause grows by itself.
  public enum Cause: Int, Sendable, CaseIterable {
    /// The network is away.
    case network
    /// The service asked for it, or is too busy.
    case service
    /// Something passing went wrong.
    case transient
    /// An answer was lost.
    case lostAnswer
    /// The account is not ready.
    case account
    /// The storage is full.
    case quota
    /// The app could not store a page.
    case storage

    package static let codedNames: [StaticString] = [
      "network", "service", "transient", "lostAnswer", "account", "quota", "storage",
    ]
  }

  /// What the session waits for.
  public var cause: Cause
  /// How long the server asked to wait, in nanoseconds, if it did.
  public var serverNanoseconds: Int64?
  /// How long the session waits, in nanoseconds, once ``RetryMiddleware`` has decided it.
  public var nanoseconds: Int64?

  /// Creates a pause whose length is still open.
  public init(_ cause: Cause, serverNanoseconds: Int64? = nil) {
    self.cause = cause
    self.serverNanoseconds = serverNanoseconds
  }
}

extension Wait.Cause: CodedTag {}

extension Wait: CodedValue {
  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.field("cause", cause)
      $0.field("server", serverNanoseconds)
      $0.field("nanoseconds", nanoseconds)
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    cause = try reader.field("cause")
    serverNanoseconds = try reader.field("server")
    nanoseconds = try reader.field("nanoseconds")
    try reader.endObject()
  }
}

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
    /// A response was lost.
    case lostResponse
    /// The account is not ready.
    case account
    /// The storage is full.
    case quota
    /// The app could not store a page.
    case storage

    package static let codedNames: [StaticString] = [
      "network", "service", "transient", "lostResponse", "account", "quota", "storage",
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

extension Wait: CodedStruct {
  package init<C: FieldCoder<Self>>(fields coder: inout C) throws(C.Failure) {
    cause = try coder.field("cause") { $0.cause }
    serverNanoseconds = try coder.field("server") { $0.serverNanoseconds }
    nanoseconds = try coder.field("nanoseconds") { $0.nanoseconds }
  }
}

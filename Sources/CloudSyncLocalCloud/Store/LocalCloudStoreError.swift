import CloudSyncCore

/// Why a store could not do what it was asked for.
public struct LocalCloudStoreError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kinds of failure; new ones come in minor releases, so switch with a `default`.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The name of the kind.
    public let description: String
    private init(_ name: String) { description = name }

    /// Somebody else is writing; try again.
    public static let busy = Code("busy")
    /// The file is no store of a local cloud.
    public static let foreign = Code("foreign")
    /// The file was written by a version that is not known.
    public static let unknownVersion = Code("unknownVersion")
    /// What is stored cannot be read.
    public static let damaged = Code("damaged")
    /// The disk is full.
    public static let full = Code("full")
    /// The file cannot be opened, read or written.
    public static let cannotAccess = Code("cannotAccess")
    /// A limit of the store's own is reached.
    public static let limitReached = Code("limitReached")
  }

  /// What went wrong.
  public var code: Code
  /// The file, or nothing for a store in memory.
  public var path: String?
  /// What is wrong, and what to do, in words.
  public var message: String

  /// Creates an error.
  public init(_ code: Code, path: String? = nil, _ message: String) {
    self.code = code
    self.path = path
    self.message = message
  }

  /// The file and the message in one line.
  public var description: String { path.map { "\($0): \(message)" } ?? message }

  /// What a request answers because of this error.
  var syncError: SyncError {
    // Another process holds the file: like a zone that others write to, it passes.
    code == .busy ? SyncError(.zoneBusy, description) : SyncError(.internalError, description)
  }
}

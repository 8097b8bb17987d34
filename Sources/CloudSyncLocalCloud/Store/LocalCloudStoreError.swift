package import CloudSyncCore

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
    /// The file may be read and not written.
    public static let readOnly = Code("readOnly")
    /// The connection was lost while a transaction was completed: it may be done or not.
    public static let outcomeUnknown = Code("outcomeUnknown")
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
  ///
  /// Where the store lies, and what its files are called, is nobody's business but its owner's.
  package var syncError: SyncError {
    switch code {
    // Another process holds the file: like a zone that others write to, it passes.
    case .busy: SyncError(.zoneBusy, "others are writing")
    case .full: SyncError(.serviceUnavailable, "the cloud's storage is full")
    case .cannotAccess: SyncError(.serviceUnavailable, "the cloud's storage cannot be reached")
    case .readOnly: SyncError(.serviceUnavailable, "the cloud's storage may only be read")
    case .outcomeUnknown:
      SyncError(.serverResponseLost, "the cloud's storage did not say whether it is done")
    default: SyncError(.internalError, "the cloud's storage failed: \(code)")
    }
  }
}

import CloudSyncSQLiteSchema
package import CloudSyncSQLiteSupport

/// What goes wrong between an engine and its database.
public struct SyncEngineError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What kind of thing went wrong; more may be added.
  public struct Code: RawRepresentable, Sendable, Hashable {
    /// The code's name.
    public let rawValue: String

    /// Creates a code.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The file is no database.
    public static let notADatabase = Self(rawValue: "notADatabase")
    /// The file is damaged.
    public static let damaged = Self(rawValue: "damaged")
    /// The file cannot be opened or written.
    public static let cannotAccess = Self(rawValue: "cannotAccess")
    /// Another connection keeps the database locked.
    public static let busy = Self(rawValue: "busy")
    /// The file cannot be read or written now: the device is locked, or its storage fails.
    ///
    /// A running engine waits and tries again, as it does with ``busy`` and ``full``.
    public static let unavailable = Self(rawValue: "unavailable")
    /// The disk is full.
    public static let full = Self(rawValue: "full")
    /// The engine's own tables were made by a newer version.
    public static let newerVersion = Self(rawValue: "newerVersion")
    /// The schema stands in the way.
    public static let schema = Self(rawValue: "schema")
    /// The host has interrupted the connection's work.
    public static let interrupted = Self(rawValue: "interrupted")
    /// Another call has started, stopped or renewed the engine meanwhile.
    public static let superseded = Self(rawValue: "superseded")
    /// A statement failed.
    public static let statement = Self(rawValue: "statement")
  }

  /// What kind of thing went wrong.
  public let code: Code
  /// The file, where there is one.
  public let path: String?
  /// What is wrong and what to do, in a sentence or two.
  public let reason: String

  /// Creates an error.
  public init(_ code: Code, path: String? = nil, _ reason: String) {
    self.code = code
    self.path = path
    self.reason = reason
  }

  /// The file and the reason in one line.
  public var description: String { path.map { "\($0): \(reason)" } ?? reason }
}

extension SyncEngineError {
  private static func unavailableReason(_ error: SQLiteError) -> String {
    "it cannot be read or written now (\(error.message)); unlock the device, or check its storage"
  }

  /// What an error of SQLite's means for an engine.
  package init(_ error: SQLiteError, path: String? = nil) {
    switch error.kind {
    case _ where error.isOfFolder(at: path):
      self.init(.cannotAccess, path: path, "it is a folder; name the database's file")
    case .busy:
      self.init(.busy, path: path, "another connection is writing to it; try again")
    case .notADatabase:
      self.init(.notADatabase, path: path, "it is no SQLite database; name another file")
    case .damaged:
      self.init(
        .damaged,
        path: path,
        "the database is damaged (\(error.message)); restore a copy of it"
      )
    case .full: self.init(.full, path: path, "the disk is full; make room and try again")
    case .readOnly:
      self.init(.cannotAccess, path: path, "it cannot be written; check its permissions")
    case .unavailable:
      self.init(.unavailable, path: path, Self.unavailableReason(error))
    // A connection that is open has no path here: only a locked device keeps its files from it.
    case .cannotOpen where path == nil:
      self.init(.unavailable, Self.unavailableReason(error))
    case .cannotOpen:
      self.init(
        .cannotAccess,
        path: path,
        "it cannot be opened (\(error.message)); check the file, its folder and their permissions"
      )
    case .interrupted:
      self.init(.interrupted, path: path, "the connection's work was interrupted; try again")
    case .other where error.missingOwnTable != nil:
      self.init(
        .damaged,
        path: path,
        "the table \(error.missingOwnTable ?? "") of the sync engine is missing. After tearDown() or “cloudsync"
          + " detach” make a new engine; otherwise it is not known any more what is in the cloud: restore a copy of the"
          + " file, or remove the rest of these tables with"
          + " SyncMetadata.remove(from:) or “cloudsync detach”, and sync again: where rows differ from the cloud, its"
          + " values win then"
      )
    case .constraint, .foreignKey, .other:
      self.init(.statement, path: path, error.description)
    }
  }
}

extension SQLiteError {
  /// The table of the engine's own that a statement has not found; nil if that is not what it failed over.
  fileprivate var missingOwnTable: String? {
    let prefix = "no such table: "
    guard message.hasPrefix(prefix) else { return nil }
    let name = String(message.dropFirst(prefix.count)).replacing("main.", with: "")
    return name.hasPrefix("cloudsync_") ? name : nil
  }
}

/// Runs a body and says what its failure means for an engine.
func sqlite<Value>(
  path: String? = nil,
  _ body: () throws(SQLiteError) -> Value
) throws(SyncEngineError) -> Value {
  do throws(SQLiteError) { return try body() } catch { throw SyncEngineError(error, path: path) }
}

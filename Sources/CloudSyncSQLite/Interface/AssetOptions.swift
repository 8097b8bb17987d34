public import CloudSyncCore

/// How large BLOBs and texts travel: in files beside their records.
public struct AssetOptions: Sendable {
  /// A folder of the engine's own for files that are on their way; it is created when it is needed.
  ///
  /// The path that it has in this run of the app: the container of an app moves now and then. One that does not begin at the
  /// root is taken from the present folder.
  public var folder: String
  /// The folder that stored locations are relative to; nil is ``folder``.
  ///
  /// Name the app's container if the handler puts what it downloads elsewhere in it: then a page that
  /// was announced again after a move still finds its files.
  public var base: String?
  /// The size in bytes over which a BLOB becomes an asset, but for one in a column of a primary, unique or foreign key.
  ///
  /// A record has room for a million bytes without its assets.
  public var threshold = 50_000
  /// The size in bytes of UTF-8 over which a text becomes an asset; below 1,000 it counts as 1,000.
  ///
  /// A merge policy is given such a text as an asset, without its characters. Text that holds a NUL, or is no valid UTF-8, is
  /// never an asset, nor is that in a column of a primary, unique or foreign key.
  public var textThreshold = 200_000
  /// The threshold that counts: texts that are ordered by their characters are no assets.
  var countedTextThreshold: Int { max(textThreshold, ValueContent.longestOrderedText) }
  /// Reads the file of an asset that has come, whose location is absolute; nil reads the file there.
  public var read: (@Sendable (Asset) throws -> [UInt8])?
  /// Tells why the file of a stored asset is not to be had, without reading it: ``SyncEngine/verify()`` asks of each; nil
  /// looks at none.
  package var absence: (@Sendable (Asset) -> String?)?

  /// Creates options.
  ///
  /// - Parameters:
  ///   - folder: The folder for files that are on their way.
  ///   - threshold: The size in bytes over which a BLOB becomes an asset.
  public init(folder: String, threshold: Int = 50_000) {
    self.folder = folder
    self.threshold = threshold
  }
}
